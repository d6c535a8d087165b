"""Links of an experiment: a grid becomes single links, and each gets a short name."""

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.dimensions import DIMENSIONS, comparable, without
from lanelab.driver.experiment.model import LinkCase
from lanelab.driver.experiment.traces import FOLLOWS, plain_settings
from lanelab.driver.link import DIRECT, OF_ROUTER, SETTINGS, Link
from lanelab.driver.link.moving.radio import RADIOS
from lanelab.driver.link.moving.trace import shortened
from lanelab.driver.link.profiles import PROFILES, resolve

MOST_LINKS = 1000
LONGEST_LABEL = 60


@dataclass(frozen=True, slots=True)
class RequestedLink:
    """One link as the file asks for it."""

    where: Written
    link: Link
    label: str | None
    profile: str | None
    fields_beside_profile: frozenset[str]  # fields that are set beside the profile


def read_links(written: Written, distances: Written | None = None) -> list[RequestedLink]:
    """Return every link of a grid, or of a list of grids. `distances`: of links that have none of their own."""
    return [requested for grid in written.elements() for requested in _read_grid(grid, distances)]


def _read_grid(grid: Written, distances: Written | None) -> list[RequestedLink]:
    """Read single values, or lists of them, of each setting; or the name of a profile alone."""
    entries = {} if grid.absent else {"profile": grid}
    if not (grid.is_mapping or grid.is_list or grid.absent):
        if (name := grid.text()) not in PROFILES:
            what = f"{name!r} is no profile, and no mapping of settings"
            raise grid.error(what, f"{near_miss(name, PROFILES)}Write settings like {{rtt: 20ms}}, or a profile's name")
    else:
        entries = grid.entries()
    label = entries.pop("label", None)
    if distances:
        entries.setdefault("distances", distances)
    axes = [(key, entry.elements()) for key, entry in entries.items()]
    points = 1
    for _, values in axes:
        points *= len(values)
    if points > MOST_LINKS:
        raise grid.error(f"this grid is {points} links, more than {MOST_LINKS}", "Write fewer values")
    if label and points > 1:
        raise label.error(f"one label cannot name {points} links", "Leave it out: each link gets a label of its own")
    return [
        _read_point(grid, dict(zip((key for key, _ in axes), point, strict=True)), label)
        for point in itertools.product(*(values for _, values in axes))
    ]


def _read_point(grid: Written, values: dict[str, Written], label: Written | None) -> RequestedLink:
    texts, places = plain_settings(values)
    profile = cast("str | None", texts.pop("profile", None))
    with grid.placed(places):
        link = resolve(profile, texts)
    given = frozenset(SETTINGS[key].setting.name for key in texts)
    return RequestedLink(grid, link, _read_label(label) if label else None, profile, given)


def _read_label(label: Written) -> str:
    text = label.text().strip()
    if not text.isprintable() or "," in text or not 0 < len(text) <= LONGEST_LABEL:
        raise label.error("this is no label", f"Write up to {LONGEST_LABEL} characters without a comma")
    return text


@functools.lru_cache(MOST_LINKS)
def stated(link: Link) -> Mapping[str, str]:
    """Return the effective settings without those that just follow from others, as a queue does by default."""
    mapping: dict[str, str] = link.to_mapping()
    for name in {SETTINGS[key].setting.name for key in mapping if SETTINGS[key].setting.needs}:
        fewer = {key: text for key, text in mapping.items() if SETTINGS[key].setting.name != name}
        mapping = fewer if _is_that(link, fewer) else mapping
    return mapping


def settings_without(case: LinkCase, names: Sequence[str]) -> tuple[object, ...]:
    """Return what a link states besides these, and what load or fetch it has: two that agree in it differ in nothing
    else."""
    rest = stated(case.link)
    for name in names:
        rest = without(rest, name)
    done = case.load or case.fetch
    done = None if done and set(names) & done.dimensions().keys() else done
    return (*sorted(rest.items()), done)


def _is_that(link: Link, mapping: Mapping[str, str]) -> bool:
    try:
        return Link.parse(mapping) == link
    except InputError:  # a setting is left that needs what is gone
        return False


def varying(links: Iterable[Link]) -> list[str]:
    """Return settings that are not the same on all links, in the order of the reference."""
    return _varying([stated(link) for link in links])


def varying_cases(cases: Iterable[LinkCase]) -> list[str]:
    """Return the dimensions in which these cases differ: settings of the link, of the load or of the fetch."""
    return _varying([{**stated(case.link), **case.dimensions()} for case in cases])


def _varying(mappings: Sequence[Mapping[str, str]]) -> list[str]:
    mappings = comparable(mappings)
    keys = [key for key in DIMENSIONS if any(key in mapping for mapping in mappings)]
    return [key for key in keys if len({mapping.get(key) for mapping in _with_router(key, mappings)}) > 1]


def _with_router(key: str, mappings: Sequence[Mapping[str, str]]) -> Sequence[Mapping[str, str]]:
    """Return the links in which that key could be: without a router, what it does cannot differ."""
    if key not in SETTINGS or SETTINGS[key].setting.name not in OF_ROUTER:
        return mappings
    return [mapping for mapping in mappings if mapping["path"] != DIRECT]


