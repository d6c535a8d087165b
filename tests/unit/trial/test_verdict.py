"""Each reason for which a trial does not count: found when it is there, and not when it is not."""

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.packets.packets import PacketSummary, summarise
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.frames import Recorder, Talk, udp
from tests.kit.judging import LINK, STRICT, cases, reasons
from tests.kit.judging import judged as judged_as
from tests.kit.records import BEGAN_US, SITE, Data, agree, ask, connection, packets, record, request, served

HTTP = Arm.parse("http", {})
NO_KEEPALIVE = Arm.parse("no keepalive", {"keepalive": False})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})
WARM = Arm.parse("warm", {"start": "warm"})
GZIP = Arm.parse("gzip", {"compression": "gzip"})
BROTLI = Arm.parse("brotli", {"compression": "brotli", "tls": "1.3"})
ARMS = (HTTP, NO_KEEPALIVE, H2, WARM, GZIP, BROTLI)


def connections(count: int, server: str = "10.10.2.2") -> PacketSummary:
    recorder = Recorder()
    for number in range(count):
        talk = Talk(recorder, port=40010 + number, server=server)
        talk.open()
        talk.say("up", b"GET / HTTP/1.1\r\n\r\n")
        talk.say("down", b"HTTP/1.1 200 OK\r\n" + b"z" * 1400)
        talk.close()
    return summarise(recorder.pcap())


def judged(data: Data, arm: Arm = HTTP, **more: Any) -> list[Failure]:
    return judged_as(data, arm, **more)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_a_sound_trial_counts(arm: Arm) -> None:
    assert judged(record(arm), arm) == []


def change(index: int, **values: object) -> Callable[[Data], None]:
    """Of one request."""
    return lambda data: data["requests"][index].update(values)


def drop(index: int) -> Callable[[Data], None]:
    def dropping(data: Data) -> None:
        del data["requests"][index]

    return dropping


def add(url: str, arm: Arm = HTTP, **values: object) -> Callable[[Data], None]:
    return lambda data: ask(data, request(url, 9, arm) | values, arm)


def nearly(url: str, match: str) -> Callable[[Data], None]:
    """The style sheet asked for with another query, which the server answered nevertheless."""

    def asking(data: Data) -> None:
        drop(1)(data)
        del data["evidence"]["server"]["requests"][1]
        ask(data, request(url, 9, HTTP, body=200), HTTP)
        data["evidence"]["server"]["requests"][-1]["match"] = match

    return asking


def queries(*names: str) -> Callable[[Data], None]:
    found = {"queries": [{"name": name, "type": "A"} for name in names]}
    return lambda data: data["evidence"].update(resolver=found)


def times(**values: object) -> Callable[[Data], None]:
    return lambda data: data["evidence"]["browser"]["times"].update(values)


TIMESTAMPS, PROBES, ECN = "net.ipv4.tcp_timestamps", "net.ipv4.tcp_early_retrans", "net.ipv4.tcp_ecn"


