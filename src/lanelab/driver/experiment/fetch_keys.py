"""The key `workload`, where objects are fetched without a browser: from what is written to the settings of one or
more fetches; and what a fetch cannot have, by name."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import ARM, OWNERS
from lanelab.driver.arm.proxies.fields import NONE as NO_PROXY
from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.load_tables import WORKLOAD
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.record.metrics import FETCH, PAGE_LOAD
from lanelab.driver.trial.fetch.settings import ALL, FetchSettings

# Settings of an arm that a fetch follows, beside those that only one server has: what is spoken on the link, and what
# is served. All others are a browser's, or of a page.
FOLLOWED = frozenset((
    *("server", "protocol", "tls", "tls_resumption", "tls_certificate", "tls_key_share", "keepalive"),
    *("keepalive_requests", "keepalive_timeout", "compression", "server_directives", "pipelining", "pipelining_policy"),
    *("connections_per_host", "coalescing", "backup_connections", "spdy_header_compression", "stream_window"),
    *("connection_window", "max_concurrent_streams", "server_max_streams", "priorities", "scheduling", "dns"),
    *("addresses", "copy"),
))  # fmt: skip
KNOWN_BODIES = ("recorded", "off")  # compressions whose bodies are known before a server sends them
_OTHERWISE = f"Leave it out, or write workload: {PAGE_LOAD}"


@dataclass(frozen=True, slots=True)
class FetchCase:
    """One fetch of a grid."""

    label: str  # "" where there is one only
    settings: FetchSettings


def read_fetches(entries: Mapping[str, Written], arms: Sequence[Arm]) -> tuple[FetchCase, ...]:
    """Return every fetch of the grid that `at_once` makes. `entries`: the keys beside `kind`."""
    single = {name: entry for name, entry in entries.items() if name not in ("objects", "at_once")}
    warm = WORKLOAD.values_of(single)["warm"]
    closing = next((arm for arm in arms if not arm.keepalive), None)
    if warm and closing:
        what = f"in the arm {closing.name!r} no connection carries a second object, and so none is warm"
        raise entries["warm"].error(what, "Leave warm out, or keepalive: false")
    patterns = _patterns(entries.get("objects"))
    numbers = _numbers(entries.get("at_once"))
    return tuple(
        FetchCase("" if len(numbers) == 1 else f"{number} at once", FetchSettings(patterns, number, warm))
        for number in numbers
    )


def over_fetches(cells: Sequence[Cell], cases: Sequence[FetchCase]) -> tuple[Cell, ...]:
    """Return each cell with each fetch."""
    return tuple(replace(cell, link=_fetched(cell.link, case)) for cell, case in itertools.product(cells, cases))


def _fetched(link: LinkCase, case: FetchCase) -> LinkCase:
    label = f"{link.label}, {case.label}" if case.label else link.label
    return replace(link, label=label, fetch=case.settings)


def _numbers(written: Written | None) -> tuple[int, ...]:
    setting = WORKLOAD["at_once"].setting
    if written is None:
        return (setting.default_value(),)
    numbers: list[int] = []
    for element in written.elements():
        with element.placed({}):
            number = setting.read(element.text(), "")
        if number in numbers:
            raise element.error("one value is there twice", "Remove one of them")
        numbers.append(number)
    return tuple(numbers)


def _patterns(written: Written | None) -> tuple[str, ...]:
    if written is None:
        return (ALL,)
    patterns = []
    for element in written.elements():
        pattern = element.text().strip()
        if not pattern or any(letter.isspace() for letter in pattern):
            raise element.error(f"{pattern[:60]!r} is no pattern", "Write an address or a path, with * for anything")
        if pattern in patterns:
            raise element.error(f"{pattern} is there twice", "Remove one of them")
        patterns.append(pattern)
    return tuple(patterns)


def refuse_what_no_fetch_has(entries: Mapping[str, Written], arms: Sequence[Arm]) -> None:
    """Raises InputError for a setting of an arm that a fetch does not follow."""
    for arm in arms:
        changed = arm.changed()
        for name in sorted(_written_names(entries, arm.name)):
            if name == "via":
                what = "nothing stands between the fetcher and the server"
                raise _where(entries, arm.name, name).error(f"{arm.name}: {what}", "Leave it out")
            if name in ARM and name not in FOLLOWED and name not in OWNERS and name in changed:
                what = f"{arm.name}: {name} means nothing with workload: {FETCH}, which has no browser and no page"
                raise _where(entries, arm.name, name).error(what, _OTHERWISE)
        for name, what, remedy in _impossible(arm):
            raise _where(entries, arm.name, name).error(f"{arm.name}: {what}", remedy)


def _impossible(arm: Arm) -> Iterator[tuple[str, str, str]]:
    """Yield settings that a fetch follows and whose value it cannot have: name, why, what to do."""
    if arm.compression not in KNOWN_BODIES:
        what = f"what a server makes of a body with {arm.compression} has no SHA-256 that is known before"
        yield "compression", what, f"Write compression: {' or '.join(KNOWN_BODIES)}"
    if arm.proxy != NO_PROXY:
        yield "proxy", "fetches through a proxy cannot be judged", "Leave proxy out"


def refuse_what_changes_nothing(
    entries: Mapping[str, Written], arms: Sequence[Arm], fetches: Sequence[FetchCase]
) -> None:
    """Raises InputError for a setting of an arm that is followed, and yet makes no fetch another one. One in `defaults`
    may be for other arms."""
    most = max(case.settings.at_once for case in fetches)
    idle = {arm.name: [*_all_alike(arm), *_never_side_by_side(arm, most)] for arm in arms}
    for arm in arms:
        for name, what, remedy in idle[arm.name]:
            others = [each for each in arms if name in each.changed()]
            works = any(name not in {setting for setting, _, _ in idle[each.name]} for each in others)
            if name in _settings_of(entries, arm.name) or not works:
                raise _where(entries, arm.name, name).error(f"{arm.name}: {what}", remedy)


def _all_alike(arm: Arm) -> Iterator[tuple[str, str, str]]:
    """Yield settings of SPDY that tell requests of different urgency apart: all of a fetch are of the same. (HTTP/2
    tells the server in which order to answer those of one urgency, and `flat` or `none` do not.)"""
    if arm.spdy and arm.priorities == "flat":
        what = f"all requests of a fetch have one priority, and in {arm.protocol} flat says nothing else"
        yield "priorities", what, "Leave it out"
    if arm.spdy and arm.scheduling == "round-robin":
        what = "all requests of a fetch have one priority, so streams take turns with scheduling: priority, too"
        yield "scheduling", what, "Leave it out, or write scheduling: fifo"


def _never_side_by_side(arm: Arm, at_once: int) -> Iterator[tuple[str, str, str]]:
    """Yield settings that need more requests under way at once than there are. `at_once`: the most of all fetches."""
    if arm.spdy and at_once == 1 and arm.scheduling != "priority":
        what = "one object is under way at once, so the server has nothing to choose from"
        yield "scheduling", what, "Write a larger at_once in workload, or leave it out"
    # Firefox and Chromium put requests behind others before all connections are in use.
    fewest = arm.connections_per_host if arm.pipelining_policy == "eager" else 1
    if arm.pipelining > 1 and at_once <= fewest:
        one = "one object is" if at_once == 1 else f"{at_once} objects are"
        what = f"{one} under way at once, each on a connection of its own, so none is asked for ahead of an answer"
        yield "pipelining", what, "Write a larger at_once in workload, a smaller connections_per_host, or leave it out"


def _written_names(entries: Mapping[str, Written], arm: str) -> set[str]:
    """Return the settings that the file says of an arm, by their own names."""
    return {*_settings_of(entries, arm), *(entries["defaults"].entries() if "defaults" in entries else ())}


def _settings_of(entries: Mapping[str, Written], arm: str) -> Mapping[str, Written]:
    written = entries["arms"].entries().get(arm)
    return {} if written is None or written.absent else written.entries()


def _where(entries: Mapping[str, Written], arm: str, name: str) -> Written:
    """Return where the file says it; the arm where it follows from something else."""
    settings = _settings_of(entries, arm)
    if name in settings:
        return settings[name]
    defaults = entries["defaults"].entries() if "defaults" in entries else {}
    return defaults.get(name) or entries["arms"].entries().get(arm) or entries["arms"]
