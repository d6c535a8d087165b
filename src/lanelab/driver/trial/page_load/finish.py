"""From what the bed recorded of a page load to a judged record: captures read, evidence checked, artifacts packed."""

from __future__ import annotations

import functools
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.driver.arm.browsers.har import har
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import LanelabError, RecordError
from lanelab.driver.base.writing import writing
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.clear_text import read_clear_text
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.pcapng import embed_keys
from lanelab.driver.trial.packets.timeline import Timeline, read_timeline
from lanelab.driver.trial.page_load.bound import physical_bound
from lanelab.driver.trial.page_load.expected import Expected
from lanelab.driver.trial.page_load.gateways import KEYS
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.registry import flags, judge
from lanelab.driver.trial.page_load.link_reading import link_measures, with_link
from lanelab.driver.trial.page_load.parts import with_parts
from lanelab.driver.trial.page_load.placing import placed
from lanelab.driver.trial.page_load.requests import with_wire
from lanelab.driver.trial.page_load.streams import stream_measures
from lanelab.driver.trial.page_load.witnesses import Witnesses
from lanelab.driver.trial.recorders.registry import packed
from lanelab.driver.trial.workload import TrialContext

PACKED = ("access.log", "gateway.jsonl")  # and what recorders say


def finish(data: object, context: TrialContext) -> TrialRecord:
    """Read the captures, judge, pack. Leaves in the folder exactly what is to be kept."""
    try:
        record = TrialRecord.from_json(data)
    except RecordError as error:
        return _unreadable(data, error, context.folder)
    evidence = record.page_load
    if evidence is None:
        detail = "the record lacks evidence"
        return replace(record, failures=(*record.failures, Failure(Reason.EVIDENCE_MISSING, detail)))
    packets, unread = _read_captures(evidence, context.folder)
    evidence = _with_places(replace(evidence, packets=packets), context)
    evidence = with_link(evidence, context.link, context.folder, _secrets(context.folder))
    record = _with_evidence(record, evidence, context)
    record = with_parts(record, context, _secrets(context.folder))
    record = _judged(replace(record, failures=(*record.failures, *unread)), context)
    with writing("store the files of a trial"):
        captures = {node: evidence.capture[node].file for node in packets}
        _pack(record, context.folder, captures, (*PACKED, *packed(context.experiment.recorders)))
    return replace(record, artifacts=_names(context.folder))


def _unreadable(data: object, error: RecordError, folder: Path) -> TrialRecord:
    """A record with a key that is missing, unknown or of another type. Nothing in it can be relied on; the files stay
    as they are."""
    started = data.get("started_utc") if isinstance(data, Mapping) else None
    started_utc = started if isinstance(started, str) else utc_now()
    record = TrialRecord.not_started(PAGE_LOAD, started_utc, Reason.EVIDENCE_MISSING, str(error))
    return replace(record, artifacts=_names(folder))


def _expected(context: TrialContext) -> Expected:
    experiment = context.experiment
    return Expected(context.arm, context.site, context.link, experiment.tolerances, experiment.recorders)


def _read_captures(evidence: PageLoadEvidence, folder: Path) -> tuple[dict[str, PacketSummary], list[Failure]]:
    """The summary of each node's capture, and why one cannot be read."""
    packets, unread = {}, []
    secrets = _secrets(folder)
    for node, capture in evidence.capture.items():
        try:
            packets[node] = summarise(folder / capture.file, client=ADDRESSES["client"], keys=secrets)
        except LanelabError as error:
            detail = f"the capture of the {node} cannot be read: {error}"
            unread.append(Failure(Reason.CAPTURE_LOST_PACKETS, detail))
    return packets, unread


def _with_places(evidence: PageLoadEvidence, context: TrialContext) -> PageLoadEvidence:
    """With what a log without the client's ports leaves to the capture. Without a whole one its lines stay as they are,
    and the trial has no requests of the server's."""
    log, packets = evidence.server, evidence.packets.get("client")
    if log is None or not log.unplaced or packets is None or packets.incomplete:
        return evidence
    file = context.folder / evidence.capture["client"].file
    connections = read_clear_text(file, ADDRESSES["client"], frozenset({PORTS["http"]}))
    repeats = SERVERS[context.arm.server].repeats_last_line
    return replace(evidence, server=placed(log, connections, context.link, repeats=repeats))


def _secrets(folder: Path) -> str:
    """What the client logged of its keys; nothing where it had none."""
    keys = folder / KEYS
    return keys.read_text() if keys.is_file() else ""


def _with_evidence(record: TrialRecord, evidence: PageLoadEvidence, context: TrialContext) -> TrialRecord:
    """The record with what follows from all evidence together: requests on the link, witnesses, measures."""
    if evidence.gateway:
        record = replace(record, requests=with_wire(record.requests, evidence.gateway.requests))
    if evidence.browser:
        evidence = replace(evidence, witnesses=Witnesses.of(evidence, context.arm).names())
    record = replace(record, evidence=evidence)
    times = evidence.browser.times.to_json() if evidence.browser else {}
    known = {name: value for name, value in times.items() if value is not None} | link_measures(evidence, context.link)
    known |= stream_measures(evidence.gateway)
    bound = physical_bound(context.link, context.arm, record)
    return replace(record, measures={**record.measures, **known, "bound_ms": bound})


def _judged(record: TrialRecord, context: TrialContext) -> TrialRecord:
    """The record with what speaks against it."""
    evidence = record.page_load
    if evidence is None:
        return record

    @functools.cache  # several judges look at it
    def timeline() -> Timeline | None:
        capture = evidence.capture.get("client")
        whole = capture is not None and "client" in evidence.packets
        return read_timeline(context.folder / capture.file, ADDRESSES["client"]) if capture and whole else None

    case = Case(record, evidence, _expected(context), timeline)
    return replace(record, failures=tuple(judge(record, case.expected, timeline)), flags=(*record.flags, *flags(case)))


def _pack(record: TrialRecord, folder: Path, captures: Mapping[str, str], texts: Sequence[str]) -> None:
    """Captures with their keys, texts compressed. What cannot be read stays as it is."""
    secrets = _secrets(folder)
    for node, file in captures.items():
        embed_keys(folder / file, secrets, folder / f"{node}.pcapng.gz")
        (folder / file).unlink()
    (folder / KEYS).unlink(missing_ok=True)
    _compress(folder / "page.har.gz", json.dumps(har(record)).encode())
    for name in texts:
        path = folder / name
        if path.is_file():
            _compress(folder / f"{name}.gz", path.read_bytes())
            path.unlink()


def _compress(path: Path, data: bytes) -> None:
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out:
        out.write(data)


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.iterdir()))
