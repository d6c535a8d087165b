"""wrk, h2load, ApacheBench and spdy-load: what their reports come to, and each way in which these are wrong."""

import json
import re
from collections import Counter
from typing import Any

import pytest

from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.record.evidence.load import BODY, ErrorCount, LoadReport
from lanelab.driver.record.reasons import Reason, broke
from lanelab.driver.trial.server_load import latency, request_series
from lanelab.driver.trial.server_load.generator import Generator, Output, Target
from lanelab.driver.trial.server_load.generators.wrk import Counted, measured
from lanelab.driver.trial.server_load.registry import GENERATORS
from tests.kit.generator_reports import (
    AB,
    AB_LOG,
    AB_PERCENTAGES,
    AB_SAID,
    FOUR,
    H2LOAD,
    H2LOAD_LOG,
    HEADERS,
    SOUND,
    SPDY_LOAD,
    SPDY_LOAD_SAID,
    TARGETS,
    WRK,
    WRK_COUNTED,
    of_ab,
    of_h2load,
    of_spdy_load,
    of_wrk,
    report,
)
from tests.kit.loads import left, settings, target


@pytest.mark.parametrize(
    ("name", "spoken", "ended", "seconds", "p50"),
    [
        ("wrk", ("http/1.1", "off"), 20_000, 2.0, 0.9),
        ("h2load", ("h2", "1.3"), 4, 1.001, 2.0),
        ("ab", ("http/1.0", "1.2"), 4, 4 / 412.92, 1.5),
        ("spdy-load", ("spdy/3.1", "off"), 4, 2.05, 2.0),
    ],
)
def test_a_sound_report(name: str, spoken: tuple[str, str], ended: int, seconds: float, p50: float) -> None:
    made = report(name, SOUND[name])
    assert (made.protocol, made.tls) == spoken
    assert made.seconds == pytest.approx(seconds)
    assert made.requests.ms
    assert (made.requests.ended, made.requests.ms.count, made.requests.failed) == (ended, ended, 0)
    assert made.requests.begun == ended + made.requests.unfinished
    assert made.requests.ms.p50 == pytest.approx(p50)
    assert sum(count for _, count in made.requests.ms.histogram) == ended
    assert (made.errors, made.stopped) == ({}, "")
    assert LoadReport.from_json(json.loads(json.dumps(made.to_json()))) == made


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_comes_of_nothing(name: str) -> None:
    """It could not be started, or died at once: in its own words."""
    found = GENERATORS[name].read(TARGETS[name], left("", 127, "cannot do this"))
    assert found.report is None
    assert "status 127" in found.problem
    assert "cannot do this" in found.problem
    assert found.reason is Reason.GENERATOR_FAILED
    assert found.series == {}


@pytest.mark.parametrize(("name", "data"), [("wrk", WRK_COUNTED), ("spdy-load", SPDY_LOAD_SAID)])
def test_each_key_is_needed_and_no_other_is_known(name: str, data: dict[str, Any]) -> None:

    def make(text: str) -> Output:
        return left(wrk_json=text) if name == "wrk" else left(text)

    for key in data:
        with pytest.raises(RecordError, match="is missing"):
            report(name, make(json.dumps({other: value for other, value in data.items() if other != key})))
    with pytest.raises(RecordError):
        report(name, make(json.dumps({**data, "other": 1})))
    assert GENERATORS[name].read(TARGETS[name], make(json.dumps(data)[:-9])).report is None


def test_wrk_is_taken_what_it_added() -> None:
    """stats_correct of wrk: for each value of twice the usual one or more, the values that would have been between."""
    took = {900: 9_000, 1100: 10_900, 3500: 90, 7777: 10}
    counted, requests, microseconds = Counter(took), 20_000, 2_000_000
    usual = microseconds // (requests // 10)
    for value, count in took.items():
        for between in range(value - usual, usual, -usual):
            counted[between] += count
    assert counted != took
    data = {**WRK_COUNTED, "latencies": sorted(counted.items())}
    assert measured(Counted.from_json(json.loads(json.dumps(data))), 10) == {
        value / 1000: count for value, count in took.items()
    }


@pytest.mark.parametrize(
    "latencies", [[], [[900, 20_001]], [[900, 19_999]], [[900, 20_000], [5000, 1]], [[900, 20_004], [5000, 1]]]
)
def test_wrk_with_other_times_than_answers_is_no_evidence(latencies: list[list[int]]) -> None:
    with pytest.raises(RecordError, match="times of"):
        report("wrk", of_wrk(latencies=latencies))


