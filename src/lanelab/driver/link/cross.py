"""Cross traffic: bulk TCP flows over the link, beside what a trial loads."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, near_miss
from lanelab.driver.link.kinds import DIRECTIONS, NAME

MOST_FLOWS = 32
NONE = "none"
EXAMPLE = "{flows: 2, cc: cubic}"
PARTS = ("flows", "cc", "way")
TEXT = re.compile(r"([0-9]{1,6}) +(?:x +)?([a-z0-9_]{1,15})(?: +([a-z]+))?")


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """Other users of the link: so many flows, in one direction. With no flow nobody else uses it."""

    flows: int
    congestion_control: str = "cubic"
    way: str = "down"  # to the client

    def __bool__(self) -> bool:
        return self.flows > 0

    def __str__(self) -> str:
        return f"{self.flows} {self.congestion_control} {self.way}" if self else NONE


NO_CROSS = CrossTraffic(0)


def _cross(value: object, key: str) -> CrossTraffic:
    if isinstance(value, Mapping):
        return _of_parts(value, key)
    text = str(value).strip()
    if text == NONE:
        return NO_CROSS
    if text.startswith("{") and text.endswith("}"):  # as a command line has it
        pairs = (part.partition(":") for part in text[1:-1].split(","))
        return _of_parts({name.strip(): part.strip() for name, _, part in pairs}, key)
    match = TEXT.fullmatch(text)
    if not match:
        raise InputError(f"{value!r} is no cross traffic", f"Write it like {EXAMPLE}, or {NONE}", key=key)
    flows, control, way = match.groups()
    return _of_parts({"flows": flows, "cc": control, **({"way": way} if way else {})}, key)


def _of_parts(parts: Mapping[object, object], key: str) -> CrossTraffic:
    names = {"cc" if name == "congestion_control" else str(name): value for name, value in parts.items()}
    for name in names:
        if name not in PARTS:
            what = f"cross traffic has no {name!r}"
            raise InputError(what, f"{near_miss(name, PARTS)}It has {', '.join(PARTS)}", key=key)
    flows = "" if isinstance(names.get("flows"), bool) else str(names.get("flows", ""))
    if not re.fullmatch(r"[0-9]{1,6}", flows) or not 1 <= int(flows) <= MOST_FLOWS:
        what = f"{flows!r} is no number of flows" if flows else "it does not say how many flows"
        raise InputError(what, f"Write 1 to {MOST_FLOWS}, as in {EXAMPLE}; without cross traffic: {NONE}", key=key)
    way = str(names.get("way", "down"))
    if way not in DIRECTIONS.words:
        remedy = "Write way: down (to the client, as downloads go) or way: up"
        raise InputError(f"{way!r} is no direction", remedy, key=key)
    return CrossTraffic(int(flows), NAME.parse(names.get("cc", "cubic"), key), way)


_PARTS_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "flows": {"type": "integer", "minimum": 1, "maximum": MOST_FLOWS},
        "cc": {"type": "string"},
        "way": {"enum": list(DIRECTIONS.words)},
    },
    "required": ["flows"],
    "additionalProperties": False,
}
CROSS = Kind(
    "FLOWS",
    "`{flows: 2, cc: cubic, way: down}`, or the same as `2 cubic down`; `none`",
    _cross,
    {"anyOf": [{"type": "string"}, _PARTS_SCHEMA]},
)