def test_every_reason_that_is_judged_has_a_case() -> None:
    """The others come from the trial itself, or have tests below, in test_wire.py, test_over_quic.py,
    test_devices.py, test_streams.py, test_hints.py, test_link_verdict.py or test_load_verdict.py."""
    own = {Reason.TIMEOUT, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED, Reason.SERVER_FAILED, Reason.BED_LOST}
    own |= {Reason.GATEWAY_FAILED, Reason.LINK_OUT_OF_TOLERANCE, Reason.STRAY_PACKETS, Reason.EVIDENCE_MISSING}
    own |= {Reason.LINK_RTT, Reason.LINK_DELAY, Reason.LINK_RATE, Reason.LINK_MTU, Reason.INITIAL_WINDOW}
    own |= {Reason.TCP_OPTIONS}  # test_tcp_options.py
    own |= {Reason.COALESCING_IGNORED, Reason.CONNECTIONS_EXCEEDED}  # test_wire.py
    own |= {Reason.PIPELINING_IGNORED, Reason.RESUMPTION_IGNORED}
    own |= {Reason.LINK_QUEUE}
    own |= {Reason.EARLY_DATA_IGNORED, Reason.DEVICE_IGNORED}
    own |= {Reason.STREAM_SETTINGS, Reason.PUSH_MISSING, Reason.PUSH_UNASKED, Reason.HINTS_IGNORED}
    own |= {Reason.GENERATOR_FAILED, Reason.GENERATOR_LIMITED, Reason.STOPPED}
    own |= {Reason.LINK_TRACE, Reason.INTERACTION_FAILED}  # test_moving_links.py, test_vitals.py
    own |= {Reason.CROSS_MISSING, Reason.CROSS_STALLED}  # tests/unit/link/test_cross.py
    own |= {Reason.RECORDER_FAILED, Reason.FAILED_REQUESTS, Reason.TOO_FEW_REQUESTS}
    assert {case.reason for case in cases("page-loads")} | own == set(Reason)


@pytest.mark.parametrize("reason", list(Reason))
def test_what_the_trial_ran_into_is_carried(reason: Reason) -> None:
    data = record(HTTP) | {"failures": [{"reason": reason.value, "detail": "it was so"}]}
    assert Failure(reason, "it was so") in judged(data)


def redirected(data: Data) -> None:
    """The image's answer was led to by another host, and the browser does not say its TLS."""
    change(2, tls=None)(data)
    change(1, status=302, response_headers=[["Location", data["requests"][2]["url"]]])(data)


def test_tls_of_what_a_redirect_led_to_is_the_servers_word() -> None:
    data = record(H2)
    redirected(data)
    assert Reason.TLS_FALLBACK not in reasons(data, H2)
    data["evidence"]["server"]["requests"][2]["tls"] = "TLSv1.2"
    assert Reason.TLS_FALLBACK in reasons(data, H2)


def test_what_the_browser_rules_out_as_while_recording_is_no_failure() -> None:
    """An answer of HTML to an image; an image that is ruled out was served as something else."""
    data = record(HTTP)
    change(0, error="net::ERR_BLOCKED_BY_ORB", status=200)(data)
    assert judged(data) == []
    change(0, status=500)(data)
    assert reasons(data) == [Reason.FAILED_OBJECT]
    data = record(HTTP)
    change(2, error="net::ERR_BLOCKED_BY_ORB", status=200)(data)
    assert reasons(data) == [Reason.FAILED_OBJECT]


def test_without_a_load_its_requests_are_not_judged() -> None:
    data = record(HTTP) | {"failures": [{"reason": "browser-crashed", "detail": ""}], "requests": []}
    assert reasons(data) == [Reason.BROWSER_CRASHED]


def test_a_timeout_names_what_was_missing() -> None:
    data = record(HTTP) | {"failures": [{"reason": "timeout", "detail": ""}]}
    times(plt_ms=None, plt_navigation_ms=None)(data)
    change(2, ended_ms=None)(data)
    assert reasons(data) == [Reason.TIMEOUT, Reason.MISSING_OBJECT]


@pytest.mark.parametrize(
    ("changing", "allowed"),
    [
        (drop(2), Tolerances(missing=1)),
        (add("a.test/x"), Tolerances(extra=1)),
        (add("else.test/x"), Tolerances(outside=1)),
    ],
)
def test_tolerances_let_so_many_pass(changing: Callable[[Data], None], allowed: Tolerances) -> None:
    data = record(HTTP)
    changing(data)
    assert len(judged(data)) == 1
    assert judged(data, allowed=allowed) == []


