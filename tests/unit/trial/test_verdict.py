"""Each reason for which a trial does not count: found when it is there, and not when it is not."""

import re
from collections.abc import Callable

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.falsified import H2, HTTP, NO_KEEPALIVE, add, change, drop, judged, queries, times
from tests.kit.frames import Recorder, Talk, udp
from tests.kit.judging import cases, reasons
from tests.kit.records import Data, connection, packets, record, request, served

WARM = Arm.parse("warm", {"start": "warm"})
GZIP = Arm.parse("gzip", {"compression": "gzip"})
BROTLI = Arm.parse("brotli", {"compression": "brotli", "tls": "1.3"})
ARMS = (HTTP, NO_KEEPALIVE, H2, WARM, GZIP, BROTLI)


@pytest.mark.parametrize("arm", ARMS, ids=lambda arm: arm.name)
def test_a_sound_trial_counts(arm: Arm) -> None:
    assert judged(record(arm), arm) == []


TIMESTAMPS, PROBES, ECN = "net.ipv4.tcp_timestamps", "net.ipv4.tcp_early_retrans", "net.ipv4.tcp_ecn"


def test_every_reason_that_is_judged_has_a_case() -> None:
    """The others come from the trial itself, or have tests below, in test_wire.py, test_over_quic.py,
    test_devices.py, test_streams.py, test_hints.py, test_link_verdict.py, test_initial_windows.py or
    test_load_verdict.py."""
    own = {Reason.TIMEOUT, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED, Reason.SERVER_FAILED, Reason.BED_LOST}
    own |= {Reason.GATEWAY_FAILED, Reason.LINK_OUT_OF_TOLERANCE, Reason.STRAY_PACKETS, Reason.EVIDENCE_MISSING}
    own |= {Reason.LINK_RTT, Reason.LINK_DELAY, Reason.LINK_RATE, Reason.LINK_MTU, Reason.INITIAL_WINDOW}
    own |= {Reason.TCP_OPTIONS}  # test_tcp_options.py
    own |= {Reason.COALESCING_IGNORED, Reason.CONNECTIONS_EXCEEDED}  # test_wire.py
    own |= {Reason.PIPELINING_IGNORED, Reason.RESUMPTION_IGNORED}
    own |= {Reason.LINK_QUEUE, Reason.THIRD_PARTIES}  # test_link_verdict.py, test_third_parties_judged.py
    own |= {Reason.EARLY_DATA_IGNORED, Reason.DEVICE_IGNORED}
    own |= {Reason.STREAM_SETTINGS, Reason.PUSH_MISSING, Reason.PUSH_UNASKED, Reason.HINTS_IGNORED}
    own |= {Reason.GENERATOR_FAILED, Reason.GENERATOR_LIMITED, Reason.STOPPED}
    own |= {Reason.LINK_TRACE, Reason.INTERACTION_FAILED}  # test_moving_links.py, test_vitals.py
    own |= {Reason.CROSS_MISSING, Reason.CROSS_STALLED}  # tests/unit/link/test_cross.py
    own |= {Reason.SCRIPT_FAILED}  # tests/e2e/test_journey_scripts.py
    own |= {Reason.FETCHER_FAILED, Reason.AT_ONCE_IGNORED, Reason.WARM_IGNORED}  # test_fetch_verdict.py
    own |= {Reason.FETCHER_LIMITED}  # test_fetch_http3.py
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


def test_tls_of_what_a_redirect_led_to_that_was_kept_is_the_servers_word() -> None:
    """A repeat view has the redirect in its cache, and what it leads to comes over the link."""
    arm = Arm.parse("warm h2", {"protocol": "h2", "tls": "1.3", "start": "warm"})
    data = record(arm)
    redirected(data)
    change(1, from_cache=True)(data)
    assert Reason.TLS_FALLBACK not in reasons(data, arm)
    data["evidence"]["server"]["requests"][2]["tls"] = "TLSv1.2"
    assert Reason.TLS_FALLBACK in reasons(data, arm)


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


@pytest.mark.parametrize(("times", "counts"), [(3, False), (4, True)])
def test_what_is_sent_on_many_connections_from_before_is_counted(times: int, counts: bool) -> None:
    """No one of them is stray: together they take the link's time."""
    recorder = Recorder()
    Talk(recorder, port=40000).open()
    for number in range(times):
        Talk(recorder, port=39000 + number).say("up", b"GET / HTTP/1.1\r\n".ljust(1400, b"z"))
    found = judged(record(HTTP), packets=summarise(recorder.pcap()))
    of_others = [each.reason for each in found if "before the trial" in each.detail]
    assert of_others == [Reason.CROSS_TRAFFIC] * counts


@pytest.mark.parametrize(("port", "counts"), [(443, False), (80, False), (8080, True)])
@pytest.mark.parametrize("arm", [HTTP, H2], ids=["in clear", "with TLS"])
def test_a_farewell_of_the_load_before_is_that_of_a_web_server_at_either_port(
    arm: Arm, port: int, counts: bool
) -> None:
    """Arms take turns. A FIN that was lost is sent again while the next page loads, which may be over another port."""
    data = record(arm)
    nothing = dict.fromkeys(("payload_up", "payload_down", "data_packets_up", "data_packets_down"), 0)
    small = {"packets_up": 1, "packets_down": 1, "bytes_up": 66, "bytes_down": 66, "syn": False, "handshake": False}
    unknown = dict.fromkeys(("handshake_rtt_us", "header_down", "data_us", "spoken_up", "spoken_down", "mss_down"))
    said = connection(39_000, arm, server_port=port, fin_down=True, used=False, **nothing, **small, **unknown)
    summary = data["evidence"]["packets"]["client"]
    summary["by_connection"].append(said.to_json())
    summary["bytes"] += 132
    found = [each.detail for each in judged(data, arm) if each.reason is Reason.CROSS_TRAFFIC]
    assert found == [f"132 bytes to port {port}"] * counts


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
