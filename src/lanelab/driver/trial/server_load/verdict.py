"""Whether a load counts. Pure: from its evidence to the reasons against it.

Requests that fail are a result where users load the server: it may be too slow for so many. They are a reason against
the trial where a fixed number of answers is timed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.record.evidence.load import BODY, GeneratorUse, Latency, LoadEvidence, LoadReport, ServedBy
from lanelab.driver.record.evidence.machine import MachineEvidence, MachineUse
from lanelab.driver.record.reasons import Failure, Flag, FlagName, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.first_packets import packets_of
from lanelab.driver.trial.server_load.spoken import judge_spoken
from lanelab.driver.trial.server_load.targets import requests_wanted
from lanelab.driver.trial.server_load.wire import judge_wire

MOST_SHOWN = 3
MOST_CPU = 0.9  # of the processors that the generator may use
CLIENT = "client"  # a node, and the group of its programs
SHORTEST_S = 1.0  # of a load whose own time is what a generator's use is compared with, where it tells none itself
COUNTED_S = 0.02  # by which a use may be more than the kernel's count, of whole hundredths in two modes
# How late 1 of 100 of the generator's timers may be: half the median latency, within these limits.
LEAST_LAG_MS, MOST_LAG_MS, LAG_SHARE = 20.0, 100.0, 0.5
MOST_FILES = 0.98  # of those that it may have open
SPOKEN = {"http/1.0": "http/1.1"}  # ApacheBench speaks no later one: what an arm calls it
# What a server says when all that it is told to use is in use: this is what a load is for.
SATURATED = ("MaxRequestWorkers", "MaxClients", "MinSpareThreads", "worker_connections are not enough")


@dataclass(frozen=True, slots=True)
class Expected:
    """The load that the trial was to be."""

    arm: Arm
    settings: LoadSettings
    recorders: Collection[str]  # that were on
    threads: int  # processors that the generator can use
    sizes: tuple[int | None, ...]  # bytes of what is asked for, in turn; None: only the server knows


def judge(record: TrialRecord, expected: Expected) -> Iterator[Failure]:
    """Yield every reason why the trial does not count."""
    yield from record.failures
    if record.failures:
        return
    evidence = record.evidence
    if not isinstance(evidence, LoadEvidence):
        yield _missing("evidence")
        return
    for name in expected.recorders:
        if name not in record.recordings:
            yield _missing(f"recordings.{name}")
    yield from _servers(evidence, proxied=expected.arm.proxy != "none")
    if evidence.generator is None:
        yield _missing("evidence.generator")
        return
    yield from _spoken(evidence.generator, expected)
    if expected.arm.protocol != H3:
        yield from judge_wire(evidence.wire, expected.arm)
    yield from judge_spoken(record, expected.arm, evidence.generator, packets_of(expected.settings))
    yield from _tallies(evidence.generator, expected)
    yield from _results(evidence.generator, expected)
    yield from _limits(evidence.generator, record.machine, expected.threads)


def _servers(evidence: LoadEvidence, *, proxied: bool) -> Iterator[Failure]:
    if evidence.server is None:
        yield _missing("evidence.server")
    if proxied and evidence.proxy is None:
        yield _missing("evidence.proxy")
    for name, served in (("server", evidence.server), ("proxy", evidence.proxy)):
        lines = _unexpected(served) if served else []
        if lines:
            yield Failure(Reason.SERVER_ERROR_LOG, f"of the {name}: {_few(lines)}")


def _unexpected(served: ServedBy) -> list[str]:
    return [line.strip() for line in served.error_lines if not any(word in line for word in SATURATED)]


def _spoken(report: LoadReport, expected: Expected) -> Iterator[Failure]:
    arm = expected.arm
    if SPOKEN.get(report.protocol, report.protocol) != arm.protocol:
        yield Failure(Reason.PROTOCOL_FALLBACK, f"the generator spoke {report.protocol}, not {arm.protocol}")
    if report.tls != arm.tls:
        yield Failure(Reason.TLS_FALLBACK, f"the generator had TLS {report.tls}, and the arm says {arm.tls}")


def _tallies(report: LoadReport, expected: Expected) -> Iterator[Failure]:
    """Yield a failure for each tally whose numbers contradict each other: these are no evidence."""
    pages = report.pages
    for name, tally in (("requests", report.requests), *((("pages", pages),) if pages else ())):
        whole = tally.ended + tally.failed + tally.unfinished
        if tally.begun != whole or tally.timed_out > tally.failed:
            detail = f"of {tally.begun} {name} begun, {whole} ended, failed or were still under way"
            yield Failure(Reason.EVIDENCE_MISSING, f"evidence.generator.{name}: {detail}")
        untold = tally.failed and tally.ms is None and not expected.settings.has_users  # k6 times good and bad alike
        if tally.ended and not untold and (tally.ms is None or tally.ms.count != tally.ended):
            timed = tally.ms.count if tally.ms else 0
            detail = f"{tally.ended} {name} ended, and {timed} have a time"
            yield Failure(Reason.EVIDENCE_MISSING, f"evidence.generator.{name}.ms: {detail}")
    if sum(error.count for error in report.errors.values()) < report.requests.failed:
        detail = f"{report.requests.failed} requests failed, and errors explain fewer"
        yield Failure(Reason.EVIDENCE_MISSING, f"evidence.generator.errors: {detail}")
    if report.seconds <= 0:
        yield Failure(Reason.EVIDENCE_MISSING, "evidence.generator.seconds: the load took no time")
    if expected.settings.script == "page" and pages is None:
        yield _missing("evidence.generator.pages")


def _results(report: LoadReport, expected: Expected) -> Iterator[Failure]:
    if report.stopped:
        yield Failure(Reason.GENERATOR_FAILED, f"the generator ended before its time: {report.stopped}")
    if BODY in report.errors:
        detail = f"{report.errors[BODY].count} answers were not as long as the site's objects"
        yield Failure(Reason.FAILED_OBJECT, detail)
    requests = report.requests
    if BODY in report.errors and not requests.ended:
        return
    if not requests.ended:
        yield Failure(Reason.FAILED_REQUESTS, f"no request was answered: {_errors(report) or 'no reason given'}")
    elif requests.failed and not expected.settings.has_users:
        detail = f"{requests.failed} of {requests.begun} requests failed: {_errors(report) or 'no reason given'}"
        yield Failure(Reason.FAILED_REQUESTS, detail)
    elif expected.settings.requests and not expected.settings.has_users:
        yield from _whole_number(report, expected)


def _whole_number(report: LoadReport, expected: Expected) -> Iterator[Failure]:
    """A fixed number of answers was asked for. Their length was compared by who read the report: generators differ in
    what they ask for how often."""
    wanted = requests_wanted(expected.settings, expected.sizes)
    if report.requests.ended != wanted:
        yield Failure(Reason.TOO_FEW_REQUESTS, f"{report.requests.ended} of {wanted} requests were made")


def _limits(report: LoadReport, machine: MachineEvidence | None, threads: int) -> Iterator[Failure]:
    """Yield a failure where the generator was what limited the load. One that does not tell is watched from outside."""
    if report.use:
        processors = max(report.use.processors, 1)
        share = report.use.cpu_s / (max(report.use.seconds, 1e-9) * processors)
        yield from _own_limits(report.use, report.requests.ms)
    elif machine and CLIENT in (client := _of_client(machine)).cpu_s:
        processors = threads
        # The machine is watched from before the load until after it. What the generator used besides, to start and to
        # write its log, is little of a load of a second or more.
        lasted_s = report.seconds if SHORTEST_S <= report.seconds < client.seconds else client.seconds
        share = client.cpu_s[CLIENT] / (max(lasted_s, 1e-9) * processors)
    else:
        yield _missing("what the generator used of its machine (machine: true records it)")
        return
    if share > MOST_CPU:
        of = "its processor" if processors == 1 else f"its {processors} processors"
        yield Failure(Reason.GENERATOR_LIMITED, f"it used {share:.0%} of {of}")


def limit_flags(record: TrialRecord, threads: int) -> tuple[Flag, ...]:
    """Return a flag where a load was too short to tell whether its generator, which says nothing of itself, was the
    limit: to start and to write its log are in its processor time, too. Where with these it had some left it was
    not."""
    report, machine = record.load.generator if record.load else None, record.machine
    if report is None or report.use or machine is None or not 0 < report.seconds < SHORTEST_S:
        return ()
    client, allowed = _of_client(machine), MOST_CPU * threads
    used_s = client.cpu_s.get(CLIENT)
    if used_s is None or used_s > allowed * client.seconds or used_s + COUNTED_S <= allowed * report.seconds:
        return ()  # refused, or sound
    used = f"the generator used {used_s:.2f} s of processor time, its start and its log included"
    detail = f"in a load of {report.seconds:.2f} s {used}"
    return (Flag(FlagName.GENERATOR_UNJUDGED, detail),)


def _of_client(machine: MachineEvidence) -> MachineUse:
    return next(one for one in machine.machines if CLIENT in one.nodes)


def most_lag_ms(latency: Latency | None) -> float:
    """Return how late 1 of 100 of the generator's timers may be, by the latency of its requests."""
    return min(max(LAG_SHARE * latency.p50, LEAST_LAG_MS), MOST_LAG_MS) if latency else MOST_LAG_MS


