"""The control file of each package and the files in it, from the table of programs. Pure, but for the texts in `files`.

Two packages, since dpkg promises no order within one: the first brings the preset that keeps the services of the
second's servers off.
"""

import gzip
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path

from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.needs import Program
from lanelab.driver.base.programs.system_package import (
    ARCHITECTURES,
    NAME,
    NAME_OF_SERVERS,
    documents_folder,
    file_name,
    version_for,
)
from lanelab.driver.base.userns import PROFILE, WRAPPER
from lanelab.driver.base.version import RELEASE

FILES = Path(__file__).parent / "files"
MAINTAINER = "The lanelab developers <lanelab@localhost>"
ESSENTIAL = {"util-linux"}  # every Debian has it, and no package may name it
# AppArmor keeps user namespaces from programs without a profile there, and is new enough to read ours.
WITH_PROFILE = ("ubuntu-24.04",)
PRESET = "/usr/lib/systemd/system-preset/10-lanelab.preset"
APPARMOR = f"/etc/apparmor.d/{PROFILE}"
SCRIPTS = ("postinst", "postrm")

# Every purpose of the table is in one of these.
SYSTEM = (
    "python",
    "bed",
    "uml",
    "capture",
    "apache",
    "module",
    "compiler",
    "chromium",
    "resolver",
    "screen",
    "minify",
    "ssh",
)
SERVERS = (
    "nginx", "nginx-brotli", "nginx-lua", "haproxy", "lighttpd", "caddy", "h2o", "webfs", "back-end", "java",
    "firefox", "wrk", "h2load", "ab",
)  # fmt: skip
NOWHERE = (*needs.OF_A_CHECKOUT, "vagrant", "libvirt", "box", "guest")  # tests, and virtual machines


@dataclass(frozen=True)
class Package:
    """A package that can be built: its control file, its scripts, and its files by their places."""

    name: str
    family: str
    machine: str
    control: str
    files: Mapping[str, bytes]
    programs: Sequence[str] = ()  # those of the files that can be executed: by root, until postinst says by whom else
    scripts: Mapping[str, str] = field(default_factory=dict)

    @property
    def file_name(self) -> str:
        return file_name(self.name, self.family, self.machine)


def packages(family: str, machine: str, time_s: int) -> tuple[Package, Package]:
    """Return both, in the order in which they are installed. `time_s` is when their sources were changed."""
    return _system(family, machine, time_s), _servers(family, machine, time_s)


def programs_of(purposes: Sequence[str], machine: str) -> list[Program]:
    """Return those that a package brings: none whose old boot script no preset keeps off."""
    programs = [each for each in needs.programs(*purposes) if not each.machines or machine in each.machines]
    return [each for each in programs if all("." in service for service in each.services)]


def preset(family: str, machine: str) -> str:
    """Return the preset: the services of both packages stay off."""
    known = set(needs.packages(needs.all_programs(), family))
    programs = [each for each in programs_of((*SYSTEM, *SERVERS), machine) if each.package in known]
    services = dict.fromkeys(service for each in programs for service in each.services)
    return (FILES / "preset").read_text() + "".join(f"disable {service}\n" for service in sorted(services))


def _system(family: str, machine: str, time_s: int) -> Package:
    name = NAME
    depends = needs.packages(programs_of(SYSTEM, machine), family)
    files = {PRESET: preset(family, machine).encode()}
    programs: tuple[str, ...] = ()
    scripts: dict[str, str] = {}
    if family in WITH_PROFILE:
        files |= {str(WRAPPER): (FILES / "with-userns").read_bytes(), APPARMOR: (FILES / PROFILE).read_bytes()}
        programs = (str(WRAPPER),)
        depends = [*depends, "passwd"]  # groupadd
        scripts = {name: (FILES / name).read_text() for name in SCRIPTS} | {"conffiles": f"{APPARMOR}\n"}
    about = _control(
        name,
        "programs that lanelab calls",
        "All programs that lanelab calls for beds, and for pages that Chromium loads from Apache. It starts no "
        "service, and its preset keeps those of lanelab-system-servers off.",
        "" if "chromium" in depends else "This system has Chromium only as a snap, which cannot run in a bed: "
        "another build has to be installed by hand.",
        depends=depends, family=family, machine=machine,
    )  # fmt: skip
    of_wrapper = ("executable-is-not-world-readable", "non-standard-executable-perm") if programs else ()
    documents = _documents(name, family, time_s, of_wrapper)
    return Package(name, family, machine, about, files | documents, programs, scripts)


def _servers(family: str, machine: str, time_s: int) -> Package:
    name = NAME_OF_SERVERS
    depends = [f"{NAME} (= {version_for(family)})", *needs.packages(programs_of(SERVERS, machine), family)]
    about = _control(
        name,
        "servers and generators that lanelab calls",
        "The servers besides Apache, Firefox where there is a package of it, load generators, and what builds back "
        "ends in Java.",
        "Install lanelab-system before it, by a command of its own: its preset keeps these services off.",
        depends=depends, family=family, machine=machine,
    )  # fmt: skip
    return Package(name, family, machine, about, _documents(name, family, time_s))


def _control(name: str, title: str, *words: str, depends: Sequence[str], family: str, machine: str) -> str:
    lines = textwrap.wrap(" ".join(filter(None, words)), 76, break_on_hyphens=False)
    return (
        f"Package: {name}\nVersion: {version_for(family)}\nArchitecture: {ARCHITECTURES[machine]}\n"
        f"Maintainer: {MAINTAINER}\nSection: metapackages\nPriority: optional\n"
        f"Depends: {', '.join(each for each in depends if each not in ESSENTIAL)}\n"
        f"Description: {title}\n" + "".join(f" {line}\n" for line in lines)
    )


def _documents(name: str, family: str, time_s: int, of_files: Sequence[str] = ()) -> dict[str, bytes]:
    folder = documents_folder(name)
    changes = (
        f"{name} ({version_for(family)}) unstable; urgency=medium\n\n  * Made from lanelab {RELEASE}.\n\n"
        f" -- {MAINTAINER}  {formatdate(time_s)}\n"
    )
    tags = ("bogus-mail-host", "bogus-mail-host-in-debian-changelog")
    overrides = "# Its maintainers have no address; a group alone starts its wrapper.\n"
    overrides += "".join(f"{name}: {tag}\n" for tag in (*tags, *of_files))
    return {
        f"{folder}/copyright": (FILES / "copyright").read_bytes(),
        f"{folder}/changelog.gz": gzip.compress(changes.encode(), compresslevel=9, mtime=0),
        f"/usr/share/lintian/overrides/{name}": overrides.encode(),
    }
