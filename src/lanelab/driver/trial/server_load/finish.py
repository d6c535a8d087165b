"""From what the bed recorded of a load to a judged record, on the controller."""

import bisect
import gzip
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import CaptureError, RecordError
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.evidence.load import Latency, LoadReport, Threshold
from lanelab.driver.record.evidence.spoken import SpokenEvidence
from lanelab.driver.record.load_series import ROLES
from lanelab.driver.record.metrics import LOAD, metric_named
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.trial.cross_verdict import cross_failures
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.pcapng import embed_keys
from lanelab.driver.trial.server_load.capacity import derive
from lanelab.driver.trial.server_load.first_packets import FILE, KEYS, WITH_KEYS
from lanelab.driver.trial.server_load.generator_full import generator_full
from lanelab.driver.trial.server_load.registry import GENERATORS
from lanelab.driver.trial.server_load.spoken import spoken_flags
from lanelab.driver.trial.server_load.targets import targets_of
from lanelab.driver.trial.server_load.verdict import Expected, judge, limit_flags
from lanelab.driver.trial.server_load.wire import quic_witness, wire_witness
from lanelab.driver.trial.workload import TrialContext

NAME = "page_all_ms"
UNDER_WAY, LEAVING = "pages_under_way", ("pages_per_s", "page_errors_per_s")
AROUND_MS = 15_000.0  # before and after each point: as many pages leave in it as come, but for the slope of a ramp
LEAST = 0.9  # of the seconds around a point were read, or it has none


def with_waiting(series: Mapping[str, Series], warm_up_s: float = 0.0) -> dict[str, Series]:
    """Return the series with that of all pages, where there is what it takes. What waited in the warm-up is in no point
    after it."""
    if any(name not in series for name in (UNDER_WAY, *LEAVING)):
        return dict(series)
    known = {name: _Sums(series[name]) for name in (UNDER_WAY, *LEAVING)}
    points = []
    warm_ms = MS_PER_S * warm_up_s + 1  # just behind the last point of the warm-up
    for at_ms, _ in series[UNDER_WAY].points:
        first, last = (0.0, warm_ms) if at_ms < warm_ms else (warm_ms, series[UNDER_WAY].points[-1][0] + 1)
        begin, end = max(at_ms - AROUND_MS, first), min(at_ms + AROUND_MS, last)
        waiting = known[UNDER_WAY].mean(begin, end)
        leaving = [known[name].mean(begin, end) for name in LEAVING]
        if waiting is None or None in leaving or not sum(value or 0.0 for value in leaving):
            continue
        points.append((at_ms, round(1000 * waiting / sum(value or 0.0 for value in leaving), 3)))
    return {**series, **({NAME: Series("ms", tuple(points))} if points else {})}


class _Sums:
    """Means of a series between two times, each in the same time."""

    def __init__(self, series: Series) -> None:
        self._times = [at_ms for at_ms, _ in series.points]
        self._sums = [0.0]
        for _, value in series.points:
            self._sums.append(self._sums[-1] + value)

    def mean(self, begin_ms: float, end_ms: float) -> float | None:
        """Return the mean; None where too much is missing."""
        first, last = bisect.bisect_left(self._times, begin_ms), bisect.bisect_left(self._times, end_ms)
        due = math.floor((end_ms - begin_ms) / 1000)
        if last - first < max(LEAST * due, 1):
            return None
        return (self._sums[last] - self._sums[first]) / (last - first)


GIGABYTE = 1e9
MS_PER_S = 1000


def of_roles(series: Mapping[str, Series], settings: LoadSettings) -> dict[str, float]:
    """Return measures after the warm-up, by the names of record/metrics.py. What its series do not tell is not
    there."""
    begin_ms = MS_PER_S * settings.warm_up_s
    largest = {name: _largest(series, name) for name in ("back_end_connections",)}
    measures = {f"{name}_most": value for name, value in largest.items() if value is not None}
    threads = series.get("proxy_threads")
    if threads and threads.points:
        most = max(value for _, value in threads.points)
        measures |= {"proxy_threads_most": most, "proxy_threads_grown": most - threads.points[0][1]}
    for role in ROLES:
        cpu = _mean(series, f"{role}_cpu", begin_ms)
        for what, name, scale in (
            ("bytes_per_s", "cpu_s_per_gb", GIGABYTE),
            ("requests_per_s", "cpu_ms_per_request", MS_PER_S),
        ):
            rate = _mean(series, what, begin_ms)
            if cpu is not None and rate:
                measures[f"{role}_{name}"] = cpu / rate * scale
    return measures


def _largest(series: Mapping[str, Series], name: str) -> float | None:
    return max((value for _, value in series[name].points), default=None) if name in series else None


def _mean(series: Mapping[str, Series], name: str, begin_ms: float) -> float | None:
    """A point is of the second before it, so that at `begin_ms` is of the warm-up."""
    values = [value for at_ms, value in series[name].points if at_ms > begin_ms] if name in series else []
    return math.fsum(values) / len(values) if values else None