def _own_limits(use: GeneratorUse, latency: Latency | None) -> Iterator[Failure]:
    allowed_ms = most_lag_ms(latency)
    if use.lag_99_ms > allowed_ms:
        detail = f"1 of 100 of its timers was more than {use.lag_99_ms:.0f} ms late (limit: {allowed_ms:.0f} ms)"
        of = f", and the median request took {latency.p50:.0f} ms" if latency else ""
        yield Failure(Reason.GENERATOR_LIMITED, f"{detail}{of}. It waited for a processor")
    for what, most, allowed in (
        ("files", use.files_most, use.files_allowed),
        ("ports", use.files_most, use.ports_allowed),
    ):
        if most > MOST_FILES * allowed:
            detail = f"it had {most} connections and files, and may have {allowed} {what}"
            yield Failure(Reason.GENERATOR_LIMITED, detail)


def _errors(report: LoadReport) -> str:
    why = [f"{kind} ({error.count} times)" for kind, error in report.errors.items()]
    bad = [f"status {status} ({times} times)" for status, times in report.statuses.items() if status >= "400"]
    return _few([*why, *bad])


def _missing(what: str) -> Failure:
    return Failure(Reason.EVIDENCE_MISSING, f"{what} is missing")


def _few(words: list[str]) -> str:
    more = f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else ""
    return ", ".join(words[:MOST_SHOWN]) + more
