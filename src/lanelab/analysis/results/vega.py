"""Charts as data, in the words of Vega-Lite: marks of rows, whose channels show fields.

Only what charts here need, and nothing is checked: tests hold each kind of chart against the schema of Vega-Lite.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.1.0.json"
TYPES = {"Q": "quantitative", "N": "nominal"}
SECOND_ENDS = ("x2", "y2")  # channels that have the type of the first end

Part = dict[str, Any]  # of a specification
Rows = Sequence[Mapping[str, Any]]


def options(**given: Any) -> Part:  # noqa: ANN401
    """Return what is set of an axis, a scale or a legend."""
    return given


def shown(shorthand: str, **how: Any) -> Part:  # noqa: ANN401
    """Return the channel of a field, which is written `name:Q` or `name:N`."""
    name, _, kind = shorthand.rpartition(":")
    return {"field": name, "type": TYPES[kind], **how}


@dataclass(frozen=True, slots=True)
class Chart:
    """Rows, how they are marked, and what their channels show."""

    rows: Rows
    look: Part = field(default_factory=dict)
    channels: Part = field(default_factory=dict)

    def mark(self, kind: str, **look: Any) -> "Chart":  # noqa: ANN401
        return replace(self, look={"type": kind, **look})

    def encode(self, **channels: Mapping[str, Any] | str) -> "Chart":
        """Return the chart with channels, which may be written as the field that they show."""
        parts = {name: _channel(name, each) for name, each in channels.items()}
        return replace(self, channels={**self.channels, **parts})


@dataclass(frozen=True, slots=True)
class Layers:
    """Charts one above the other."""

    charts: Sequence[Chart]
    width: float
    height: float
    title: Part | None = None


def specify(panels: Sequence[Layers], **arrangement: Any) -> Part:  # noqa: ANN401
    """Return the specification of one panel, or of several that are arranged."""
    names: dict[int, tuple[str, Rows]] = {}  # rows that several charts show are there once
    for chart in _charts(panels):
        names.setdefault(id(chart.rows), (f"data-{len(names) + 1}", chart.rows))
    parts = [_panel(panel, {at: name for at, (name, _) in names.items()}) for panel in panels]
    whole = parts[0] if len(parts) == 1 else {"concat": parts, **arrangement}
    return {"$schema": SCHEMA, **whole, "datasets": dict(names.values())}


def _charts(panels: Sequence[Layers]) -> Iterator[Chart]:
    return (chart for panel in panels for chart in panel.charts)


def _panel(panel: Layers, names: Mapping[int, str]) -> Part:
    layers = [
        {"data": {"name": names[id(chart.rows)]}, "mark": chart.look, "encoding": dict(sorted(chart.channels.items()))}
        for chart in panel.charts
    ]
    titled = {"title": panel.title} if panel.title else {}
    return {"layer": layers, "width": panel.width, "height": panel.height, **titled}


def _channel(name: str, given: Mapping[str, Any] | str) -> Mapping[str, Any]:
    channel = shown(given) if isinstance(given, str) else given
    return {key: value for key, value in channel.items() if key != "type"} if name in SECOND_ENDS else channel