def name_links(requested: Sequence[RequestedLink]) -> tuple[LinkCase, ...]:
    """Give each distinct link a short label that says what is different about it."""
    different: dict[Link, RequestedLink] = {}
    for one in requested:
        known = different.get(one.link)
        if known is None or (one.label and not known.label):
            different[one.link] = one
        elif one.label and known.label and one.label != known.label:
            what = f"the link {one.label!r} is the same as the link {known.label!r}"
            raise one.where.error(what, "Give it one label")
    keys = varying(different)
    labels = {link: one.label or _label(one, keys) for link, one in different.items()}
    twice = {label for label in labels.values() if list(labels.values()).count(label) > 1}
    for link, one in different.items():
        if labels[link] in twice and not one.label:
            labels[link] = ", ".join(f"{key} {shortened(text)}" for key, text in stated(link).items() if key in keys)
    seen: dict[str, RequestedLink] = {}
    for link, label in labels.items():
        if label in seen:
            what = f"the label {label!r} names another link on line {seen[label].where.line} too"
            raise different[link].where.error(what, "Write another label")
        seen[label] = different[link]
    return tuple(LinkCase(labels[link], link) for link in different)


_FIRST = ("rate", "rate_down", "rate_up", "rtt")
_MOVES = tuple(
    key for key in SETTINGS if SETTINGS[key].setting.name in ("rate_trace", "delay_trace", "outage", "radio")
)
_DELAYS = ("delay_down", "delay_up")  # where they differ, and so there is no rtt


def _label(requested: RequestedLink, keys: Sequence[str]) -> str:
    """Of the profile's settings its name says enough."""
    mapping = stated(requested.link)
    shown = [key for key in keys if key in mapping and key not in ("path", *_follow(mapping))]
    if requested.profile:
        shown = [key for key in shown if SETTINGS[key].setting.name in requested.fields_beside_profile]
    elif not shown:
        plain = Link.parse({}).to_mapping()
        usual = [key for key in (*_FIRST, *_DELAYS, *_MOVES) if key not in _follow(mapping)]
        shown = [key for key in usual if key in mapping and mapping[key] != plain.get(key)]
    words = [requested.profile] if requested.profile else ["direct"] if requested.link.direct else []
    words += _rates({key: mapping[key] for key in shown if key in _FIRST})
    words += [f"{key} {short(mapping[key], key)}" for key in shown if key not in _FIRST]
    return " ".join(words) or "unshaped"


def _follow(mapping: Mapping[str, str]) -> set[str]:
    """Return settings that follow from a trace, which says more."""
    traces = [key for key in mapping if "_trace" in key]
    names = {key.replace("_trace", "") for key in traces}
    for name in FOLLOWS:
        if {f"{name}_trace", f"{name}_trace_down"} & set(traces) and {f"{name}_trace", f"{name}_trace_up"} & set(
            traces
        ):
            names |= {name, f"{name}_down", f"{name}_up", *(["rtt"] if name == "delay" else [])}
    return names


def short(text: str, key: str = "") -> str:
    """Write a value for a label: of a trace its name, of distances how many there are."""
    if key == "distances" and " " in text:
        return f"of {counted(text.count(',') + 1, 'line')}"
    known = {str(radio): name for name, radio in RADIOS.items()}
    return shortened(text).partition(" (")[0] if text.startswith("trace(") else known.get(text, text)


def _rates(texts: Mapping[str, str]) -> list[str]:
    """Rate and round trip need no name: their units say what they are."""
    words = ["unlimited rate" if texts["rate"] == "unlimited" else texts["rate"]] if "rate" in texts else []
    ways = [texts[key] for key in ("rate_down", "rate_up") if key in texts]
    words += ["/".join(ways)] if len(ways) == 2 else [f"{key} {texts[key]}" for key in texts if key.startswith("rate_")]
    return words + ([texts["rtt"]] if "rtt" in texts else [])


def refuse_repeated(requested: Sequence[RequestedLink]) -> None:
    """In the list of links, one that is there twice is a mistake."""
    first: dict[Link, RequestedLink] = {}
    for one in requested:
        if one.link in first:
            where = first[one.link].where
            place = "in the same grid" if where == one.where else f"on line {where.line}"
            what = f"a link with {_words(one.link)} is there twice, here and {place}"
            raise one.where.error(what, "Remove one of them")
        first[one.link] = one


def _words(link: Link) -> str:
    plain = Link.parse({}).to_mapping()
    differs = (f"{key} {shortened(text)}" for key, text in stated(link).items() if plain.get(key) != text)
    return ", ".join(differs) or "no settings"


def find_link(label: Written, cases: Sequence[LinkCase]) -> LinkCase:
    """Return the link with that label."""
    text = label.text().strip()
    for case in cases:
        if case.label == text:
            return case
    names = ", ".join(repr(case.label) for case in cases)
    raise label.error(f"there is no link {text!r}", f"Links here are {names}, or write its settings")


def canonical(key: str, text: str) -> str:
    """Return a setting of the link, or of a load, as it is printed."""
    value = DIMENSIONS.read(key, text)
    if isinstance(value, bool):
        return str(value).lower()
    return text if value is None else str(value)
