"""Events of a run from their JSON, as `lanelab run --events` and `--json` write it: lanelab.events.read_event."""

from collections.abc import Mapping
from dataclasses import fields

from lanelab.driver.run import events
from lanelab.driver.run.missing import TrialsMissing
from lanelab.driver.run.sweep import events as sweep_events

RUN_EVENTS: tuple[type[events.Event], ...] = (*events.EVENTS, TrialsMissing, *sweep_events.EVENTS)
_KINDS = {each.kind: each for each in RUN_EVENTS}


def read_event(data: object) -> events.Event:
    """Return the event that a line of JSON stands for. RecordError for an event that this lanelab does not know. Keys
    that it does not know are left out: a newer one may write them."""
    given = dict(data) if isinstance(data, Mapping) else {}
    kind = _KINDS.get(str(given.get("event")))
    if kind is sweep_events.OnWorker and {"worker", "name", "told"} <= given.keys():
        return sweep_events.OnWorker(str(given["worker"]), str(given["name"]), read_event(given["told"]))
    if given.get("event") == events.TrialStored.kind:
        names = {*(field.name for field in fields(events.TrialStored)), str(given.get("metric")), "status"}
        return events.read_event({"event": events.TrialStored.kind, **_only(given, names)})
    if kind is None:
        return events.read_event(given)
    return kind.from_json(_only(given, {field.name for field in fields(kind)}))


def _only(given: Mapping[str, object], names: set[str]) -> dict[str, object]:
    return {name: value for name, value in given.items() if name in names}
