"""The key `workload`, where a server is put under load: from what is written to the settings of one or more loads."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.origins import ORIGINS
from lanelab.driver.arm.streams import USUAL
from lanelab.driver.arm.third_parties import OF_THIRD_PARTIES
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.settings.kinds import NUMBER, near_miss
from lanelab.driver.base.settings.setting import Values
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.load_tables import FETCH_KEYS, LOAD_STAGE, LOAD_USERS, WORKLOAD
from lanelab.driver.experiment.model import Cell, LinkCase
from lanelab.driver.experiment.user_files import read_script
from lanelab.driver.record.metrics import FETCH, LOAD, PAGE_LOAD, metrics_of
from lanelab.driver.trial.load_settings import PAGE, SCRIPTS, LoadSettings, Stage
from lanelab.driver.trial.server_load.generator import OF_CONNECTIONS, OF_USERS, Generator
from lanelab.driver.trial.server_load.registry import GENERATORS

MOST_LOADS = 100
BEFORE = "server_load"  # a workload that lanelab had
_STEADY = "Write users: 100 with duration: 60s, or users: {from: 1, to: 100, over: 2min}"


@dataclass(frozen=True, slots=True)
class LoadCase:
    """One load of a grid."""

    label: str  # "" where there is one only
    settings: LoadSettings


def workload_of(written: Written | None) -> tuple[str, dict[str, Written]]:
    """Return what a trial does, and the keys beside `kind`."""
    if written is None:
        return PAGE_LOAD, {}
    if not written.is_mapping:
        if written.text() == BEFORE:
            remedy = "Write workload: {kind: load, generator: spdy-load}, with the keys that were below load"
            raise written.error(f"there is no {BEFORE} any more: it is a part of load now", remedy)
        with written.placed({}):
            return WORKLOAD["kind"].setting.read(written.text(), ""), {}
    entries = WORKLOAD.entries(written)
    kind: str = WORKLOAD.values_of({name: entry for name, entry in entries.items() if name == "kind"})["kind"]
    others = {name: entry for name, entry in entries.items() if name != "kind"}
    for name, entry in others.items():
        owner = FETCH if name in FETCH_KEYS else LOAD
        if owner != kind:
            raise entry.error(f"{name} means nothing with kind: {kind}", f"Leave it out, or write kind: {owner}")
    return kind, others


def refuse_streams(written: Written, arms: Sequence[Arm]) -> None:
    """Raises InputError for settings of streams: generators follow none and tell of none, but for k6's window."""
    for arm in arms:
        for name, usual in USUAL.items():
            if name != "stream_window" and getattr(arm, name) != usual:
                what = f"{arm.name}: {name} cannot be verified under load"
                raise written.error(what, f"Leave it out, or write workload: {PAGE_LOAD}")


def refuse_third_parties(written: Written, arms: Sequence[Arm]) -> None:
    """Raises InputError for what an arm does to third parties: generators ask for a page alone, and tell of no wait."""
    for arm in arms:
        for name in (*OF_THIRD_PARTIES, ORIGINS):
            if getattr(arm, name):
                what = f"{arm.name}: {name} cannot be verified under load"
                raise written.error(what, f"Leave it out, or write workload: {PAGE_LOAD}")


def refuse_ways_to_h3(written: Written, arms: Sequence[Arm]) -> None:
    """Raises InputError for how a browser comes to HTTP/3: a generator begins with it, and sends no early data."""
    for arm in arms:
        for name, usual in (("h3_discovery", "forced"), ("early_data", False)):
            if getattr(arm, name) != usual:
                what = f"{arm.name}: {name} is a browser's: under load connections begin by QUIC, without early data"
                raise written.error(what, f"Leave it out, or write workload: {PAGE_LOAD}")


