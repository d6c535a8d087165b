"""The names of lanelab-system.deb: the package of the distribution that depends on all that lanelab calls.

tools/system_package builds it; an administrator is told of it wherever programs are missing.
"""

from pathlib import Path

from lanelab.driver.base.version import RELEASE

NAME, NAME_OF_SERVERS = "lanelab-system", "lanelab-system-servers"
SUFFIXES = {"debian-12": "deb12", "debian-13": "deb13", "ubuntu-22.04": "ubuntu22.04", "ubuntu-24.04": "ubuntu24.04"}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def version_for(family: str) -> str:
    """Return its version, which names the system that it was made for."""
    return f"{RELEASE}+{SUFFIXES[family]}"


def file_name(name: str, family: str, machine: str) -> str:
    return f"{name}_{version_for(family)}_{ARCHITECTURES[machine]}.deb"


def documents_folder(name: str) -> Path:
    """Return the folder that each of the packages brings, and nothing else does."""
    return Path("/usr/share/doc") / name


def hint(family: str, machine: str) -> str:
    """Return a sentence for an administrator; "" where there is no such package for the system, or both are there."""
    lacking = [name for name in (NAME, NAME_OF_SERVERS) if not documents_folder(name).is_dir()]
    if family not in SUFFIXES or machine not in ARCHITECTURES or not lacking:
        return ""
    return f"Or with the package {file_name(lacking[0], family, machine)}: docs/install.md, lanelab-system"
