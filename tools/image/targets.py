"""What an image is made of, by its target: the commands that make its file system, and what a container begins with.
Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.version import RELEASE

USER, USER_ID = "lanelab", 1000
HOME = f"/home/{USER}"
LABEL = "org.opencontainers.image"
CUSTOMIZE = Path(__file__).parent / "files" / "customize"
# Nobody reads manuals in a container. Licences stay.
LEFT_OUT = ("/usr/share/man/*", "/usr/share/info/*", "/usr/share/locale/*", "/usr/share/doc/*")
KEPT = ("/usr/share/doc/*/copyright",)


@dataclass(frozen=True)
class System:
    """A release of Debian that images can be made of."""

    suite: str
    python: str  # its own, whole


@dataclass(frozen=True)
class Target:
    """A kind of image."""

    title: str
    programs: bool  # that lanelab calls, for beds and page loads: without them runs can be read
    locks: Sequence[str]  # the Python packages in it, whole
    command: Mapping[str, Sequence[str]]  # Entrypoint and Cmd
    folder: str  # where a container begins
    ports: Sequence[str] = ()


SYSTEMS = {"debian-12": System("bookworm", "3.11.2"), "debian-13": System("trixie", "3.13.5")}
TARGETS = {
    "lab": Target(
        "beds and page loads",
        programs=True,
        locks=("requirements.lock",),
        command={"Entrypoint": ["lanelab"], "Cmd": ["--help"]},
        folder="/lab",
    ),
    "reader": Target(
        "notebooks that read runs, for JupyterHub",
        programs=False,
        locks=("requirements-hub.lock",),
        command={"Cmd": ["jupyterhub-singleuser"]},
        folder=HOME,
        ports=("8888/tcp",),
    ),
}


def image_name(target: str, family: str) -> str:
    """Return the name that the image has once it is loaded: lanelab:0.1.0-deb12."""
    name = "lanelab" if target == "lab" else f"lanelab-{target}"
    return f"{name}:{RELEASE}-deb{family.rpartition('-')[2]}"


def bootstrap(family: str, mirror: str | None, apt_options: Sequence[str]) -> list[str]:
    """Return the command that writes the file system to its output, as tar. It works as root, and as a user with
    subordinate numbers."""
    return [
        "mmdebstrap", "--variant=minbase", "--format=tar", "--components=main",
        "--include=ca-certificates,python3-venv",
        *(f"--aptopt={option}" for option in ('Acquire::Languages "none"', *apt_options)),
        *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
        *(f"--dpkgopt=path-include={path}" for path in KEPT),
        f"--customize-hook={CUSTOMIZE}",
        SYSTEMS[family].suite, "-", *([mirror] if mirror else []),
    ]  # fmt: skip


def wheels_command(python: str, lock: Path, system: System, machine: str, folder: Path) -> list[str]:
    """Return the command that fetches the packages of a lock as wheels for that Python and that processor (x86_64),
    each with its hash."""
    tags = ("manylinux1", "manylinux2014", *(f"manylinux_2_{minor}" for minor in (17, 24, 26, 27, 28, 31, 34, 35, 36)))
    return [
        python, "-I", "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps",
        "--require-hashes", "--only-binary=:all:", "--implementation=cp", f"--python-version={system.python}",
        *(f"--platform={tag}_{machine}" for tag in tags),
        "--dest", str(folder), "--requirement", str(lock),
    ]  # fmt: skip


def config(target: str) -> dict[str, object]:
    """Return what a container of the image begins with, as OCI's configuration names it."""
    kind = TARGETS[target]
    return {
        "User": str(USER_ID),
        "WorkingDir": kind.folder,
        "Env": [
            "PATH=/opt/lanelab/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            f"HOME={HOME}",
            "LANG=C.UTF-8",
            "LANELAB_NO_INSTALL=1",  # what is missing in an image belongs into the image
        ],
        "Labels": {
            f"{LABEL}.title": f"lanelab: {kind.title}",
            f"{LABEL}.version": RELEASE,
        },
        **kind.command,
        **({"ExposedPorts": {port: {} for port in kind.ports}} if kind.ports else {}),
    }