def test_wrk_counts_what_failed_and_what_it_left_off() -> None:
    made = report("wrk", of_wrk(status=5, read=2, write=3, connect=1))
    assert (made.requests.ended, made.requests.failed, made.requests.unfinished) == (19_995, 11, 10)
    assert made.requests.ms is None, "its times are of good and bad answers alike"
    assert made.errors["status 400 or above"].count == 5
    late = report("wrk", of_wrk(timeout=1, latencies=[[900, 10_000], [1100, 9_999]]))
    assert (late.requests.timed_out, late.requests.failed, late.requests.ended) == (1, 1, 19_999)
    assert late.requests.ms is not None


def test_wrk_that_was_stopped_says_so() -> None:
    assert (
        "after 1.0 of 2 s"
        in report("wrk", of_wrk(microseconds=1_000_000, requests=10_000, latencies=[[900, 10_000]])).stopped
    )


def test_wrk_sees_answers_that_are_far_too_short() -> None:
    made = report("wrk", of_wrk(bytes=20_000 * HEADERS))
    assert (made.requests.ended, made.errors) == (0, {BODY: ErrorCount(20_000, None, None)})
    unknown = target(WRK, sizes=[None])
    found = WRK.read(unknown, of_wrk(bytes=1)).report
    assert found
    assert found.requests.ended == 20_000


def test_h2load_with_answers_that_say_no() -> None:
    output = of_h2load(
        ("4 succeeded, 0 failed", "2 succeeded, 2 failed"),
        log=H2LOAD_LOG.replace("200\t4000", "503\t4000").replace("200\t3000", "503\t3000"),
    )
    made = report("h2load", output)
    assert (made.requests.ended, made.requests.failed) == (2, 2)
    assert made.errors == {"status 503": ErrorCount(2, 3.0, 4.0)}
    assert made.statuses == {"200": 2, "503": 2}
    assert made.requests.ms
    assert made.requests.ms.max == 2.0


def test_h2load_counts_what_it_never_began_as_failed() -> None:
    """The server said goodbye: h2load opens no other connection of HTTP/2."""
    output = of_h2load(
        ("4 started, 4 done, 4 succeeded, 0 failed, 0 errored, 0 timeout",
         "3 started, 2 done, 2 succeeded, 2 failed, 2 errored, 1 timeout"),
        log="".join(H2LOAD_LOG.splitlines(keepends=True)[:2]) + "1000000\t-1\t5\n",
    )  # fmt: skip
    made = report("h2load", output)
    assert (made.requests.begun, made.requests.ended, made.requests.failed, made.requests.timed_out) == (4, 2, 2, 1)
    assert {kind: error.count for kind, error in made.errors.items()} == {"time-out": 1, "not answered": 1}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (of_h2load(log=H2LOAD_LOG + H2LOAD_LOG), "its log has 8"),
        (of_h2load(log=""), "its log has 0"),
        (of_h2load(("requests: 4 total", "requests: 5 total")), "h2load says 5"),
        (of_h2load(log=H2LOAD_LOG.replace("2000\n", "two\n", 1)), "line 1 is"),
        (of_h2load(log=H2LOAD_LOG[:-1]), "has no end"),
    ],
)
def test_h2load_that_contradicts_itself_is_no_evidence(output: Output, words: str) -> None:
    with pytest.raises(RecordError) as raised:
        report("h2load", output)
    assert words in str(raised.value)


def test_h2load_that_was_ended_leaves_its_series() -> None:
    log = "".join(f"{1_000_000 + number * 1000}\t200\t2000\n" for number in range(2500))
    found = H2LOAD.read(
        TARGETS["h2load"], Output(None, "starting benchmark...\n", "", {"h2load.log": log.encode()[:-3]})
    )
    assert found.report is None
    assert found.series["requests_per_s"].points == ((1000.0, 998.0), (2000.0, 1000.0))
    assert found.series["request_ms"].points == ((1000.0, 2.0), (2000.0, 2.0))


@pytest.mark.parametrize("name", ["h2load", "spdy-load", "ab"])
def test_answers_of_another_length_are_not_the_sites(name: str) -> None:
    shorter = {
        "h2load": of_h2load(("(40960) data", "(40959) data")),
        "spdy-load": of_spdy_load(body_bytes=40_959),
        "ab": of_ab(("40960 bytes", "0 bytes")),
    }[name]
    made = report(name, shorter)
    assert (made.requests.ended, made.requests.failed, list(made.errors)) == (0, 4, [BODY])


