"""What a shell offers for the names of runs and of what is in them. It reads little, and never complains: where
something cannot be read, nothing is offered."""

import functools
import os
import re
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]
COMPLETE_VARIABLE = "_LANELAB_COMPLETE"  # what the shell's script sets
_BASH = "bash_complete"  # to this, in bash
_MEANS_SOMETHING = re.compile(r"([^\w@%+=:,./-])")  # to a shell that takes offers as they are
_MOST_WORDS = 70  # characters about an offer


def offer(names: Callable[[click.Context, str], dict[str, str]]) -> Complete:
    """Return what completes with these names, as click calls it."""

    @functools.wraps(names)
    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        try:
            offers = names(context, incomplete)
        except Exception:  # noqa: BLE001 - a message would stand in the middle of the line that is being typed
            return []
        chosen = context.params.get(parameter.name or "") if parameter.nargs == -1 else ()
        return [
            CompletionItem(_typed(name), help=_in_one_line(words))
            for name, words in offers.items()
            if name.startswith(incomplete) and name not in (chosen or ())
        ]

    return complete


def _typed(name: str) -> str:
    """Return a name as it has to be typed. zsh and fish quote by themselves, and bash does not: it takes away one
    backslash where its script reads offers, and one where it reads the line."""
    return _MEANS_SOMETHING.sub(r"\\\\\1", name) if os.environ.get(COMPLETE_VARIABLE) == _BASH else name


def _in_one_line(words: str) -> str | None:
    """Return what the shells' scripts can read: they take offers line by line."""
    line = " ".join(words.split())
    return (line if len(line) <= _MOST_WORDS else f"{line[: _MOST_WORDS - 1]}…") or None


def argument(context: click.Context, name: str = "name") -> str:
    """Return the first argument that was typed before. click leaves it aside while an option's value is typed."""
    return str(context.params.get(name) or context.args[0])


@offer
def complete_run(_context: click.Context, _incomplete: str) -> dict[str, str]:
    from lanelab.driver.api.run_names import runs_here

    return runs_here()


@offer
def complete_study_run(_context: click.Context, _incomplete: str) -> dict[str, str]:
    from lanelab.driver.api.run_names import studies_run_here

    return studies_run_here()


@offer
def complete_trial(context: click.Context, incomplete: str) -> dict[str, str]:
    """Offer the trials of the RUN that was typed before."""
    from lanelab.driver.api.run_names import trials_of

    return trials_of(argument(context), incomplete)


@offer
def complete_step(context: click.Context, _incomplete: str) -> dict[str, str]:
    """Offer the steps of the RUN that was typed before."""
    from lanelab.driver.api.run_names import steps_of

    return steps_of(argument(context))


@offer
def complete_cell(context: click.Context, _incomplete: str) -> dict[str, str]:
    from lanelab.driver.api.run_names import cells_of

    return cells_of(argument(context))


@offer
def complete_cell_or_arm(context: click.Context, _incomplete: str) -> dict[str, str]:
    """Offer what `lanelab explain` takes: an arm may be followed by another, and a cell by nothing."""
    from lanelab.driver.api.run_names import arms_of, cells_of

    run, before = argument(context), context.params.get("what")
    return arms_of(run) if before else {**arms_of(run), **cells_of(run)}