def read_loads(written: Written, entries: Mapping[str, Written]) -> tuple[LoadCase, ...]:
    """Return every load of the grid that `users`, `arrivals` or `connections` make. `written`: the key itself."""
    values = WORKLOAD.values_of({name: entry for name, entry in entries.items() if name != "connections"})
    generator = GENERATORS[values["generator"]]
    for name in entries:
        if name in (OF_USERS | OF_CONNECTIONS) - generator.keys:
            raise entries[name].error(f"{name} means nothing with generator: {generator.name}", "Leave it out")
    script, script_text = _read_script(entries.get("script"))
    settings = LoadSettings(
        generator=generator.name,
        script=script if generator.has_users else "",
        script_text=script_text,
        users=(),
        arrivals=(),
        think_s=values["think"].seconds,
        limit_ms=values["limit"].milliseconds,
        warm_up_s=values["warm_up"].seconds,
        request_timeout_s=values["request_timeout"].seconds,
        parameters=_read_parameters(entries.get("parameters")),
        thresholds=_read_thresholds(entries.get("thresholds")),
        connections=1,
        streams=values["streams"],
        requests=0 if generator.usual_s else values["requests"],
        lasts_s=_lasts_s(values["duration"], generator),
        most_bytes=values["most"],
    )
    cases = _of_users(written, entries, settings, values) if generator.has_users else _of_connections(entries, settings)
    for case in cases:
        _check(entries, case.settings)
    return cases


def over_loads(cells: Sequence[Cell], cases: Sequence[LoadCase]) -> tuple[Cell, ...]:
    """Return each cell with each load."""
    return tuple(replace(cell, link=_loaded(cell.link, case)) for cell, case in itertools.product(cells, cases))


def _loaded(link: LinkCase, case: LoadCase) -> LinkCase:
    label = f"{link.label}, {case.label}" if case.label else link.label
    return LinkCase(label, link.link, case.settings)


def _of_users(
    written: Written, entries: Mapping[str, Written], settings: LoadSettings, values: Values
) -> tuple[LoadCase, ...]:
    given = [name for name in ("users", "arrivals") if name in entries]
    if len(given) != 1:
        what = "there are both users and arrivals" if given else "it says neither users nor arrivals"
        raise (entries["arrivals"] if given else written).error(what, f"Write one of them. {_STEADY}")
    name = given[0]
    elements, duration = entries[name].elements(), values["duration"]
    if len(elements) > MOST_LOADS:
        raise entries[name].error(f"this grid is {len(elements)} loads, more than {MOST_LOADS}", "Write fewer values")
    cases = []
    for element in elements:
        if element.is_mapping:
            if duration is not None:
                what = "duration is of a steady number, and here are stages with a time each"
                raise entries["duration"].error(what, "Leave duration out")
            stages = _read_stages(element)
        else:
            stages = _steady(element, name, duration)
        changed = replace(settings, users=stages) if name == "users" else replace(settings, arrivals=stages)
        cases.append(LoadCase("" if len(elements) == 1 else label_of(changed), changed))
    _refuse_twice(entries[name], cases)
    return tuple(cases)


def _lasts_s(duration: Duration | None, generator: Generator) -> float:
    """Return for how long a load goes on where neither users nor a number of requests say it."""
    return duration.seconds if duration and generator.usual_s else generator.usual_s


def _steady(element: Written, name: str, duration: Duration | None) -> tuple[Stage, ...]:
    with element.placed({}):
        number = float(LOAD_USERS["to"].setting.read(element.text(), ""))
    if number == 0:
        raise element.error(f"0 {name} do nothing", "Write 1 or more")
    if duration is None or not duration:
        raise element.error(f"{name} {number:g} need a duration", f"Write duration: 60s too. {_STEADY}")
    return (Stage(number, 0.0), Stage(number, duration.seconds))


def _read_stages(element: Written) -> tuple[Stage, ...]:
    entries = LOAD_USERS.entries(element)
    values = LOAD_USERS.values_of({name: entry for name, entry in entries.items() if name != "stages"})
    first = Stage(float(values["from"]), 0.0)
    if "stages" in entries:
        for name in ("to", "over"):
            if name in entries:
                raise entries[name].error(f"there are stages too, each with its {name}", "Leave one of them out")
        parts = [_read_stage(one) for one in entries["stages"].elements()]
        return (first, *parts)
    if values["to"] is None or values["over"] is None:
        raise element.error("a ramp needs to and over", _STEADY)
    return (first, _stage(values))


