"""A chart that an experiment asks for, as its run keeps it. Pure data: who reads a run needs no more of experiments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from lanelab.driver.base.coded import Coded, parsed


@dataclass(frozen=True, slots=True)
class Published(Coded):
    """The values that were published in a figure's place, in the unit of its values."""

    source: str
    axis: float | None  # where the published axis of the values ended
    points: tuple[tuple[str, str, float], ...]  # (series, x, value); series "" where the figure has none


class KeptFigure(TypedDict):
    """A figure in a run's folder."""

    title: str
    x: str | None
    y: str
    series: str | None
    kind: str
    facet: str | None
    only: Mapping[str, list[str]]
    scale: str
    published: object  # Published as JSON, or None
    every_s: NotRequired[float]
    limit_ms: NotRequired[float]


@dataclass(frozen=True, slots=True)
class Figure:
    """One chart: what is drawn (y) over what (x), which curves there are, and which cells it shows.

    Whatever varies in these cells is x, series or facet; `only` leaves out the others.
    """

    title: str
    x: str | None  # arm, site, link, or a setting of the link; None for cdf
    y: str
    series: str | None
    kind: str
    facet: str | None
    only: tuple[tuple[str, tuple[str, ...]], ...]
    scale: str = ""  # of the values: zero, fit or log; "": as the kind has it
    published: Published | None = None
    every_s: float | None = None  # of a series; None: as the analysis chooses
    limit_ms: float | None = None  # that is drawn into it; None: none

    def to_json(self) -> KeptFigure:
        kept: KeptFigure = {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "series": self.series,
            "kind": self.kind,
            "facet": self.facet,
            "only": {name: list(values) for name, values in self.only},
            "scale": self.scale,
            "published": self.published.to_json() if self.published else None,
        }
        if self.every_s is not None:
            kept["every_s"] = self.every_s
        if self.limit_ms is not None:
            kept["limit_ms"] = self.limit_ms
        return kept

    @classmethod
    def from_json(cls, data: object) -> "Figure":
        kept = parsed(KeptFigure, data, "a figure of the run")
        return cls(
            title=kept["title"],
            x=kept["x"],
            y=kept["y"],
            series=kept["series"],
            kind=kept["kind"],
            facet=kept["facet"],
            only=tuple((name, tuple(values)) for name, values in kept["only"].items()),
            scale=kept["scale"],
            published=Published.from_json(kept["published"]) if kept["published"] else None,
            every_s=kept.get("every_s"),
            limit_ms=kept.get("limit_ms"),
        )
