"""Commands that work on lanelab itself (check, test, bench), or build what is installed: they are in tools/ of a
checkout, which is no part of an installed lanelab."""

import sys

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.lazy import LazyGroup, Table

TOOLS = PROJECT / "tools"
TABLE: Table = {
    "check": ("tools.commands:check", "Check format, lint and types of every language in the tree."),
    "test": ("tools.commands:test", "Run the tests: all, or those of the kinds named (unit, golden, wire, bed, e2e)."),
    "wheel": ("tools.wheel.commands:wheel", "Build the wheel, for machines that have no checkout."),
    "system-package": (
        "tools.system_package.commands:system_package",
        "Build lanelab-system.deb: all programs that lanelab calls, as one package.",
    ),
    "build-image": (
        "tools.image.commands:build_image_command",
        "Build an image for Podman and Docker from the distribution's packages: no registry.",
    ),
    "bench": ("tools.bench.commands:group", "Measure lanelab itself: how fast, and how exact."),
}


class GroupWithTools(LazyGroup):
    """Its table has the commands of tools/, which are there where there is a checkout."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in super().list_commands(ctx) if has_command(name)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Raises InputError where the command needs a checkout and there is none."""
        if cmd_name in TABLE:
            _find_tools(cmd_name)
        return super().get_command(ctx, cmd_name)


def has_command(name: str) -> bool:
    return name not in TABLE or TOOLS.is_dir()


def _find_tools(name: str) -> None:
    if not TOOLS.is_dir():
        what = f"'{name}' looks at lanelab's own sources, and this lanelab is installed without them"
        raise InputError(what, f"Get a checkout of lanelab, and run ./lanelab {name} there")
    if str(PROJECT) not in sys.path:
        sys.path.append(str(PROJECT))  # last: nothing else at the top of the checkout hides a package