@pytest.mark.parametrize(
    "harmless",
    [
        add("a.test/favicon.ico", before_load=False, status=404),
        add("b.test/logo.png", from_cache=True, body_bytes=0),
        lambda data: data["requests"].append(request("x", 9, HTTP) | {"url": "data:,"}),
        queries("b.test"),
        times(plt_navigation_ms=79.0),
        change(2, ended_ms=5000.0),
    ],
    ids=[
        "icon after load",
        "twice on the page",
        "data",
        "own name",
        "navigation timing",
        "just in time",
    ],
)
def test_what_is_harmless_passes(harmless: Callable[[Data], None]) -> None:
    data = record(HTTP)
    harmless(data)
    assert judged(data) == []


@pytest.mark.parametrize("changing", [drop(2), change(2, from_cache=True), change(2, status=304, body_bytes=0)])
def test_warm_trials_may_use_the_cache(changing: Callable[[Data], None]) -> None:
    data = record(WARM)
    changing(data)
    assert judged(data, WARM) == []


def test_fewer_connections_than_requests_are_found_on_the_wire() -> None:
    data = record(NO_KEEPALIVE)
    for line in data["evidence"]["server"]["requests"][1:]:
        line |= {"remote": "10.10.1.2:40011"}
    (found,) = judged(data, NO_KEEPALIVE, packets=connections(2))
    assert found.reason is Reason.KEEPALIVE_IGNORED
    assert "by the server's log a connection carried 2 requests" in found.detail
    assert "there were 2 connections in the capture for 3 requests" in found.detail


def many(arm: Arm, connections: int, requests: int = 20, **line: object) -> Data:
    """A trial with so many requests more, on so many connections; one every 100 ms."""
    data = record(arm)
    for number in range(requests):
        carried, place = divmod(number, connections)
        each = request(f"a.test/{number}", number, arm) | {"connection": 100 + place, "reused": carried > 0}
        ask(data, each, arm)
        own = {"keepalives": carried, "began_us": BEGAN_US + 1_000_000 + 100_000 * number}
        data["evidence"]["server"]["requests"][-1] |= own | line
    return data


def keepalive_faults(data: Data, arm: Arm) -> list[str]:
    found = judged(data, arm, allowed=Tolerances(extra=20))
    return [failure.detail for failure in found if failure.reason is Reason.KEEPALIVE_IGNORED]


@pytest.mark.parametrize(("connections", "right"), [(4, True), (5, False), (19, False), (20, False)])
def test_one_connection_more_than_a_browser_needs_is_found(connections: int, right: bool) -> None:
    """The page and its style sheet came by two others. One reuse among many requests is not enough."""
    faults = keepalive_faults(many(HTTP, connections), HTTP)
    assert faults == [] if right else f"by {connections + 2} connections, where 6 are enough" in faults[0]


@pytest.mark.parametrize(("ended", "right"), [({"rst_up": True}, True), ({"fin_up": True}, False)], ids=str)
def test_another_connection_may_follow_one_that_the_browser_reset(ended: dict[str, bool], right: bool) -> None:
    """It stopped reading an answer that was no image. What it has read to its end it ends in order."""
    data = many(HTTP, 5)
    data["evidence"]["packets"]["client"]["by_connection"][0] |= ended
    assert (keepalive_faults(data, HTTP) == []) == right


@pytest.mark.parametrize(("said_of", "right"), [(2, True), (1, False)])
def test_apache_says_of_the_last_but_one_that_it_is_the_last(said_of: int, right: bool) -> None:
    """MaxKeepAliveRequests 2: each connection carries three requests, and the log has - for the second and third."""
    data = many(HTTP, 5)
    lines = data["evidence"]["server"]["requests"]
    by_port: dict[str, int] = {}
    for line in sorted(lines, key=lambda each: each["began_us"]):
        by_port[line["remote"]] = number = by_port.get(line["remote"], 0) + 1
        line |= {"keepalives": number - 1, "connection": "-" if number >= said_of else "+"}
    faults = keepalive_faults(data, Arm.parse("short", {"keepalive_requests": 2}))
    assert any("it closed the connection after" in each for each in faults) is not right