def measures_of(report: LoadReport) -> dict[str, float]:
    """Return numbers of the whole trial. One that the generator does not tell is not there."""
    seconds = report.seconds
    if seconds <= 0:  # which speaks against the trial
        return {}
    measures = {
        "requests_per_s": report.requests.ended_in_time / seconds,
        "failed_requests": float(report.requests.failed),
        "dropped_arrivals": float(report.dropped),
        **_latency("latency", report.requests.ms),
    }
    if report.connections is not None:
        measures["connections_opened"] = float(report.connections)
    if report.body_bytes is not None:
        measures["bytes_per_s"] = report.body_bytes / seconds
    if report.pages:
        measures |= {
            "pages_per_s": report.pages.ended_in_time / seconds,
            "failed_pages": float(report.pages.failed),
            "unfinished_pages": float(report.pages.unfinished),
            **_latency("page", report.pages.ms),
        }
    for metric in report.script:
        measures |= metric.measures()
    return measures


def _latency(name: str, latency: Latency | None) -> dict[str, float]:
    """Return measures of a latency. What the generator stops waiting for is in failed_ and unfinished_ alone."""
    if latency is None:
        return {}
    return {
        f"{name}_ms": latency.p50,
        f"{name}_90_ms": latency.p90,
        f"{name}_95_ms": latency.p95,
        f"{name}_99_ms": latency.p99,
        f"{name}_99_9_ms": latency.p99_9,
        f"{name}_most_ms": latency.max,
    }


PACKED = (".jsonl", ".csv", ".log", ".pcap")  # kinds of files that are text, and are stored compressed


def finish(data: object, context: TrialContext) -> TrialRecord:
    """Return the record with its measures and its verdict."""
    try:
        record = TrialRecord.from_json(data)
    except RecordError as error:
        return TrialRecord.not_started(LOAD, utc_now(), Reason.EVIDENCE_MISSING, str(error))
    settings = context.load
    if settings is None:
        raise TypeError("a load needs its settings")
    record = _with_wire(record, context.folder)
    record = replace(record, series=with_waiting(record.series, settings.warm_up_s))
    report = record.load.generator if record.load else None
    full = generator_full(record.series, settings, report)
    if report:
        measures = {
            **derive(record.series, settings, full),
            **of_roles(record.series, settings),
            **record.measures,
            **measures_of(report),
        }
        record = replace(record, measures=measures)
    if record.load:
        evidence = replace(record.load, thresholds=compare_thresholds(settings, record.measures))
        record = replace(record, evidence=evidence)
    threads = GENERATORS[settings.generator].threads
    targets = targets_of(context.site, settings, context.arm.scheme)
    expected = Expected(context.arm, settings, frozenset(context.experiment.recorders), threads, targets.body_sizes)
    failures = (*judge(record, expected), *cross_failures(record, context.link))
    limited = (*limit_flags(record, threads), *((full.flag,) if full else ()))
    flags = (*record.flags, *spoken_flags(record.spoken), *limited)
    record = replace(record, failures=failures, flags=flags)
    _pack(context.folder)
    return replace(record, artifacts=tuple(sorted(path.name for path in context.folder.iterdir())))


def compare_thresholds(settings: LoadSettings, measures: Mapping[str, float]) -> tuple[Threshold, ...]:
    """Return each threshold of the experiment file with the value that this trial had."""
    thresholds = []
    for key, highest in settings.thresholds:
        metric = metric_named(key)
        value = measures.get(metric.name) if metric else None
        thresholds.append(Threshold(key, highest, value / metric.scale if metric and value is not None else None))
    return tuple(thresholds)


def _with_wire(record: TrialRecord, folder: Path) -> TrialRecord:
    """Return the record with what its first packets say. With the secrets of a QUIC load they become one file, which
    Wireshark opens decrypted."""
    path, secrets = folder / FILE, folder / KEYS
    if record.load is None or not path.is_file():
        return record
    keys = secrets.read_text() if secrets.is_file() else ""
    try:
        packets = summarise(path, client=ADDRESSES["client"], keys=keys)
        if keys:
            embed_keys(path, keys, folder / WITH_KEYS, device="any")
    except CaptureError as error:
        failure = Failure(Reason.CAPTURE_LOST_PACKETS, f"the first packets cannot be read: {error}")
        return replace(record, failures=(*record.failures, failure))
    if keys:
        path.unlink()
        secrets.unlink()
    record = replace(record, evidence=replace(record.load, wire=wire_witness(packets)))
    quic = quic_witness(packets)
    if record.spoken is None and not quic.begun:
        return record
    spoken = replace(record.spoken or SpokenEvidence({}, None, None), quic=quic)
    return replace(record, recordings={**record.recordings, "spoken": spoken})


def _pack(folder: Path) -> None:
    for path in [each for each in folder.iterdir() if each.suffix in PACKED]:
        data = path.read_bytes()
        with (
            path.with_name(f"{path.name}.gz").open("wb") as file,
            gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0, compresslevel=6) as out,
        ):
            out.write(data)
        path.unlink()
