"""The first process of a libvirtd of lanelab's own, in namespaces of its own: `libvirt_init.py FOLDER [hide-kvm]`.

What libvirtd reads and writes on a machine (/etc/libvirt, /run/libvirt, /var/lib/libvirt, …) is in there a folder of
the build folder: nothing of this machine is configured, and a libvirtd of its own is not met, nor one of another
checkout. It is process 1 in there, so it has to take in the ends of processes whose parents are gone: libvirt waits
until they are no more.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

PLACES = {
    "etc": "/etc/libvirt",  # all of it: machines, networks, storage pools, packet filters, secrets
    "run": "/run/libvirt",
    "lib": "/var/lib/libvirt",
    "log": "/var/log/libvirt",
    "cache": "/var/cache/libvirt",
}
# By itself it is /run/libvirtd.pid, which only one libvirtd of a machine can hold.
PID_FILE = "/run/libvirt/libvirtd.pid"
SETTINGS = {
    # Reached through a socket that only its user may open. D-Bus and polkit are not asked: there may be none.
    "libvirtd.conf": (
        'listen_tls = 0\nlisten_tcp = 0\nunix_sock_rw_perms = "0700"\nunix_sock_ro_perms = "0700"\n'
        'auth_unix_ro = "none"\nauth_unix_rw = "none"\nlog_outputs = "3:file:/var/log/libvirt/libvirtd.log"\n'
    ),
    # stdio_handler: no virtlogd is needed. Namespaces and cgroups need what a machine without systemd may not have.
    "qemu.conf": 'stdio_handler = "file"\nnamespaces = []\ncgroup_controllers = []\nsecurity_driver = "none"\n',
}
NO_KVM = "no-kvm"  # an empty file, which stands where /dev/kvm was


def lay_out(folder: Path) -> None:
    """The folders and files that take the places."""
    for name in PLACES:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, text in SETTINGS.items():
        (folder / "etc" / name).write_text(text)
    (folder / NO_KVM).touch()


def mounts(folder: Path, *, hide_kvm: bool) -> list[list[str]]:
    """The commands that put them there. Without KVM to be had, libvirtd must not see it: it would try each time."""
    hidden = [["mount", "--bind", str(folder / NO_KVM), "/dev/kvm"]] if hide_kvm and Path("/dev/kvm").exists() else []
    return [["mount", "--bind", str(folder / name), place] for name, place in PLACES.items()] + hidden


def libvirtd_command() -> list[str]:
    return ["libvirtd", "--config", f"{PLACES['etc']}/libvirtd.conf", "--pid-file", PID_FILE]


def main(folder: Path, *, hide_kvm: bool) -> int:
    for place in PLACES.values():
        Path(place).mkdir(parents=True, exist_ok=True)
    for command in mounts(folder, hide_kvm=hide_kvm):
        subprocess.run(command, check=True)
    libvirtd = subprocess.Popen(libvirtd_command())
    signal.signal(signal.SIGTERM, lambda *_: libvirtd.terminate())
    while True:
        ended, status = os.wait()
        if ended == libvirtd.pid:
            return os.waitstatus_to_exitcode(status) & 0xFF


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), hide_kvm="hide-kvm" in sys.argv[2:]))
