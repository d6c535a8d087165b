"""What was published in a figure's place, as it is drawn beside what was measured. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lanelab.analysis.results.axes import Dimension
from lanelab.analysis.results.model import Figure


@dataclass(frozen=True, slots=True)
class PublishedPoint:
    series: str
    colour: int  # that of the measured series
    x: float | None
    text: str  # of x
    value: float  # in the unit of the axis
    words: str  # for a reader who points at it


@dataclass(frozen=True, slots=True)
class PublishedFigure:
    """Points, and where the axis of their values ended."""

    points: tuple[PublishedPoint, ...] = ()
    axis: float | None = None
    source: str = ""
    left_out: int = 0  # points that are not drawn: with several panels, nobody knows to which one they belong

    @property
    def ends(self) -> list[float]:
        """Return what the axis of the chart has to reach."""
        return [*(point.value for point in self.points), *([] if self.axis is None else [self.axis])]


def published_figure(
    figure: Figure, x: Dimension, colours: Mapping[str, int], *, panels: int, unit: str, named: Callable[[str], str]
) -> PublishedFigure:
    """Draw a published figure. `colours` are those of the series that are drawn, by name; `panels` is how many the
    figure has; `named`: what the drawing calls a series."""
    if panels > 1:
        return PublishedFigure((), figure.published_axis, figure.published_source, len(figure.published))
    places = {place.text: place for place in x.places}
    points = tuple(
        PublishedPoint(
            named(series),
            colours.get(series, 0),
            places[text].number,
            text,
            value,
            f"{', '.join(filter(None, [series, text]))}: published as {value:,.6g} {unit}".rstrip(),
        )
        for series, text, value in figure.published
        if text in places and (series in colours or not series)
    )
    left_out = len(figure.published) - len(points)
    return PublishedFigure(points, figure.published_axis, figure.published_source, left_out)


def about_published(published: PublishedFigure) -> str:
    """Return a sentence for the caption; "" where nothing was published."""
    source = f" ({published.source})" if published.source else ""
    words = f" Hollow marks are as published{source}." if published.points else ""
    if published.left_out:
        words += f" {published.left_out} published points have no place of their own here, and are not drawn."
    if published.axis is not None:
        words += f" The dashed line is where the published axis ended: {published.axis:,.6g}."
    return words