def test_connections_that_may_end_make_room_for_others() -> None:
    data = many(HTTP, 20)
    for settings in ({"keepalive_requests": 1}, {"keepalive_timeout": "100ms"}):
        arm = Arm.parse("short", settings)
        faults = keepalive_faults(data, arm)
        assert bool(faults) == ("keepalive_requests" in settings)  # each carried one request of two
    carried_two = many(Arm.parse("short", {"keepalive_requests": 1}), 10)
    assert keepalive_faults(carried_two, Arm.parse("short", {"keepalive_requests": 1})) == []
    for line in data["evidence"]["server"]["requests"]:
        line["status"] = 503  # after which Apache closes
    assert [each for each in judged(data) if each.reason is Reason.KEEPALIVE_IGNORED] != []
    for each in data["requests"][3:]:
        each["status"] = 503
    assert keepalive_faults(data, HTTP) == []


def test_requests_that_browsers_keep_apart_have_connections_of_their_own() -> None:
    data = many(HTTP, 8)
    assert keepalive_faults(data, HTTP) != []
    data["requests"][-1]["request_headers"] = [["Origin", "http://a.test"]]
    assert keepalive_faults(data, HTTP) == []


def test_a_server_that_closes_although_keepalive_is_on_is_found() -> None:
    data = many(HTTP, 3)
    data["evidence"]["server"]["requests"][5]["connection"] = "-"
    (fault,) = keepalive_faults(data, HTTP)
    assert fault.startswith("keepalive is on, but by the server's log it closed the connection after 1 of 23 requests")


def test_a_server_that_keeps_connections_although_keepalive_is_off_is_found() -> None:
    data = record(NO_KEEPALIVE)
    data["evidence"]["server"]["requests"][0]["connection"] = "+"
    assert keepalive_faults(data, NO_KEEPALIVE) == ["keepalive is off, but by the server's log 1 connections were kept"]


def test_what_the_server_had_not_logged_when_a_load_was_broken_off_is_part_of_the_time_out() -> None:
    """The server logs a request when it is done with it. That must not make another failure of a time-out, which
    would be tried again until a load is fast enough."""
    data = record(HTTP)
    data["failures"] = [{"reason": "timeout", "detail": "60 s"}]
    data["evidence"]["browser"]["times"]["plt_ms"] = None
    whole = list(data["evidence"]["server"]["requests"])
    data["evidence"]["server"]["requests"] = whole[:-1]
    assert Reason.WIRE_MISMATCH not in {each.reason for each in judged(data, HTTP, agreed=False)}
    data["evidence"]["server"]["requests"] = [*whole[:-1], whole[-1] | {"status": 206}]
    assert Reason.WIRE_MISMATCH in {each.reason for each in judged(data, HTTP, agreed=False)}


def test_a_browser_offers_more_than_the_arm_asks_for() -> None:
    https = Arm.parse("https", {"tls": "1.3"})
    data = record(https)
    data["evidence"]["packets"]["client"]["by_connection"][0] |= {"alpn_offered": ["h2", "http/1.1"]}
    assert judged(data, https) == []


def test_addresses_as_recorded_are_partly_in_clear() -> None:
    mixed = Arm.parse("mixed", {"tls": "1.3", "protocol": "h2", "schemes": "recorded"})
    data = record(mixed)
    clear = {
        "protocol": "HTTP/1.1",
        "tls": None,
        "tls_resumed": None,
        "local": "10.10.2.2:80",
        "remote": "10.10.1.2:40099",
    }
    data["evidence"]["server"]["requests"][2] |= clear
    data["requests"][2] |= {"url": "http://b.test/logo.png", "protocol": "http/1.1", "tls": None}
    assert judged(data, mixed, packets=packets([connection(40010, mixed), connection(40099, HTTP)])) == []
    data["requests"][2]["protocol"] = "h2"
    assert Reason.PROTOCOL_FALLBACK in reasons(data, mixed)


