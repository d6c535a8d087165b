"""Prints all that a bed could have changed on this machine, as JSON. Runs there, by itself."""

import json
import os
import subprocess
from pathlib import Path

SSHDS = ("sshd: lanelabtester", "sshd-session: lanelabtester")
VOLATILE = ("random", "nf_conntrack_count", "dentry-state", "file-nr", "inode", "ns_last_pid", "stat_refresh")


def said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def sysctls() -> dict[str, str]:
    found = {}
    for path in Path("/proc/sys/net").rglob("*"):
        try:
            if path.is_file() and not any(word in str(path) for word in VOLATILE):
                found[str(path)] = path.read_text()
        except OSError:
            continue
    return found


def processes() -> list[str]:
    """All but this program and those that it was started through, and sshd's own: of a connection whose other end has
    vanished it waits for TCP to give up, with nothing of ours left in it."""
    mine, pid = set(), os.getpid()
    while pid > 1:
        mine.add(str(pid))
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if folder.name not in mine and words and not words.startswith(SSHDS):
            found.append(words)
    return sorted(found)


def mounts() -> list[str]:
    """Others come and go with what else happens on the machine that these tests run on."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return sorted(place for place in places if place.startswith(("/etc", "/run", "/usr", "/proc")))


def main() -> None:
    devices = sorted(path.name for path in Path("/sys/class/net").iterdir())
    spaces = {path.readlink() for path in Path("/proc").glob("[0-9]*/ns/net") if path.exists()}
    print(
        json.dumps(
            {
                "devices": {name: said("ip", "-d", "-o", "link", "show", "dev", name) for name in devices},
                "addresses": said("ip", "-o", "addr"),
                "routes": said("ip", "route", "show", "table", "all"),
                "neighbours": sorted(line for line in said("ip", "neigh").splitlines() if " eth0 " not in line),
                "qdiscs": said("tc", "qdisc", "show"),
                "offloads": {name: said("ethtool", "-k", name) for name in devices},
                "sysctls": sysctls(),
                "processes": processes(),
                "namespaces": len(spaces),
                "files": sorted(
                    str(path) for path in Path("/run").rglob("*") if path.is_file() and path.suffix != ".lock"
                ),
                "mounts": mounts(),
            }
        )
    )


main()
