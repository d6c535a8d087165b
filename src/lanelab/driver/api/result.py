"""A result as programs have it: it can be printed, written as Markdown, and shows itself in notebooks. All of it comes
from the same sections."""

import io
import textwrap
from dataclasses import dataclass

from rich.console import Console, RenderableType

from lanelab.analysis.results.layout.markdown import markdown
from lanelab.analysis.results.layout.model import Section
from lanelab.analysis.results.layout.terminal import on_terminal

WIDTH = 120


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """A part of what a run says, laid out once for every output."""

    sections: tuple[Section, ...]

    def renderable(self) -> RenderableType:
        """Return it as a terminal shows it, in as many columns as there are."""
        return on_terminal(self.sections)

    def markdown(self) -> str:
        """Write it as Markdown."""
        return markdown(self.sections)

    def summary(self) -> str:
        """Return what it is, in a few words."""
        words = ", ".join(section.title for section in self.sections)
        return textwrap.shorten(words, WIDTH, placeholder=" …") or "nothing"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary()}>"

    def __str__(self) -> str:
        return text_of(self.renderable())

    def _repr_html_(self) -> str:
        from lanelab.analysis.results.layout.page import on_page
        from lanelab.analysis.results.report.frame import framed

        return framed([html for section in self.sections if (html := on_page(section))])


def text_of(renderable: RenderableType) -> str:
    """Return what a terminal of usual width would show, without colours."""
    out = io.StringIO()
    Console(file=out, width=WIDTH, highlight=False, markup=False, soft_wrap=True).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())