def test_packets_to_elsewhere_are_found() -> None:
    recorder = Recorder()
    Talk(recorder).open()
    recorder.add(udp("10.10.1.2", 5353, "224.0.0.251", 5353, b"who is there"))
    (found,) = judged(record(HTTP), packets=summarise(recorder.pcap()))
    assert found == Failure(Reason.OUTSIDE_REQUEST, "packets to 224.0.0.251:5353")


@pytest.mark.parametrize(
    ("way", "size", "opened", "stray"),
    [
        ("down", 1400, False, True),
        ("down", 101, False, True),
        ("down", 1400, True, False),  # the trial's own
        ("down", 100, False, False),  # a farewell
        ("up", 1400, False, False),  # nobody waits for it
    ],
)
def test_what_is_left_of_an_earlier_trial_is_found(way: str, size: int, opened: bool, stray: bool) -> None:
    recorder = Recorder()
    for port in (40000, 40001):
        Talk(recorder, port=port).open()
    talk = Talk(recorder, port=39000)
    if opened:
        talk.open()
    talk.say(way, b"HTTP/1.1 200 OK\r\n".ljust(size, b"z"))
    talk.close()
    found = judged(record(HTTP), packets=summarise(recorder.pcap()))
    said = f"of connections from before the trial: {size} bytes to port 39000"
    assert found == ([Failure(Reason.STRAY_PACKETS, said)] if stray else [])


def test_packets_of_an_earlier_trial_count_without_a_load_too() -> None:
    recorder = Recorder()
    Talk(recorder).say("down", b"z" * 1400)
    data = record(HTTP) | {"failures": [{"reason": "browser-crashed", "detail": ""}], "requests": []}
    assert reasons(data, packets=summarise(recorder.pcap())) == [Reason.BROWSER_CRASHED, Reason.STRAY_PACKETS]


def test_a_cut_capture_is_found() -> None:
    recorder = Recorder()
    Talk(recorder).open()
    (found,) = judged(record(HTTP), packets=summarise(recorder.pcap()[:-1]))
    assert found.reason is Reason.CAPTURE_LOST_PACKETS


def test_long_lists_are_cut() -> None:
    data = record(HTTP)
    for number in range(9):
        add(f"a.test/{number}")(data)
    (found,) = judged(data)
    assert found.detail == "a.test/0, a.test/1, a.test/2 and 6 more"


def test_every_reason_is_explained_in_the_reference_and_no_other() -> None:
    text = (PROJECT / "docs" / "reference" / "verdicts.md").read_text()
    sections = re.split(r"^## `([a-z-]+)`\n", text, flags=re.MULTILINE)
    described = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert list(described) == [reason.value for reason in Reason]
    for reason in Reason:
        said = described[reason.value]
        first, _, rest = said.strip().partition("\n\n")
        assert first.endswith(".")
        assert not first.startswith("-")
        assert "\n" not in first
        assert "**Commonly:**" in rest
        assert "**What to do:**" in rest


def test_an_inexact_answer_that_is_tolerated_stands_for_its_object() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=2", "nearest")(data)
    assert judged(data, packets=connections(3), allowed=Tolerances(inexact=1)) == []
    assert {each.reason for each in judged(data, packets=connections(3))} == {Reason.INEXACT_ANSWER}


def test_a_request_past_a_cache_gets_the_same_object() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=1&_=9", "stripped")(data)
    assert judged(data, packets=connections(3)) == []


def test_objects_that_come_late_or_with_another_status_are_judged_as_they_were_recorded() -> None:
    def of(data: Data, **changed: Any) -> set[str]:
        objects = (SITE.objects[0], replace(SITE.objects[1], **changed), SITE.objects[2])
        expected = Expected(HTTP, replace(SITE, objects=objects), LINK, STRICT, {"capture": CaptureOptions()})
        return {str(each.reason) for each in judge(TrialRecord.from_json(data), expected)}

    absent = record(HTTP)
    drop(1)(absent)
    del absent["evidence"]["server"]["requests"][1]
    assert "missing-object" in of(absent)
    assert "missing-object" not in of(absent, late=True)
    gone = record(HTTP)
    change(1, status=404)(gone)
    assert "failed-object" in of(gone)
    assert "failed-object" not in of(gone, status=404)
    assert "failed-object" in of(record(HTTP), status=404)


