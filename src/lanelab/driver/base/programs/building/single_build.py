"""Making something once: beside the others, renamed when it is whole, by one lanelab at a time.

What a folder is made from is in its name, so that what was made from something else is never used, and whatever is
there is whole: a full disk, a compiler's error, Ctrl-C and SIGKILL leave only a folder that the next one throws away.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.pip import pip

UNFINISHED = ".new"
KEPT_S = 14 * 24 * 3600  # what no lanelab has used for so long is thrown away when another one is made
SHOWN_LINES = 15

Make = Callable[[Path, "Log"], None]

NO_SPACE = ("no space left", "quota exceeded", "disk full")
NO_NETWORK = (
    "dial tcp", "no such host", "i/o timeout", "name resolution", "connection refused", "connection reset",
    "network is unreachable", "proxyconnect", "tls handshake", "could not fetch url", "no matching distribution",
    "could not find a version", "eai_again", "enotfound", "etimedout", "econnrefused", "could not transfer artifact",
    "unknown host",
)  # fmt: skip


class Log:
    """The output of the programs that make a folder. It is kept beside the folder."""

    def __init__(self, what: str, path: Path) -> None:
        self.what, self.path = what, path
        path.write_text("")

    def run(self, argv: Sequence[str | Path], *, environment: Mapping[str, str], folder: Path = PROJECT) -> None:
        """Run one of the programs; raises BuildError when it fails."""
        words = [str(word) for word in argv]
        with self.path.open("a") as output:
            print("$", *words, file=output, flush=True)
            try:
                done = subprocess.run(
                    words, cwd=folder, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    check=False,
                )  # fmt: skip
            except OSError as error:
                raise BuildError(f"{self.what}: cannot run {words[0]}: {error.strerror}", "Install it") from error
        if done.returncode != 0:
            raise self.failure(f"{Path(words[0]).name} ended with status {done.returncode}")

    def failure(self, why: str) -> BuildError:
        """Return the typed error, with the last lines and a remedy that suits them."""
        output = self.path.read_text(errors="replace")
        last = "\n".join(f"    {line}" for line in output.splitlines()[-SHOWN_LINES:])
        return BuildError(f"{self.what} failed: {why}", _remedy(output, self.path), output=last)


def made_once(what: str, folder: Path, key: str, make: Make, *, about_s: int, out: TextIO | None = None) -> Path:
    """Return the folder that `make` fills, below `folder`: made now where no other lanelab has made it before. `key` is
    all that it is made from, `about_s` how long someone who waits has to expect."""
    folder = folder.absolute()
    place = folder / key
    if place.is_dir():
        _mark_used(place)
        return place
    out = out or sys.stderr
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder, what, out):
            if not place.is_dir():
                print(f"lanelab: {what} (once; about {about_s} s)", file=out, flush=True)
                _throw_away_old(folder)
                _make_aside(what, place, make)
    except OSError as error:
        raise _refused(what, folder, error) from error
    return place


def is_made(folder: Path, key: str) -> bool:
    """Return whether `made_once` would make nothing."""
    return (folder / key).is_dir()


def key_of(*parts: str | bytes) -> str:
    """Return a name for what is made from these."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:%s" % (len(data), data))  # with its length, so that no two lists of parts are one text
    return digest.hexdigest()[:16]


def sources(root: Path, *, without: Callable[[Path], bool]) -> Iterator[str | bytes]:
    """Name and content of every file below a folder, in order; `without` gets paths relative to it."""
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        name = file.relative_to(root)
        if not without(name):
            yield str(name)
            yield file.read_bytes()


def make_runnable(files: Iterable[Path]) -> None:
    """Make programs executable: not every tool that unpacks keeps that bit."""
    for file in files:
        if file.is_file():
            file.chmod(file.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


def pip_install(lock: Path, target: Path, log: Log) -> None:
    """Install what a lock file names, with its hashes, into a folder of its own."""
    # Settings that would send packages elsewhere; all others (index, certificates, proxies) are the user's business.
    elsewhere = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_REQUIRE_VIRTUALENV")
    environment = {name: value for name, value in os.environ.items() if name not in elsewhere}
    install = [*pip(), "install", "--no-input", "--disable-pip-version-check", "--no-compile"]
    log.run([*install, "--require-hashes", "--no-deps", "--target", target, "-r", lock], environment=environment)


def remove(folder: Path) -> None:
    """Remove a folder and everything in it."""
    shutil.rmtree(folder, ignore_errors=True)


def _make_aside(what: str, place: Path, make: Make) -> None:
    aside = place.with_name(place.name + UNFINISHED)
    remove(aside)
    aside.mkdir()
    try:
        make(aside, Log(what, place.parent / "log"))
        aside.rename(place)
    finally:
        remove(aside)


@contextlib.contextmanager
def _locked(folder: Path, what: str, out: TextIO) -> Iterator[None]:
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"lanelab: waiting for another lanelab, which is busy with {what}", file=out, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _mark_used(place: Path) -> None:
    with contextlib.suppress(OSError):  # it may belong to someone else, who keeps it
        os.utime(place)


def _throw_away_old(folder: Path) -> None:
    """Remove unfinished folders. Called with the lock held, so their makers are gone."""
    for path in folder.iterdir():
        if path.is_dir() and (path.name.endswith(UNFINISHED) or time.time() - path.stat().st_mtime > KEPT_S):
            remove(path)


def _refused(what: str, folder: Path, error: OSError) -> BuildError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    remedy = "Free some space" if full else "Set LANELAB_BUILD to a folder that can be written"
    return BuildError(f"{what}: cannot write to {folder}: {error.strerror}", remedy)


def _remedy(output: str, log: Path) -> str:
    lower = output.lower()
    if any(words in lower for words in NO_SPACE) or shutil.disk_usage(build_folder()).free < 16 << 20:
        return f"The disk is full: make room for about 700 MB in {build_folder()}, then run this again. Log: {log}"
    if any(words in lower for words in NO_NETWORK):
        return f"Check the network (the tools' own settings and proxies apply), then run this again. Log: {log}"
    return f"The whole log is {log}"
