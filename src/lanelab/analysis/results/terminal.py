"""The result of a run on a terminal: what `lanelab run` prints at its end, and `lanelab show`."""

from rich.console import RenderableType

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.sections.of_run import sections_of
from lanelab.analysis.results.sections.seen import Seen


def results(run: Run) -> RenderableType:
    """Lay out everything worth a look."""
    return on_terminal(sections_of(Seen(run)))