@pytest.mark.parametrize(("status", "counts"), [(204, True), (205, True), (200, False)])
def test_an_answer_without_a_body_need_not_be_read(status: int, *, counts: bool) -> None:
    """Chromium says of it that it was given up, as of a load that was cut off."""
    data = record(HTTP)
    change(1, status=status, error="net::ERR_ABORTED", body_bytes=0)(data)
    agree(data, HTTP)
    objects = (SITE.objects[0], replace(SITE.objects[1], status=status, size=0), SITE.objects[2])
    expected = Expected(HTTP, replace(SITE, objects=objects), LINK, STRICT, {"capture": CaptureOptions()})
    failures = judge(TrialRecord.from_json(data), expected)
    assert (failures == []) is counts, failures


@pytest.mark.parametrize(("kind", "counts"), [("Image", True), ("Stylesheet", False)])
def test_a_browser_reads_no_more_of_a_picture_than_shows_that_it_is_none(kind: str, *, counts: bool) -> None:
    data = record(HTTP)
    change(1, type=kind, body_bytes=100)(data)
    assert (judged(data) == []) is counts


def socket_line(data: Data, arm: Arm, url: str, client_port: int) -> None:
    """A WebSocket's handshake, refused by the server: its line in the log and its connection."""
    scheme, _, asked = url.partition("://")
    plain = Arm.parse("plain", {"tls": "1.3" if scheme == "wss" else "off"})
    line = served(request(asked, 9, plain), plain)
    line |= {"remote": f"10.10.1.2:{client_port}", "status": 404, "match": "none" if arm.server == "apache" else None}
    data["evidence"]["server"]["requests"].append(line)
    data["evidence"]["packets"]["client"]["by_connection"].append(connection(client_port, plain).to_json())


@pytest.mark.parametrize(
    ("arm", "scheme"), [(HTTP, "ws"), (NO_KEEPALIVE, "ws"), (H2, "wss")], ids=["http", "off", "h2"]
)
def test_a_page_may_open_websockets(arm: Arm, scheme: str) -> None:
    """Each is a request of HTTP/1.1 more, by a connection of its own, that no site answers."""
    data = record(arm)
    url = f"{scheme}://a.test/live?x"
    socket_line(data, arm, url, 41_000)
    assert judged(data, arm, agreed=False) != []
    data["evidence"]["browser"]["sockets"] = [{"url": url, "status": 404}]
    assert judged(data, arm, agreed=False) == []
    socket_line(data, arm, url, 41_001)
    assert judged(data, arm, agreed=False) != [], "one more than the browser opened"


def test_a_websocket_elsewhere_is_looked_up_and_no_more() -> None:
    resolver = Arm.parse("resolver", {"dns": "resolver"})
    data = record(resolver)
    names = [{"name": name, "type": "A"} for name in ("a.test", "b.test", "live.test")]
    data["evidence"]["resolver"] = {"queries": names}
    assert Reason.OUTSIDE_REQUEST in reasons(data, resolver)
    data["evidence"]["browser"]["sockets"] = [{"url": "wss://live.test/", "status": None}]
    assert reasons(data, resolver) == []


def test_what_nobody_answered_when_it_was_recorded_may_be_asked_for_again() -> None:
    data = record(HTTP)
    add("dead.test/ad.js", status=None, error="net::ERR_NAME_NOT_RESOLVED")(data)
    data["evidence"]["server"]["requests"].pop()
    site = replace(SITE, unanswered=("dead.test/ad.js",))
    expected = Expected(HTTP, site, LINK, STRICT, {"capture": CaptureOptions()})
    assert Reason.OUTSIDE_REQUEST in reasons(data)
    assert Reason.OUTSIDE_REQUEST not in {each.reason for each in judge(TrialRecord.from_json(data), expected)}


