"""lanelab check, test: for those who work on lanelab itself."""

import sys

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.install import prepare
from tools import check as checking
from tools import test as testing
from tools.needs_of_tests import needs_of_tests
from tools.wheel.testing import KINDS, run_with_wheel


@click.command("check")
@click.option("--fix", is_flag=True, help="Mend what can be mended by itself")
def check(*, fix: bool) -> None:
    """Check format, lint and types of every language in the tree."""
    prepare(needs.programs(*needs.CHECK), used=needs.programs("module"))
    sys.exit(checking.check(fix=fix))


@click.command("test", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.option("--vm", is_flag=True, help="Instead: virtual machines, from their making to their removal")
@click.option(
    "--installed", is_flag=True, help="Instead of the sources: their wheel, built and installed (unit, golden)"
)
@click.option("--long", is_flag=True, help="Also the tests that take minutes each")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def test(arguments: tuple[str, ...], *, vm: bool, installed: bool, long: bool) -> None:
    """Run the tests: all, or those of the kinds named (unit, golden, wire, bed, e2e). Further arguments are pytest's.

    \b
    Examples:
      lanelab test
      lanelab test unit golden
      lanelab test bed -k kill
      lanelab test --installed unit
    """
    if vm and installed:
        raise InputError("--vm and --installed are two ways to test", "Name one of them")
    kinds = {word for word in arguments if word in testing.KINDS}
    tests = [
        needs_of_tests()[kind] for kind in (["vm"] if vm else sorted(kinds) or (KINDS if installed else testing.KINDS))
    ]
    wanted, used = {need for each in tests for need in each.needs}, {use for each in tests for use in each.uses}
    prepare(needs.programs(*wanted), used=needs.programs(*used))
    if installed:
        sys.exit(run_with_wheel(arguments, long=long))
    sys.exit(testing.run_tests(arguments, vm=vm, long=long))
