"""Vega-Lite charts to SVG and PNG, offline: nothing is asked of the network, not even for fonts."""

import html
import re
from typing import Any

from lanelab.analysis.results.palette import variables
from lanelab.analysis.results.text import visible, visible_everywhere

SMALL = 350  # of less width is a chart of few places, whose letters would become huge
TIP = "\u200b"  # begins a description that is meant as a tooltip, and ends the number of its cell in it
_LABEL = re.compile(r'<(path|line|rect|text)\b([^>]*?) aria-label="([^"]*)"([^>]*?)(?:/>|>(.*?)</\1>)', re.DOTALL)
_IDS = re.compile(r'\b(id="|url\(#|href="#)([\w-]+)')


def svg(chart: dict[str, Any]) -> str:
    """Return an SVG for a file: with its own colours, on white."""
    return _with_titles(_drawn(chart), "")


def _drawn(chart: dict[str, Any]) -> str:
    import vl_convert  # noqa: PLC0415 - large, and only charts need it

    return str(vl_convert.vegalite_to_svg(visible_everywhere(chart), allowed_base_urls=[]))


def png(chart: dict[str, Any], scale: float = 2) -> bytes:
    import vl_convert  # noqa: PLC0415 - large, and only charts need it

    return bytes(vl_convert.vegalite_to_png(visible_everywhere(chart), scale=scale, allowed_base_urls=[]))


def inline_svg(chart: dict[str, Any], label: str, prefix: str, cells: str = "") -> str:
    """An SVG for a page: colours are variables of its style sheet, names do not clash with those of other charts.
    `cells`: what the addresses of cells on the page begin with; then each mark leads to that of its cell."""
    text = _drawn({**chart, "background": "transparent"})
    for colour, variable in variables().items():
        text = text.replace(f'"{colour}"', f'"var({variable})"')
    text = _IDS.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", text)
    text = _with_titles(text, cells)
    text = re.sub(r' font-family="[^"]*"', "", text)
    text = re.sub(r' (aria-roledescription|aria-label|role|xmlns:xlink|version)="[^"]*"', "", text)
    size = re.match(r'<svg[^>]*?width="([\d.]+)" height="([\d.]+)"', text)
    width = f' data-width="{size[1]}"' if size else ""
    if size and float(size[1]) < SMALL:  # the page does not stretch it to its whole width
        width += ' data-small=""'
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(visible(label))}"{width} ', 1)


def _with_titles(text: str, cells: str) -> str:
    """Make tooltips of the descriptions of marks, and links of those of cells. Decoration stays as it is."""

    def titled(match: re.Match[str]) -> str:
        tag, before, label, after, inside = match.groups()
        if not label.startswith(TIP):
            return match[0]
        cell, _, label = label.removeprefix(TIP).partition(TIP)
        mark = f'<{tag}{before} aria-label="{label}"{after}><title>{label}</title>{inside or ""}</{tag}>'
        return f'<a href="#{cells}{cell}">{mark}</a>' if cells and cell else mark

    return _LABEL.sub(titled, text)