def test_h2loads_connections_each_ask_from_the_first_object_on() -> None:
    several = target(
        H2LOAD, {"protocol": "h2", "tls": "1.3"}, ["/a", "/b"], [10_000, 240], **{**FOUR, "connections": 3}
    )
    found = H2LOAD.read(several, of_h2load(("(40960) data", "(30240) data"))).report
    assert found
    assert found.requests.failed == 0


def test_ab_with_answers_that_say_no_and_others_of_another_length() -> None:
    kinds = "Failed requests:        3\n   (Connect: 0, Receive: 0, Length: 3, Exceptions: 0)"
    made = report("ab", of_ab(("Failed requests:        0", f"{kinds}\nNon-2xx responses:      2")))
    assert (made.requests.ended, made.requests.failed, made.requests.ms) == (1, 3, None)
    assert {kind: error.count for kind, error in made.errors.items()} == {BODY: 3, "status not 2xx": 2}
    assert made.statuses == {"2xx": 2, "others": 2}


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (of_ab(("Failed requests:        0", "Failed requests:        3")), "has no kinds"),
        (of_ab(("HTML transferred:       40960 bytes", "HTML transferred:       many")), "HTML transferred"),
        (of_ab(("Requests per second", "Requests per minute")), "Requests per second"),
        (of_ab(percentages=AB_PERCENTAGES.replace("50,1.500\n", "")), "101 percentiles"),
        (of_ab(percentages=AB_PERCENTAGES.replace("50,1.500\n", "50,9.500\n")), "101 percentiles"),
        (of_ab(log="\n".join(AB_LOG.splitlines()[:-1])), "has 3 requests"),
        (of_ab(log=AB_LOG.replace("\t2\t1\n", "\n")), "has the line"),
    ],
)
def test_ab_that_contradicts_itself_is_no_evidence(output: Output, words: str) -> None:
    with pytest.raises(RecordError) as raised:
        report("ab", output)
    assert words in f"{raised.value.key} {raised.value}"


@pytest.mark.parametrize(
    ("words", "broken"),
    [
        ("apr_socket_recv: Connection reset by peer (104)", True),
        ("apr_socket_recv: Connection refused (111)", True),
        ("\nTest aborted after 10 failures\n\napr_socket_connect(): Connection refused (111)", True),
        ("apr_socket_recv: Connection timed out (110)", True),
        ("apr_pollset_poll: The timeout specified has expired (70007)", True),
        ("apr_socket_connect(): Cannot assign requested address (99)", False),  # the client has no ports left
        ("socket: Too many open files (24)", False),
        ("apr_socket_recv: No route to host (113)", False),
    ],
)
def test_a_load_breaks_where_the_server_refuses_ab_or_lets_it_wait(words: str, broken: bool) -> None:
    """ApacheBench ends then, without a report. What the client lacked is no result of the server's."""
    said = f"{AB_SAID.partition('..done')[0]}\nTotal of 141397 requests completed\n"
    found = AB.read(TARGETS["ab"], left(said, 104, f"{words}\n"))
    assert (found.report, broke([found.reason])) == (None, broken)
    assert words.rpartition("\n")[2] in found.problem


def test_ab_that_was_stopped_says_so() -> None:
    fewer = of_ab(
        ("Complete requests:      4", "Complete requests:      3"), ("40960", "30720"),
        log="\n".join(AB_LOG.splitlines()[:-1]),
    )  # fmt: skip
    assert report("ab", fewer).stopped == "it made 3 of 4 requests"


def test_abs_series_leave_out_the_seconds_that_are_not_whole() -> None:
    found = AB.read(TARGETS["ab"], of_ab())
    assert found.series["requests_per_s"].points == ((2000.0, 1.0), (3000.0, 1.0))


def test_spdy_load_with_requests_that_failed() -> None:
    errors = {"reset": {"count": 1, "p50_ms": 1.0, "max_ms": 1.0}}
    made = report("spdy-load", of_spdy_load(
        succeeded=1, failed=3, errors=errors, statuses={"200": 1, "404": 1}, completions=[1],
        histogram=[{"end_ms": 2.0, "count": 1}],
    ))  # fmt: skip
    assert (made.requests.ended, made.requests.failed) == (1, 3)
    assert {kind: error.count for kind, error in made.errors.items()} == {"reset": 1, "status 404": 1, "never begun": 1}


