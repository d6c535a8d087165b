"""Parts of a report within somebody else's page, like a cell of a notebook: in a frame of their own, so that neither
page's style reaches the other."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.report.page import document

NARROW = "main{padding:2px 4px;max-width:none}section{margin-top:12px}h2{font-size:17px;border-top:0;padding:0}"
HEIGHT = 420  # pixels, where nobody may measure it
FIT = "this.style.height=this.contentDocument.documentElement.scrollHeight+8+'px'"


def framed(parts: Sequence[Html], *, images: bool = False) -> str:
    """Return a frame with these parts; it is as high as they are. `images`: they have some within themselves."""
    page = document("lanelab", el("body", el("main", list(parts))), images=images, style=NARROW)
    style = f"width:100%;height:{HEIGHT}px;border:0"
    return el("iframe", srcdoc=page, style=style, onload=FIT)