def test_a_site_that_answers_missing_objects_lets_them_be_asked_for() -> None:
    data = record(HTTP)
    add("a.test/other", status=404)(data)
    expected = Expected(HTTP, replace(SITE, answers_missing=True), LINK, STRICT, {"capture": CaptureOptions()})
    assert Reason.EXTRA_REQUEST in reasons(data)
    assert Reason.EXTRA_REQUEST not in {each.reason for each in judge(TrialRecord.from_json(data), expected)}


def test_what_is_still_under_way_after_the_load_event_is_no_evidence_of_anything() -> None:
    """Then the browser knows a status at most. Before the load event it would be a gap."""
    unknown: Any = {"connection": None, "remote": None, "wire_bytes": 0, "protocol": None, "response_headers": []}
    after, before = record(HTTP), record(HTTP)
    add("a.test/favicon.ico", before_load=False, **unknown)(after)
    assert reasons(after, packets=connections(4)) == []
    change(1, **unknown)(before)
    assert reasons(before, packets=connections(3))


def of_site(data: Data, arm: Arm = HTTP, allowed: Tolerances = STRICT, **changed: Any) -> list[Reason]:
    expected = Expected(arm, replace(SITE, **changed), LINK, allowed, {"capture": CaptureOptions()})
    data = copy.deepcopy(data)
    agree(data, arm)
    return [each.reason for each in judge(TrialRecord.from_json(data), expected)]


def test_each_thing_that_is_posted_to_one_address_has_an_answer_of_its_own() -> None:
    """Two answers with one address: each request got one of them, and both were asked for."""
    first = replace(SITE.objects[1], path="/api", method="POST", request_sha1="1" * 40, size=300)
    both = (*SITE.objects, first, replace(first, request_sha1="2" * 40, size=400))
    data = record(HTTP)
    for number, size in enumerate((300, 400), 8):
        ask(data, request("a.test/api", number, HTTP, body=size) | {"method": "POST"}, HTTP)
    assert of_site(data, objects=both) == []
    data["requests"][-1]["body_bytes"] = 401
    assert of_site(data, objects=both) == [Reason.FAILED_OBJECT]
    del data["requests"][-1]
    assert of_site(data, objects=both) == [Reason.MISSING_OBJECT]


def test_an_address_in_clear_may_lead_to_the_same_one_with_tls() -> None:
    arm = Arm.parse("as recorded", {"protocol": "h2", "tls": "1.3", "schemes": "recorded"})
    page = replace(SITE.objects[0], scheme="https")
    step = replace(page, scheme="http", status=301, headers=(("Location", "https://a.test/index.html"),))
    data = record(arm)
    data["requests"][0]["tls"] = None  # Chromium does not say it of what a redirect led to
    ask(
        data,
        request("a.test/index.html", 9, arm, body=0)
        | {
            "url": "http://a.test/index.html", "protocol": "http/1.1", "tls": None, "status": 301,
            "response_headers": [["Location", "https://a.test/index.html"]],
        },
        arm,
    )  # fmt: skip
    clear = {"tls": None, "tls_resumed": None, "local": "10.10.2.2:80", "remote": "10.10.1.2:40019"}
    data["evidence"]["server"]["requests"][-1] |= clear | {"protocol": "HTTP/1.1", "status": 301}
    assert of_site(data, arm, objects=(step, page, *SITE.objects[1:])) == []
    both = (*SITE.objects, *(replace(each, scheme="https") for each in SITE.objects))
    assert of_site(record(H2), H2, objects=both) == []


def test_a_known_address_asked_for_by_another_method_is_no_known_request() -> None:
    data = record(HTTP)
    ask(data, request("a.test/style.css?v=1", 9, HTTP) | {"method": "POST", "status": 404}, HTTP)
    assert reasons(data) == [Reason.EXTRA_REQUEST]
    data["requests"][-1] |= {"method": "HEAD", "status": 200}
    assert reasons(data) == []


