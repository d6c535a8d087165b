"""The title of a chart that stands alone, and the lines below it: what it shows, of how many trials. The report has
captions instead. Pure."""

from lanelab.analysis.results import palette
from lanelab.analysis.results.chart_parts import Specification
from lanelab.analysis.results.drawing import Drawing
from lanelab.analysis.results.model import Run
from lanelab.driver.base.amounts import form_for

IN_BRACKETS = "A number in brackets: no difference is shown, or there are too few rounds."
MOST_LETTERS = 90  # of a line below the title


def with_head(specification: Specification, run: Run, drawing: Drawing, title: str) -> Specification:
    """Return the chart with its title: `title`, or what it shows with its unit."""
    shows = _capital(drawing.measured.title)
    first, *others = [*([shows] if title else []), *_lines(drawing)]
    lines = [f"{run.name}: {first}", *others]
    head: Specification = {
        "text": title or shows,
        "subtitle": [part for line in lines for part in _broken(line)],
        "anchor": "start",
        "fontSize": 15,
        "color": palette.INK,
        "subtitleColor": palette.MUTED,
        "subtitleFontSize": 12,
        "offset": 12,
    }
    return {**specification, "title": head}


def _lines(drawing: Drawing) -> list[str]:
    """Return what the marks are: of which arms, of how many trials, on how many machines."""
    only = [panel.name for panel in drawing.panels if panel.name and len(drawing.panels) == 1]
    lines = [*only, _sample(drawing)] if not drawing.measured.is_change else [drawing.measured.pairs, *only]
    if drawing.measured.is_change:
        lines.append(f"Below 0 is less; {_sample(drawing)}")
        lines += [IN_BRACKETS] if drawing.kind == "heatmap" else []
    absent = drawing.without + drawing.refused
    lines += [f"{absent} {form_for(absent, 'cell')} without a result"] if absent else []
    lines += [f"All of it is {drawing.over}, which may differ in speed"] if drawing.over else []
    return lines


def _sample(drawing: Drawing) -> str:
    """Return how many trials, or rounds, are behind each mark."""
    counts = [point.mark.n for point in drawing.points()]
    least, most = min(counts), max(counts)
    number = f"{least}" if least == most else f"{least} to {most}"
    if drawing.measured.is_change:
        return f"n = {number} {form_for(most, 'round')}"
    each = {"box": "every trial", "cdf": "the share of trials that took no longer"}.get(drawing.kind, "medians")
    return f"{each}, n = {number} {form_for(most, 'trial')} a cell"


def _broken(line: str) -> list[str]:
    """Return it in lines that a chart has room for, broken between pairs of arms."""
    lines = [""]
    for part in line.split("; "):
        longer = f"{lines[-1]}; {part}" if lines[-1] else part
        lines = [*lines[:-1], longer] if len(longer) <= MOST_LETTERS else [*filter(None, lines), part]
    return lines


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
