"""From what the bed recorded of a page load to a judged record: captures read, evidence checked, artifacts packed."""

import gzip
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.arm.browsers.har import har
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import CaptureError, LanelabError, RecordError
from lanelab.driver.base.writing import writing
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.parts import Parts
from lanelab.driver.record.metrics import PAGE_LOAD, of_step
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.clear_text import read_clear_text
from lanelab.driver.trial.packets.pcapng import embed_keys
from lanelab.driver.trial.page_load.bound import physical_bound
from lanelab.driver.trial.page_load.captures import CLIENT, Captures
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.gateways import KEYS
from lanelab.driver.trial.page_load.journey import step_measures
from lanelab.driver.trial.page_load.judges.judge import Case
from lanelab.driver.trial.page_load.judges.registry import flags, judge
from lanelab.driver.trial.page_load.link_reading import link_measures, runs_of_losses, with_link
from lanelab.driver.trial.page_load.log_placement import placed
from lanelab.driver.trial.page_load.requests import with_wire
from lanelab.driver.trial.page_load.served_hosts import by_server, names_of_all
from lanelab.driver.trial.page_load.server_log import ACCESS_LOG, BESIDE
from lanelab.driver.trial.page_load.streams import stream_measures
from lanelab.driver.trial.parts.decompose import Loaded, decompose
from lanelab.driver.trial.parts.exchanges import MS
from lanelab.driver.trial.parts.intervals import Interval
from lanelab.driver.trial.recorders.registry import packed
from lanelab.driver.trial.workload import TrialContext


def with_parts(record: TrialRecord, context: TrialContext, captures: Captures) -> TrialRecord:
    """Return the record with the parts of its load time, as evidence and as measures. A load that failed has none."""
    evidence = record.page_load
    if evidence is None or evidence.browser is None or evidence.browser.times.plt_ms is None:
        return record
    if context.journey:
        return replace(record, evidence=replace(evidence, parts=Parts((), OF_ONE_LOAD)))
    timeline, arm = captures.clients_or_why(evidence.packets), context.arm
    if isinstance(timeline, str):
        return replace(record, evidence=replace(evidence, parts=Parts((), timeline)))
    loaded = Loaded(record.requests, evidence, timeline, context.link, _main_thread(record))
    one_at_a_time = all(each.pipelining == 1 and not each.multiplexed for each in arm.by_server)
    parts = decompose(loaded, one_at_a_time=one_at_a_time)
    evidence = replace(evidence, parts=parts.parts)
    return replace(record, evidence=evidence, measures={**record.measures, **parts.measures})


def _main_thread(record: TrialRecord) -> list[Interval] | None:
    """Return when it was busy, on the capture's clock."""
    browser = record.page_load.browser if record.page_load else None
    if record.trace is None or browser is None or browser.clock is None or browser.clock.navigation is None:
        return None
    zero = browser.clock.navigation * 1000
    return [(zero + round(begin * MS), zero + round(end * MS)) for begin, end in record.trace.main_thread]


OF_ONE_LOAD = "it is a journey, and parts are those of one page load"
PACKED = (ACCESS_LOG, "gateway.jsonl")  # and what recorders say


@dataclass(frozen=True, slots=True)
class Work:
    """A record on its way, and what every step may look at."""

    record: TrialRecord  # with the evidence of a page load
    context: TrialContext
    captures: Captures

    @property
    def expected(self) -> Expected:
        """Return what the trial was asked to be."""
        context, rules = self.context, self.context.experiment
        return Expected(context.arm, context.site, context.link, rules.tolerances, rules.recorders, context.journey)

    @property
    def evidence(self) -> PageLoadEvidence:
        """The record's."""
        if self.record.page_load is None:
            raise RecordError("the record lacks evidence")
        return self.record.page_load

    def with_evidence(self, evidence: PageLoadEvidence) -> "Work":
        return replace(self, record=replace(self.record, evidence=evidence))

    def with_record(self, record: TrialRecord) -> "Work":
        return replace(self, record=record)


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a record gets when the bed has made it, and what it must have before."""

    name: str
    needs: tuple[str, ...]  # steps
    do: Callable[[Work], Work]


def finish(data: object, context: TrialContext) -> TrialRecord:
    """Read the captures, judge, pack. Leaves in the folder exactly what is to be kept."""
    try:
        record = TrialRecord.from_json(data)
    except RecordError as error:
        return _unreadable(data, error, context.folder)
    if record.page_load is None:
        detail = "the record lacks evidence"
        return replace(record, failures=(*record.failures, Failure(Reason.EVIDENCE_MISSING, detail)))
    captures = Captures(context.folder, record.page_load.capture)
    work = Work(record, context, captures)
    with ThreadPoolExecutor(1) as beside:  # zlib compresses while other threads run
        packing = beside.submit(pack_captures, captures)
        for step in STEPS:
            work = step.do(work)
        with writing("store the files of a trial"):
            for node in packing.result():
                captures.file(node).unlink()
            _pack(work)
    return replace(work.record, artifacts=artifact_names(context.folder))


def _unreadable(data: object, error: RecordError, folder: Path) -> TrialRecord:
    """Return a record with a key that is missing, unknown or of another type. Nothing in it can be relied on; the files
    stay as they are."""
    started = data.get("started_utc") if isinstance(data, Mapping) else None
    started_utc = started if isinstance(started, str) else utc_now()
    record = TrialRecord.not_started(PAGE_LOAD, started_utc, Reason.EVIDENCE_MISSING, str(error))
    return replace(record, artifacts=artifact_names(folder))


def summaries(work: Work) -> Work:
    """Return the summary of each node's capture, and why one cannot be read."""
    packets, unread = {}, []
    for node in work.captures.nodes:
        try:
            packets[node] = work.captures.summary(node)
        except LanelabError as error:
            detail = f"the capture of the {node} cannot be read: {error}"
            unread.append(Failure(Reason.CAPTURE_LOST_PACKETS, detail))
    work = work.with_evidence(replace(work.evidence, packets=packets))
    return work.with_record(replace(work.record, failures=(*work.record.failures, *unread)))


