"""From what the bed recorded of a fetch to a judged record: captures read, evidence checked, artifacts packed."""

import json
from collections.abc import Mapping
from dataclasses import replace

from lanelab.driver.arm.browsers.har import har
from lanelab.driver.arm.gateway.fetcher import FILES
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.writing import writing
from lanelab.driver.record.evidence.fetch import FetchEvidence
from lanelab.driver.record.metrics import FETCH
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.fetch.bound import fetch_bound
from lanelab.driver.trial.fetch.expectation import ExpectedFetch, as_fetched
from lanelab.driver.trial.fetch.judges import flags, judge
from lanelab.driver.trial.fetch.requests import measures_of, requests_of
from lanelab.driver.trial.page_load.captures import CLIENT, Captures
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.finish import (
    Work,
    artifact_names,
    compress,
    pack_captures,
    places,
    read_link,
    summaries,
)
from lanelab.driver.trial.page_load.gateways import KEYS
from lanelab.driver.trial.page_load.link_reading import link_measures
from lanelab.driver.trial.page_load.server_log import ACCESS_LOG
from lanelab.driver.trial.page_load.streams import stream_measures
from lanelab.driver.trial.page_load.witnesses import Witnesses
from lanelab.driver.trial.recorders.registry import packed
from lanelab.driver.trial.workload import TrialContext

HAR = "page.har.gz"
OF_STREAMS = ("data_frames", "stream_switches")  # those of pushes are none of a fetch
PACKED = (ACCESS_LOG, FILES["log"], FILES["report"])  # and what recorders say


def finish(data: object, context: TrialContext) -> TrialRecord:
    """Return the record with its measures and its verdict. Leaves in the folder exactly what is to be kept."""
    settings, rules = context.fetch, context.experiment
    if settings is None:
        raise TypeError("a fetch needs its settings")
    try:
        record = TrialRecord.from_json(data)
    except RecordError as error:
        started = data.get("started_utc") if isinstance(data, Mapping) else None
        started_utc = started if isinstance(started, str) else utc_now()
        record = TrialRecord.not_started(FETCH, started_utc, Reason.EVIDENCE_MISSING, str(error))
        return replace(record, artifacts=artifact_names(context.folder))
    if record.fetch is None:
        failure = Failure(Reason.EVIDENCE_MISSING, "the record lacks evidence")
        return replace(record, failures=(*record.failures, failure), artifacts=artifact_names(context.folder))
    arm = as_fetched(context.arm, settings)
    context = replace(context, arm=arm)
    load = Expected(arm, context.site, context.link, rules.tolerances, rules.recorders)
    captures = Captures(context.folder, record.fetch.capture)
    work = Work(replace(record, requests=requests_of(record.fetch, arm.scheme)), context, captures)
    for step in (summaries, places, read_link):
        work = step(work)
    record = _judged(work.record, ExpectedFetch(settings, load), captures)
    with writing("store the files of a trial"):
        _pack(record, context, captures)
    return replace(record, artifacts=artifact_names(context.folder))


def _judged(record: TrialRecord, expected: ExpectedFetch, captures: Captures) -> TrialRecord:
    evidence = record.evidence
    if not isinstance(evidence, FetchEvidence):
        raise RecordError("the record lacks evidence")
    evidence = replace(evidence, witnesses=Witnesses.of(evidence, expected.arm).names() if evidence.fetch else None)
    record = replace(record, evidence=evidence)
    streams = stream_measures(evidence.gateway)
    measures = {
        **record.measures,
        **measures_of(evidence),
        **link_measures(evidence, expected.link),
        **{name: streams[name] for name in OF_STREAMS if name in streams},
        "bound_ms": fetch_bound(expected.link, expected.arm, expected.settings, record),
    }
    record = replace(record, measures=measures)
    timeline = lambda: captures.timeline(CLIENT) if CLIENT in evidence.packets else None  # noqa: E731
    failures = tuple(judge(record, expected, timeline))
    return replace(record, failures=failures, flags=(*record.flags, *flags(record, expected, timeline)))


def _pack(record: TrialRecord, context: TrialContext, captures: Captures) -> None:
    """Compress texts; the keys are with the captures."""
    for node in pack_captures(captures):
        captures.file(node).unlink()
    (context.folder / KEYS).unlink(missing_ok=True)
    compress(context.folder / HAR, json.dumps(har(record)).encode())
    for name in (*PACKED, *packed(context.experiment.recorders)):
        path = context.folder / name
        if path.is_file():
            compress(context.folder / f"{name}.gz", path.read_bytes())
            path.unlink()
