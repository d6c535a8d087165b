"""What a bed changes in a machine, or might, as JSON. Run in there, as root, by its own Python."""

import json
import os
import subprocess
from pathlib import Path

PROGRAMS = ("chrome", "chromium", "httpd", "apache2", "dnsmasq", "tcpdump", "Xvfb", "lanelab")


def said(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def content(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        return type(error).__name__


def settings() -> dict[str, str]:
    folders = [Path("/proc/sys/net") / part for part in ("ipv4", "ipv6/conf", "core")]
    return {str(file): content(file) for folder in folders for file in folder.rglob("*") if file.is_file()}


def notes() -> list[str]:
    """What lanelab has written down there. What it locks stays, and is empty."""
    files = [file for folder in Path("/run").glob("lanelab*") for file in folder.rglob("*") if file.is_file()]
    return sorted(str(file) for file in files if file.stat().st_size)


def programs() -> list[str]:
    commands = [content(each / "cmdline") for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [line[:100] for line in commands if any(name in line.split("\0")[0] for name in PROGRAMS)]


def main() -> None:
    cards = sorted(each.name for each in Path("/sys/class/net").iterdir())
    state = {
        "user": os.geteuid(),
        "addresses": said("ip", "-br", "address"),
        "routes": said("ip", "route"),
        "queues": said("/usr/sbin/tc", "qdisc", "show"),
        "offloads": {card: said("/usr/sbin/ethtool", "-k", card) for card in cards},
        "settings": settings(),
        "notes": notes(),
        "programs": programs(),
    }
    print(json.dumps(state))


if __name__ == "__main__":
    main()
