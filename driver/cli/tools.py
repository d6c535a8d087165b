"""lanelab doctor, check, test, completion."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class
from rich.text import Text

from devtools import check as checking
from devtools import test as testing
from driver.cli.common import json_option
from driver.cli.output import console, note, print_json, table
from driver.doctor.doctor import administrators_command, examine
from driver.host import needs
from driver.host.finding import Finding
from driver.host.install import prepare
from model.errors import BedError

STYLES = {"ok": "green", "gap": "bold red", "note": "yellow"}


@click.command("doctor")
@json_option
def doctor(*, as_json: bool) -> None:
    """Tell what this machine can do: every gap with its remedy. Fails when no bed can be made here."""
    findings = examine()
    if as_json:
        print_json({"able": all(f.state != "gap" for f in findings), "findings": [f.to_json() for f in findings]})
    else:
        console().print(table(("", "what", "found", "remedy"), (_finding_row(finding) for finding in findings)))
        if command := administrators_command():
            note(f"an administrator can install all that is missing, and no service, with: {command}")
    gaps = [finding.what for finding in findings if finding.state == "gap"]
    if gaps:
        raise BedError(f"no bed can be made here yet; to mend: {', '.join(gaps)}")


def _finding_row(finding: Finding) -> tuple[str | Text, ...]:
    return Text(finding.state, style=STYLES[finding.state]), finding.what, finding.found, finding.remedy


@click.command("check")
@click.option("--fix", is_flag=True, help="Mend what can be mended by itself")
def check(*, fix: bool) -> None:
    """Check format, lint and types of every language in the tree."""
    prepare(needs.programs(*needs.CHECK), used=needs.programs("module"))
    sys.exit(checking.check(fix=fix))


@click.command("test", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.option("--vm", is_flag=True, help="Instead: virtual machines, from their making to their removal")
@click.option("--long", is_flag=True, help="Also the tests that take minutes each")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...], *, vm: bool, long: bool) -> None:
    """Run the tests: all, or those of the kinds named (unit, golden, wire, bed, e2e). Further arguments are pytest's.

    \b
    Examples:
      lanelab test
      lanelab test unit golden
      lanelab test bed -k kill
    """
    kinds = {word for word in arguments if word in testing.KINDS}
    tests = [needs.TESTS[kind] for kind in (["vm"] if vm else sorted(kinds) or testing.KINDS)]
    wanted, used = {need for each in tests for need in each.needs}, {use for each in tests for use in each.uses}
    prepare(needs.programs(*wanted), used=needs.programs(*used))
    sys.exit(testing.run_tests(arguments, vm=vm, long=long))


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print shell completion. In bash: source <(./lanelab completion bash)"""
    kind = get_completion_class(shell)
    if kind is None:
        raise BedError(f"there is no completion for {shell}")
    lanelab = click.get_current_context().find_root().command
    click.echo(kind(lanelab, {}, "lanelab", "_LANELAB_COMPLETE").source())