def test_a_host_that_once_did_not_answer_may_not_be_asked_for_other_things() -> None:
    data = record(HTTP)
    add("dead.test/other.js", status=None, error="net::ERR_NAME_NOT_RESOLVED")(data)
    data["evidence"]["server"]["requests"].pop()
    assert of_site(data, unanswered=("dead.test/ad.js",)) == [Reason.OUTSIDE_REQUEST]


def test_where_missing_objects_are_answered_with_404_no_other_answer_is_theirs() -> None:
    data = record(HTTP)
    add("a.test/other", status=200)(data)
    assert of_site(data, answers_missing=True) == [Reason.EXTRA_REQUEST]


def test_a_late_object_may_be_given_up_and_not_fail() -> None:
    late = (*SITE.objects[:2], replace(SITE.objects[2], late=True))
    data = record(HTTP)
    data["evidence"]["server"]["requests"].pop()
    change(2, status=None, ended_ms=None, error="net::ERR_ABORTED")(data)
    assert of_site(data, objects=late) == []
    change(2, error="net::ERR_CONNECTION_RESET")(data)
    assert of_site(data, objects=late) == [Reason.FAILED_OBJECT]


def test_an_inexact_answer_stands_for_one_object_and_not_for_all_of_its_path() -> None:
    data = record(HTTP)
    nearly("a.test/style.css?v=2", "nearest")(data)
    more = (*SITE.objects, replace(SITE.objects[1], path="/style.css?v=3"))
    allowed = Tolerances(inexact=1)
    assert of_site(data, allowed=allowed) == []
    assert of_site(data, allowed=allowed, objects=more) == [Reason.MISSING_OBJECT]


def test_a_part_stands_for_the_whole_only_where_a_part_was_asked_for() -> None:
    data = record(HTTP)
    change(2, status=206, body_bytes=1)(data)
    assert reasons(data) == [Reason.FAILED_OBJECT]
    change(2, request_headers=[["Range", "bytes=0-0"]])(data)
    assert reasons(data) == []


def test_an_answer_of_which_the_server_does_not_say_how_it_was_found_is_no_evidence() -> None:
    data = record(HTTP)
    data["evidence"]["server"]["requests"][1]["match"] = None
    assert reasons(data) == [Reason.EVIDENCE_MISSING]
    assert reasons(data, Arm.parse("nginx", {"server": "nginx"})) == []


def test_an_address_may_end_with_its_question_mark() -> None:
    """As that of fonts in old style sheets: it is another address than the one without."""
    objects = (*SITE.objects[:2], replace(SITE.objects[2], path="/font.eot?"))
    site = replace(SITE, objects=objects)
    data = record(HTTP, site)
    assert of_site(data, objects=objects) == []
    change(2, url="http://b.test/font.eot?#iefix")(data)
    assert of_site(data, objects=objects) == []
    change(2, url="http://b.test/font.eot")(data)
    assert of_site(data, objects=objects) == [Reason.MISSING_OBJECT, Reason.EXTRA_REQUEST]


def test_what_is_asked_for_at_another_port_is_another_thing() -> None:
    """In a recording it got no answer, or one that no site has."""
    data = record(HTTP)
    for url in ("dead.test:8080/ad.js", "a.test:8080/index.html"):
        add(url, status=None, error="net::ERR_CONNECTION_REFUSED")(data)
        data["evidence"]["server"]["requests"].pop()
    assert of_site(data, unanswered=("dead.test:8080/ad.js", "a.test:8080/index.html")) == []
    assert of_site(data) == [Reason.OUTSIDE_REQUEST, Reason.EXTRA_REQUEST]
    data["requests"][-2]["url"] = "http://dead.test/ad.js"
    assert Reason.OUTSIDE_REQUEST in of_site(data, unanswered=("dead.test:8080/ad.js", "a.test:8080/index.html"))