def places(work: Work) -> Work:
    """Return what a log without the client's ports leaves to the capture. Without a whole one its lines stay as they
    are, and the trial has no requests of the server's."""
    log, packets = work.evidence.server, work.evidence.packets.get(CLIENT)
    if log is None or not log.unplaced or packets is None or packets.incomplete:
        return work
    connections = read_clear_text(work.captures.file(CLIENT), ADDRESSES[CLIENT], frozenset({PORTS["http"]}))
    repeats = SERVERS[work.context.arm.server].repeats_last_line
    server = placed(log, connections, work.context.link, repeats=repeats)
    return work.with_evidence(replace(work.evidence, server=server))


def read_link(work: Work) -> Work:
    """Return what the captures tell of the link."""
    evidence, link, captures = work.evidence, work.context.link, work.captures
    runs = runs_of_losses(evidence, link, captures)
    measured = work.with_record(replace(work.record, measures={**work.record.measures, **runs}))
    return measured.with_evidence(with_link(evidence, link, captures))


def _wire(work: Work) -> Work:
    """Return requests as they were on the link, where a gateway carried them."""
    gateway = work.evidence.gateway
    if gateway is None:
        return work
    return work.with_record(replace(work.record, requests=with_wire(work.record.requests, gateway.requests)))


def _witnesses(work: Work) -> Work:
    """Return who could tell what was spoken."""
    if work.evidence.browser is None:
        return work
    context = work.context
    names = names_of_all(by_server(work.evidence, context.arm, context.site, context.link))
    return work.with_evidence(replace(work.evidence, witnesses=names))


def _measures(work: Work) -> Work:
    evidence, link = work.evidence, work.context.link
    times = evidence.browser.times.to_json() if evidence.browser else {}
    known = {name: value for name, value in times.items() if value is not None} | link_measures(evidence, link)
    known |= stream_measures(evidence.gateway)
    known |= _of_steps(work) if work.context.journey else {}
    known["bound_ms"] = known.get("bound_ms", 0.0) or physical_bound(link, work.context.arm, work.record)
    return work.with_record(replace(work.record, measures={**work.record.measures, **known}))


def _of_steps(work: Work) -> dict[str, float]:
    """Return the numbers of steps; a journey cannot be faster than all of them together."""
    journey = work.context.journey
    measures = step_measures(work.record, work.expected, journey)
    together = sum(measures.get(of_step("bound_ms", step.name), 0.0) for step in journey)
    return {**measures, "bound_ms": round(together, 3)}


def _parts(work: Work) -> Work:
    """Return what the load time was made of."""
    return work.with_record(with_parts(work.record, work.context, work.captures))


def _verdict(work: Work) -> Work:
    """Return what speaks against it."""
    packets, expected = work.evidence.packets, work.expected
    timeline = lambda: work.captures.timeline(CLIENT) if CLIENT in packets else None  # noqa: E731
    failures = tuple(judge(work.record, expected, timeline))
    doubts = flags(Case(work.record, work.evidence, expected, timeline))
    return work.with_record(replace(work.record, failures=failures, flags=(*work.record.flags, *doubts)))


STEPS: tuple[Step, ...] = (
    Step("summaries", (), summaries),
    Step("places", ("summaries",), places),
    Step("link", ("summaries",), read_link),
    Step("wire", (), _wire),
    Step("witnesses", ("summaries", "places"), _witnesses),
    Step("measures", ("places", "link", "wire"), _measures),
    Step("parts", ("summaries", "places", "link", "wire"), _parts),
    Step("verdict", ("places", "link", "wire", "witnesses", "measures", "parts"), _verdict),
)


def pack_captures(captures: Captures) -> list[str]:
    """Pack captures with their keys. Return the nodes whose captures were packed: what cannot be read stays as it
    is."""
    there = []
    for node in captures.nodes:
        with suppress(CaptureError):
            embed_keys(captures.file(node), captures.keys, captures.folder / f"{node}.pcapng.gz")
            there.append(node)
    return there


def _pack(work: Work) -> None:
    """Compress texts; the keys are with the captures."""
    folder = work.context.folder
    (folder / KEYS).unlink(missing_ok=True)
    compress(folder / "page.har.gz", json.dumps(har(work.record)).encode())
    beside = [path.name for path in folder.glob(f"{BESIDE}*-{PACKED[0]}")]
    for name in (*PACKED, *beside, *packed(work.context.experiment.recorders)):
        path = folder / name
        if path.is_file():
            compress(folder / f"{name}.gz", path.read_bytes())
            path.unlink()


def compress(path: Path, data: bytes) -> None:
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out:
        out.write(data)


def artifact_names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.iterdir()))
