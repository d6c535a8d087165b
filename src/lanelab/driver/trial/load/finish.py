"""From what the bed recorded of a load to a judged record, on the controller."""

import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import CaptureError, RecordError
from lanelab.driver.record.evidence.load import Threshold
from lanelab.driver.record.metrics import LOAD, metric_named
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.cross_verdict import cross_failures
from lanelab.driver.trial.load.asked import asked_of
from lanelab.driver.trial.load.derived import derive
from lanelab.driver.trial.load.first_packets import FILE
from lanelab.driver.trial.load.measures import measures_of
from lanelab.driver.trial.load.of_roles import of_roles
from lanelab.driver.trial.load.registry import GENERATORS
from lanelab.driver.trial.load.verdict import Expected, judge
from lanelab.driver.trial.load.waiting import with_waiting
from lanelab.driver.trial.load.wire import wire_witness
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.workload import TrialContext

PACKED = (".jsonl", ".csv", ".log", ".pcap")  # kinds of files that are text, and are stored compressed


def finish(data: object, context: TrialContext) -> TrialRecord:
    """The record with its measures and its verdict."""
    try:
        record = TrialRecord.from_json(data)
    except RecordError as error:
        return TrialRecord.not_started(LOAD, utc_now(), Reason.EVIDENCE_MISSING, str(error))
    settings = context.load
    if settings is None:
        raise TypeError("a load needs its settings")
    record = _with_wire(record, context.folder)
    record = replace(record, series=with_waiting(record.series))
    report = record.load.generator if record.load else None
    if report:
        measures = {
            **derive(record.series, settings),
            **of_roles(record.series, settings),
            **record.measures,
            **measures_of(report),
        }
        record = replace(record, measures=measures)
    if record.load:
        evidence = replace(record.load, thresholds=compare_thresholds(settings, record.measures))
        record = replace(record, evidence=evidence)
    threads = GENERATORS[settings.generator].threads(settings)
    asked = asked_of(context.site, settings, context.arm.scheme)
    expected = Expected(context.arm, settings, frozenset(context.experiment.recorders), threads, asked.body_sizes)
    record = replace(record, failures=(*judge(record, expected), *cross_failures(record, context.link)))
    _pack(context.folder)
    return replace(record, artifacts=tuple(sorted(path.name for path in context.folder.iterdir())))


def compare_thresholds(settings: LoadSettings, measures: Mapping[str, float]) -> tuple[Threshold, ...]:
    """Each threshold of the experiment file with the value that this trial had."""
    found = []
    for key, highest in settings.thresholds:
        metric = metric_named(key)
        value = measures.get(metric.name) if metric else None
        found.append(Threshold(key, highest, value / metric.scale if metric and value is not None else None))
    return tuple(found)


def _with_wire(record: TrialRecord, folder: Path) -> TrialRecord:
    """The record with what its first packets say."""
    path = folder / FILE
    if record.load is None or not path.is_file():
        return record
    try:
        witness = wire_witness(path)
    except CaptureError as error:
        failure = Failure(Reason.CAPTURE_LOST_PACKETS, f"the first packets cannot be read: {error}")
        return replace(record, failures=(*record.failures, failure))
    return replace(record, evidence=replace(record.load, wire=witness))


def _pack(folder: Path) -> None:
    for path in [each for each in folder.iterdir() if each.suffix in PACKED]:
        data = path.read_bytes()
        with (
            path.with_name(f"{path.name}.gz").open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out,
        ):
            out.write(data)
        path.unlink()
