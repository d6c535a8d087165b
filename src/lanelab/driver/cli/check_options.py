"""Options of commands that check: an exit status, and files for the program that runs them."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.output import note

if TYPE_CHECKING:
    from lanelab.driver.api.checks import Check


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The options of a check as they were given."""

    sets_status: bool
    allow_inconclusive: bool
    junit: Path | None
    markdown: Path | None

    @property
    def are_given(self) -> bool:
        return self.sets_status or self.junit is not None or self.markdown is not None

    def finish(self, check: "Check") -> None:
        """Write the files that are asked for, say what came of it, and end with its status."""
        if self.junit:
            check.write_junit(self.junit, allow_inconclusive=self.allow_inconclusive)
        if self.markdown:
            check.write_markdown(self.markdown)
        if not self.sets_status:
            return
        note(check.sentence())
        if status := check.exit_status(allow_inconclusive=self.allow_inconclusive):
            sys.exit(status)


def check_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of a check, and hand them on as one argument, `checked`."""

    @click.option("--check", "sets_status", is_flag=True, help="Exit with 4 where something fails, 3 if inconclusive")
    @click.option("--allow-inconclusive", is_flag=True, help="With --check: exit with 0, not 3, for these")
    @click.option("--junit", type=_file(), metavar="FILE", help="Write what came of it as JUnit XML")
    @click.option("--markdown", type=_file(), metavar="FILE", help="Write what came of it as Markdown")
    @wraps(command)
    def with_options(
        *arguments: Any,  # noqa: ANN401 - click's
        sets_status: bool,
        allow_inconclusive: bool,
        junit: Path | None,
        markdown: Path | None,
        **others: Any,  # noqa: ANN401
    ) -> None:
        checked = CheckOptions(sets_status, allow_inconclusive, junit, markdown)
        if allow_inconclusive and not (sets_status or junit):
            raise InputError("it means nothing alone", "Write it with --check or --junit", key="--allow-inconclusive")
        command(*arguments, checked=checked, **others)

    return with_options


def _file() -> click.Path:
    return click.Path(dir_okay=False, path_type=Path)
