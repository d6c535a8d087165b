"""lanelab setup: builds all that lanelab builds for itself, before anything waits for it."""

import sys

import click

from lanelab.driver.api.own_programs import OwnProgram, program_names, set_up
from lanelab.driver.base.amounts import seconds, size
from lanelab.driver.base.errors import EXIT_FAILED
from lanelab.driver.cli.output import note


@click.command("setup")
@click.argument("programs", metavar="[PROGRAM]...", nargs=-1)
def setup(programs: tuple[str, ...]) -> None:
    """Build lanelab's own programs now rather than when they are first needed: all, or those named.

    Apache's modules take a compiler, the gateway and the load generators Go, back ends Java and Maven. What is built
    already stays. After Ctrl-C nothing is left half made, and the next call goes on.

    Exit status: 0; 1 where one could not be built. The others are built all the same.

    \b
    Examples:
      lanelab setup
      lanelab setup mod_replay gateway
    """
    failed = []
    width = max(map(len, program_names()))
    for program in set_up(programs):
        if program.error:
            failed.append(program.name)
            note(str(program.error))
        click.echo(f"{program.name:{width}}  {_words(program)}")
    if failed:
        note(f"not built: {', '.join(failed)}")
        sys.exit(EXIT_FAILED)


def _words(program: OwnProgram) -> str:
    if program.error:
        return "not built"
    return f"{size(program.size_bytes):>9}  {'was there' if program.seconds is None else seconds(program.seconds)}"
