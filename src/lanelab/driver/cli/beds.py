"""lanelab bed: a bed with a link, to use by hand or from a script."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.hand_bed import (
    NODE_NAMES,
    Bed,
    Command,
    Process,
    Stdio,
    Terminal,
    hand_bed,
    while_link_moves,
)
from lanelab.driver.api.links import Link
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.foreground import wait_in_foreground
from lanelab.driver.cli.link_options import LINK_EPILOG, as_typed, link_options
from lanelab.driver.cli.output import note

STANDARD = Stdio(0, 1, 2)


@contextlib.contextmanager
def open_bed(link: Link, options: BedOptions) -> Iterator[Bed]:
    """A bed with that link; leaving it ends the bed. An error names the option."""
    with contextlib.ExitStack() as stack:
        try:
            bed = stack.enter_context(hand_bed(link, options, note))
        except InputError as error:
            raise as_typed(error) from None
        yield bed


def _run_on(link: Link, bed: Bed, start: Callable[[Terminal | None], Process], *, terminal: bool = True) -> int:
    """Run a command while the link does what it does by itself. The command's status."""
    return while_link_moves(link, bed, lambda: wait_in_foreground(start, terminal=terminal), note)


@click.group("bed")
def group() -> None:
    """A bed to use by hand: client, router and server with a link between them."""


@group.command("shell", epilog=LINK_EPILOG)
@click.argument("node", type=click.Choice(NODE_NAMES), default="client", metavar="[NODE]")
@bed_options
@link_options
def shell(link: Link, node: str, options: BedOptions) -> None:
    """A shell on a node of a new bed. Leaving the shell removes the bed.

    \b
    Examples:
      lanelab bed shell                                   (on the client; try: ping server)
      lanelab bed shell router --profile 3g               (try: tc -s qdisc)
    """
    program = os.environ.get("SHELL", "") if options.traits.same_machine else ""
    command = Command([program if shutil.which(program) else "sh"], env=_node_environment(node), cwd=_folder(options))
    with open_bed(link, options) as bed:
        note(f"a shell on the {node}; the nodes are called client, router and server. Leave it to remove the bed.")
        status = _run_on(link, bed, lambda terminal: bed.exec(node, command, STANDARD, terminal or Terminal()))
    sys.exit(status)


@group.command("exec", epilog=LINK_EPILOG)
@click.argument("node", type=click.Choice(NODE_NAMES), metavar="NODE")
@bed_options
@link_options
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def execute(link: Link, node: str, options: BedOptions, command: tuple[str, ...]) -> None:
    """Run COMMAND on a node of a new bed; its exit status is that of COMMAND.

    \b
    Examples:
      lanelab bed exec client --rtt 100ms -- ping -c 3 server
      lanelab bed exec router --profile cable -- tc -s qdisc
    """
    request = Command(command, env=_node_environment(node), cwd=_folder(options))
    with open_bed(link, options) as bed:
        status = _run_on(link, bed, lambda terminal: bed.exec(node, request, STANDARD, terminal))
    sys.exit(status)


@group.command("run", epilog=LINK_EPILOG)
@bed_options
@link_options
@click.argument("script", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- SCRIPT...")
def run(link: Link, options: BedOptions, script: tuple[str, ...]) -> None:
    """Run SCRIPT beside a new bed: outside its nodes, but with the helper `node NAME COMMAND…` on its PATH.

    The script sees this machine's files. Its network is the bed's management network: the nodes' addresses there are
    in LANELAB_CLIENT, LANELAB_ROUTER and LANELAB_SERVER, and what crosses it never crosses the link. What the script
    leaves running ends with it.

    \b
    Examples:
      lanelab bed run --profile dsl -- ./measure.sh
      lanelab bed run --rtt 50ms -- sh -c 'node server python3 -m http.server 80 & sleep 1; node client curl -s server'
    """
    argv = [_script_path(script[0]), *script[1:]]
    with open_bed(link, options) as bed:
        status = _run_on(link, bed, lambda _terminal: bed.script(argv, STANDARD), terminal=False)
    sys.exit(status)


def _script_path(name: str) -> str:
    program = shutil.which(name)
    if program:
        return program
    path = Path(name)
    if path.is_file() and os.access(path, os.X_OK):
        raise InputError(f"'{name}' is in this folder, but not on PATH", f"Write ./{name}", key="SCRIPT")
    if path.is_file():
        raise InputError(f"'{name}' is not executable", f"Run: chmod +x {name}", key="SCRIPT")
    raise InputError(f"there is no script or program '{name}'", "Write a path like ./measure.sh", key="SCRIPT")


def _node_environment(node: str) -> dict[str, str]:
    environment = {"LANELAB_NODE": node}
    if "TERM" in os.environ:
        environment["TERM"] = os.environ["TERM"]
    return environment


def _folder(options: BedOptions) -> str:
    """Where commands begin: here, or at the root of another machine, which need not have this folder."""
    if not options.traits.same_machine:
        return "/"
    try:
        return os.getcwd()  # noqa: PTH109 - as the shell knows it
    except OSError as error:
        raise InputError("the folder that you are in no longer exists", "Go to another one with cd") from error
