"""This machine's side of a bed: its namespaces, processes and files."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from driver.bed.node import LocalProcess, Stdio, Terminal
from driver.bed.remote import enclosure, namespaces
from driver.bed.remote.refusals import diagnose
from driver.bed.terminal import TerminalProcess


def enter_bed(controller: int | None) -> None:
    """Go on, in another process, inside the bed's own namespaces, which end with the controller (a pidfd).
    Raises NamespaceError."""
    try:
        enclosure.enter(namespaces.CLONE_NEWNET | namespaces.CLONE_NEWIPC, controller)
    except OSError as error:
        raise diagnose(error) from error
    Path(enclosure.BED_STATE).mkdir()


def copy_whole(source: Path, target: Path, mode: int | None = None) -> None:
    """Copy a file; the target has its name only when it is whole and has its mode."""
    part = target.with_name(target.name + ".part")
    try:
        shutil.copyfile(source, part)
        if mode is not None:
            part.chmod(mode)
        part.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def start_local(
    argv: Sequence[str], environment: dict[str, str], inherited: Iterable[int], stdio: Stdio, terminal: Terminal | None
) -> LocalProcess | TerminalProcess:
    """Start a child of this process, on the given descriptors or on a terminal that is relayed to them."""
    if terminal:
        return TerminalProcess(argv, environment, inherited, stdio, terminal)
    return LocalProcess(
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL if stdio.stdin is None else stdio.stdin,
            stdout=subprocess.DEVNULL if stdio.stdout is None else stdio.stdout,
            stderr=subprocess.DEVNULL if stdio.stderr is None else stdio.stderr,
            env=environment,
            pass_fds=tuple(inherited),
            start_new_session=True,
        )
    )
