"""Text and tables as Markdown. Pure."""

import re
from collections.abc import Iterable, Sequence

from lanelab.analysis.results.text import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as Markdown; what stands in them is shown as it is."""
    lines = [heads, ["---"] * len(heads)]
    written = [f"| {' | '.join(line)} |" for line in lines]
    written += [f"| {' | '.join(plain(cell) for cell in row)} |" for row in rows]
    return "\n".join(written)


def plain(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(visible(text).split()))
