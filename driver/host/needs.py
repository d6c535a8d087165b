"""The programs that each command needs, and those that it would use. What brings them: playbooks/vars/packages.yml."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from driver.host.find_program import find


@dataclass(frozen=True)
class Program:
    """Something that has to be there: a program, or (with a leading slash) a file or folder."""

    name: str
    need: str  # what brings it, as named in playbooks/vars/packages.yml
    machines: tuple[str, ...] = ()  # only there (`uname -m`); empty means everywhere
    others: tuple[str, ...] = ()  # other names that it goes by
    variable: str = ""  # of the environment: where the user says that it is
    along: tuple[str, ...] = ()  # needs that are installed together with it, lest apt choose others

    def path(self) -> Path | None:
        """Where it is; None too where that is only a snap, which does not run inside a bed."""
        given = os.environ.get(self.variable) if self.variable else None
        names = (given,) if given else (self.name, *self.others)
        return next((path for path in map(find, names) if path and not is_snap(path)), None)

    def wanted_here(self) -> bool:
        return not self.machines or platform.machine() in self.machines


class VagrantPlugin(Program):
    """A plugin of Vagrant's: the distribution's package, or what its user has installed."""

    def path(self) -> Path | None:
        home = Path(os.environ.get("VAGRANT_HOME") or Path.home() / ".vagrant.d")
        folders = (Path("/usr/share/rubygems-integration/all/specifications"), home / "gems")
        return next((found for folder in folders for found in folder.rglob(f"{self.name}-[0-9]*.gemspec")), None)


def is_snap(path: Path) -> bool:
    """Whether that is a snap's program, or the script that a package of Ubuntu's has in its place."""
    if path.resolve().name == "snap" or path.is_relative_to("/snap"):
        return True
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
    except OSError:  # a folder, or only to be run
        return False
    return begin.startswith(b"#!") and b"/snap/" in begin


UML = (
    Program("linux.uml", "uml", machines=("x86_64",)),
    Program("/usr/lib/uml/modules", "uml", machines=("x86_64",)),
)
BED = (
    Program("ip", "iproute2"),
    Program("tc", "iproute2"),
    Program("ethtool", "ethtool"),
    Program("ping", "ping"),
    Program("nsenter", "util-linux"),
    Program("taskset", "util-linux"),
    *UML,
)

RECORDING = (Program("tcpdump", "tcpdump"),)
APACHE = Program("apache2", "apache", others=("httpd",))
BROWSER = (
    Program(
        "chromium",
        "chromium",
        others=(
            "/usr/lib/chromium/chromium",
            "/usr/lib64/chromium-browser/chromium-browser",
            "/opt/google/chrome/chrome",
            "google-chrome",
            "google-chrome-stable",
        ),
        variable="LANELAB_CHROMIUM",
        along=("session-bus",),
    ),
    Program(
        "chromedriver",
        "chromedriver",
        others=("/usr/lib/chromium/chromedriver", "/usr/lib/chromium-browser/chromedriver"),
        variable="LANELAB_CHROMEDRIVER",
    ),
)
RESOLVER = Program("dnsmasq", "dnsmasq")
SCREEN = Program("Xvfb", "xvfb")
RUN = (*BED, *RECORDING, APACHE, *BROWSER)
EVERYTHING = (*RUN, RESOLVER, SCREEN)
COMPILER = (Program("gcc", "gcc"), Program("/usr/include/stdio.h", "libc-headers"))
APXS = Program("apxs", "apache-headers", others=("apxs2",))
MODULE_BUILDING = (*COMPILER, Program("make", "make"), Program("/usr/include/zlib.h", "zlib-headers"), APXS)

# What an experiment may need besides, each in the words after "run", in this order.
RUN_WITH: dict[str, tuple[Program, ...]] = {
    "headful": (SCREEN,),  # arms whose browser has a screen
    "resolver": (RESOLVER,),  # links whose names are resolved
    "gateway": (),  # arms that go through the gateway: driver/build brings all that it takes
    "spdy": MODULE_BUILDING,  # arms whose server speaks SPDY
}


def _runs() -> dict[str, tuple[Program, ...]]:
    """Whatever an experiment may need together: run, run headful, run headful spdy, …"""
    found = {}
    for count in range(len(RUN_WITH) + 1):
        for words in combinations(RUN_WITH, count):
            found[" ".join(("run", *words))] = (*RUN, *(program for word in words for program in RUN_WITH[word]))
    return found


JAVA = (Program("javac", "jdk"), Program("mvn", "maven"))
VAGRANT = (Program("vagrant", "vagrant"), Program("ssh", "ssh"))
LIBVIRT = (
    VagrantPlugin("vagrant-libvirt", "vagrant-libvirt"),
    Program("libvirtd", "libvirt"),
    Program("virsh", "virsh"),
    Program("/etc/libvirt/libvirtd.conf", "libvirt-user"),
    Program("qemu-system-x86_64", "qemu"),
    Program("qemu-img", "qemu-img"),
    Program("dnsmasq", "dnsmasq"),
    Program("iptables", "iptables"),
)
BOX = (
    Program("mmdebstrap", "mmdebstrap"),
    Program("fakeroot", "fakeroot"),
    Program("mke2fs", "mke2fs"),
    Program("mkfs.vfat", "mkfs-vfat"),
    Program("mcopy", "mtools"),
    Program("syslinux", "syslinux"),
    Program("/usr/share/keyrings/debian-archive-keyring.gpg", "debian-keys"),
)
COMPARED_WITH = (Program("tshark", "tshark"), Program("openssl", "openssl"))
OVER_SSH = (Program("ssh", "ssh"), Program("sshd", "ssh-server"))

# A command that is not here, and has no shorter form here ("bed shell" -> "bed"), needs nothing but Python.
REQUIRED: dict[str, tuple[Program, ...]] = {
    "bed": BED,
    "link test": BED,
    "ssh": (Program("ssh", "ssh"),),  # whatever the command, where the nodes are other machines
    "hosts": (Program("ssh", "ssh"),),
    **_runs(),
    "bench": BED,
    "bench trials": RUN,
    "bench servers": (*BED, APACHE, *MODULE_BUILDING),
    "test": EVERYTHING,
    "test bed": (*BED, *RECORDING, APACHE, RESOLVER),
    "test e2e": EVERYTHING,
    "test wire": (),
    "test vm": (*VAGRANT, *LIBVIRT, *BOX),
    "test unit": (),
    "test golden": (),
    "vm": (*VAGRANT, *LIBVIRT),
    "vm virtualbox": VAGRANT,  # VirtualBox itself is in no distribution: Vagrant says where it is missing
    "vm box": (*VAGRANT, *LIBVIRT, *BOX),
    "check": (Program("shellcheck", "shellcheck"),),
}
# What a command uses where it is there, and says that it goes without where it cannot be had.
WISHED: dict[str, tuple[Program, ...]] = {
    "test": (*COMPARED_WITH, *OVER_SSH, *MODULE_BUILDING, *JAVA),
    "test bed": OVER_SSH,
    "test e2e": (*COMPARED_WITH, *MODULE_BUILDING),
    "test wire": (APACHE, *COMPARED_WITH, *MODULE_BUILDING, *JAVA),
    "check": MODULE_BUILDING,
}


def entry(command: str) -> str:
    """The longest beginning of a command that REQUIRED has."""
    words = command.split()
    while words and " ".join(words) not in REQUIRED:
        words.pop()
    return " ".join(words)