def test_spdy_loads_series_are_of_whole_seconds() -> None:
    found = SPDY_LOAD.read(TARGETS["spdy-load"], of_spdy_load())
    assert found.series["requests_per_s"].points == ((1000.0, 1.0), (2000.0, 2.0))
    with pytest.raises(RecordError, match="completions"):
        report("spdy-load", of_spdy_load(completions=[1, 1]))


@pytest.mark.parametrize(
    ("generator", "arm", "changes", "words"),
    [
        (WRK, {"protocol": "h2", "tls": "1.3"}, {}, "speaks http/1.1, and the arm"),
        (AB, {"protocol": "spdy/3.1"}, {}, "speaks http/1.1, and the arm"),
        (H2LOAD, {"protocol": "spdy/3.1"}, {}, "k6 or spdy-load"),
        (SPDY_LOAD, {}, {}, "k6, wrk, h2load or ab"),
        (H2LOAD, {}, {"streams": 2}, "one request after the other"),
        (AB, {}, {"streams": 2}, "one request after the other"),
        (WRK, {}, {"lasts_s": 2.5}, "whole seconds, and not for 2.5 s"),
        (WRK, {}, {"lasts_s": 0.0}, "whole seconds"),
        (WRK, {}, {"request_timeout_s": 0.5}, "waits for whole seconds"),
        (AB, {}, {"request_timeout_s": 1.5}, "waits for whole seconds"),
        (AB, {}, {"connections": 2000}, "1000 requests are too few for 2000 connections"),
        (AB, {}, {"connections": 20_001, "requests": 30_000}, "20,000 connections at most"),
        (H2LOAD, {}, {"requests": 2_000_001}, "2,000,000 at most"),
    ],
)
def test_what_a_generator_cannot_do_is_refused(
    generator: Generator, arm: dict[str, Any], changes: dict[str, Any], words: str
) -> None:
    asked = target(generator, arm, **changes)
    with pytest.raises(InputError, match=re.escape(words)):
        generator.check(asked.settings, asked.arm)


@pytest.mark.parametrize("generator", [WRK, H2LOAD, AB, SPDY_LOAD], ids=lambda each: each.name)
def test_what_it_can_do_is_not_refused(generator: Generator) -> None:
    arm = {"protocol": "spdy/3.1"} if generator is SPDY_LOAD else {}
    asked = target(generator, arm)
    generator.check(asked.settings, asked.arm)
    assert generator.threads == 1
    assert settings(generator.name) == asked.settings


def test_objects_that_cannot_be_asked_for_together_are_refused() -> None:
    with pytest.raises(InputError, match="asks for one object, and here are 2"):
        AB.invocation(target(AB, paths=["/a", "/b"], sizes=[1, 2]))
    several = Target(**{**{name: getattr(TARGETS["h2load"], name) for name in Target.__slots__},
                        "urls": ("https://a.test/", "https://b.test/")})  # fmt: skip
    with pytest.raises(InputError, match="on several"):
        H2LOAD.invocation(several)


def test_percentiles_are_the_nearest_rank() -> None:
    found = latency.of_values([float(each) for each in range(1, 1001)])
    assert found
    assert (found.p50, found.p90, found.p95, found.p99, found.p99_9) == (500, 900, 950, 990, 999)
    assert (found.min, found.max, found.mean, found.count) == (1, 1000, 500.5, 1000)
    assert found.histogram[-1] == (1000.0, 10)
    assert latency.of_values([]) is None


@pytest.mark.parametrize(
    ("value", "end"), [(0.0, 0.0), (0.187, 0.19), (0.19, 0.19), (1.0, 1.0), (99.1, 100.0), (101, 110)]
)
def test_buckets_end_at_two_digits(value: float, end: float) -> None:
    assert latency.bucket_end(value) == end


def test_series_have_what_ended_in_each_whole_second() -> None:
    found = request_series.series(
        [(500.0, 100.0, True), (900.0, 700.0, False), (1400.0, 200.0, True), (2000.0, 600.0, True)]
    )
    assert found["requests_per_s"].points == ((1000.0, 1.0), (2000.0, 1.0))
    assert found["errors_per_s"].points == ((1000.0, 0.0), (2000.0, 1.0))
    assert found["request_ms"].points == ((1000.0, 100.0), (2000.0, 200.0))
    assert request_series.series([]) == {}