def _read_stage(element: Written) -> Stage:
    entries = LOAD_STAGE.entries(element)
    values = LOAD_STAGE.values_of(entries)
    for name in ("to", "over"):
        if values[name] is None:
            raise element.error(f"it has no {name}", "Write it like {to: 100, over: 30s}")
    return _stage(values)


def _stage(values: Values) -> Stage:
    return Stage(float(values["to"]), values["over"].seconds)


def label_of(load: LoadSettings) -> str:
    """Label a load of users or arrivals, beside others."""
    stages, unit = load.users or load.arrivals, "users" if load.users else "arrivals/s"
    if len({stage.target for stage in stages}) == 1:
        return f"{stages[0].target:g} {unit}"
    return " to ".join(f"{stage.target:g}" for stage in stages) + f" {unit} in {sum(s.over_s for s in stages):g} s"


def _of_connections(entries: Mapping[str, Written], settings: LoadSettings) -> tuple[LoadCase, ...]:
    setting = WORKLOAD["connections"].setting
    if "connections" not in entries:
        return (LoadCase("", replace(settings, connections=setting.default_value())),)
    elements = entries["connections"].elements()
    cases = []
    for element in elements:
        with element.placed({}):
            number = setting.read(element.text(), "")
        label = "" if len(elements) == 1 else counted(number, "connection")
        cases.append(LoadCase(label, replace(settings, connections=number)))
    _refuse_twice(entries["connections"], cases)
    return tuple(cases)


def _refuse_twice(written: Written, cases: Sequence[LoadCase]) -> None:
    if len({case.label for case in cases}) < len(cases):
        raise written.error("one value is there twice", "Remove one of them")


def _read_script(written: Written | None) -> tuple[str, str]:
    """Return the name of a script of lanelab's; or the path of a user's, below the experiment file, and its text."""
    if written is None:
        return PAGE, ""
    name = written.text().strip()
    if name in SCRIPTS:
        return name, ""
    if PurePosixPath(name).suffix != ".js":
        remedy = f"{near_miss(name, SCRIPTS)}Write {', '.join(SCRIPTS)}, or the path of a k6 script, like users.js"
        raise written.error(f"there is no script {name[:60]!r}", remedy)
    return name, read_script(written, name)


def _read_parameters(written: Written | None) -> tuple[tuple[str, str], ...]:
    parameters = []
    for name, entry in written.entries().items() if written else ():
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,63}", name):
            raise entry.error(f"{name[:60]!r} cannot name a parameter", "Write letters, digits and underscores")
        parameters.append((name, entry.text()))
    return tuple(parameters)


def _read_thresholds(written: Written | None) -> tuple[tuple[str, float], ...]:
    known = [metric.key for metric in metrics_of(LOAD)]
    limits = []
    for name, entry in written.entries().items() if written else ():
        if name not in known:
            remedy = f"{near_miss(name, known)}Write one of {', '.join(known)}"
            raise entry.error(f"loads have no metric {name[:60]!r}", remedy)
        text = entry.text()
        if not re.fullmatch(NUMBER, text):
            raise entry.error(f"{text[:60]!r} is no number", "Write the highest value, in the metric's unit")
        limits.append((name, float(text)))
    return tuple(limits)


def _check(entries: Mapping[str, Written], settings: LoadSettings) -> None:
    """Refuse settings of a load that cannot go together."""
    if not GENERATORS[settings.generator].has_users:
        return
    if settings.request_timeout_s <= 0:
        raise entries["request_timeout"].error("no request could be answered", "Write one like 60s")
    if settings.duration_s <= 0:
        raise entries["users" if settings.users else "arrivals"].error("it takes no time", _STEADY)
    if not any(stage.target for stage in settings.users or settings.arrivals):
        raise entries["users" if settings.users else "arrivals"].error("nobody ever comes", _STEADY)
    if settings.warm_up_s >= settings.duration_s:
        what = f"the warm-up takes {settings.warm_up_s:g} s of the {settings.duration_s:g} s that the load takes"
        raise entries["warm_up"].error(what, "Write a shorter one")
    if settings.open_model and settings.think_s:
        what = "arrivals come when they are due, so nobody thinks between two pages"
        raise entries["think"].error(what, "Leave think out, or write users")
