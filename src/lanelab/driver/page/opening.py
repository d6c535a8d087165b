"""Opens a link in this machine's browser. Who has the link gets in, so it is on no command line, which others see: a
file that only its owner reads leads there."""

import tempfile
import webbrowser
from pathlib import Path

from lanelab.analysis.results.layout.markup import el


def open_privately(link: str) -> Path | None:
    """Return the file, which whoever calls removes; None where no browser could be started."""
    with tempfile.NamedTemporaryFile("w", prefix="lanelab-", suffix=".html", delete=False) as file:
        file.write(el("meta", http_equiv="refresh", content=f"0; url={link}"))
    path = Path(file.name)
    if webbrowser.open(path.as_uri()):
        return path
    path.unlink()
    return None
