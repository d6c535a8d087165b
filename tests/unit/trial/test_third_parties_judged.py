"""What judges say of loads whose third parties are to misbehave: sound evidence, and each piece of it falsified."""

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.quic_records import flow
from tests.kit.records import LINK, SITE, Data, connection, record, request, served

THIRD = "b.test/logo.png"
B_TEST = "10.10.16.2"  # where each host has an address of its own
UNUSED = {"used": False, "data_packets_up": 0}
BLOCKED = Arm.parse("blocked", {"block": "b.test"})
BLOCKED_ADDRESS = Arm.parse("blocked", {"block": "b.test/*.png", "addresses": "per-origin"})
DEAD = Arm.parse("dead", {"unreachable": "b.test"})
SLOW = Arm.parse("slow", {"answer_delay": {THIRD: "200ms"}})
ERROR = Arm.parse("error", {"answer": {THIRD: "503"}})
Change = Callable[[Data], object]


def with_answers(site: Site) -> Site:
    """The tiny site whose third party answers with 503, as it is prepared."""
    return replace(site, objects=(*site.objects[:2], replace(site.objects[2], status=503, size=20, mime="text/plain")))


def refused(error: str) -> Data:
    """A request that nobody answered."""
    each = request(THIRD, 2, BLOCKED)
    unknown: Data = {"status": None, "connection": None, "remote": None, "protocol": None, "response_headers": []}
    return {**each, **unknown, "error": error, "wire_bytes": 0, "body_bytes": 0}


def without_third(arm: Arm, error: str) -> Data:
    data = record(arm)
    data["requests"][2] = refused(error)
    data["evidence"]["server"]["requests"].pop()
    gone = data["evidence"]["packets"]["client"]["by_connection"].pop()
    data["evidence"]["packets"]["client"]["bytes"] -= gone["bytes_up"] + gone["bytes_down"]
    return data


def dead() -> Data:
    data = without_third(DEAD, "net::ERR_CONNECTION_TIMED_OUT")
    nothing = dict.fromkeys(("packets_down", "bytes_down", "payload_down", "payload_up", "data_packets_up"), 0)
    nothing |= {"data_packets_down": 0, "retransmissions_up": 10}
    unknown = dict.fromkeys(("handshake_rtt_us", "header_down", "data_us", "spoken_up", "spoken_down", "mss_down"))
    silent = {"handshake": False, "used": False, "first_flight_down": None}
    tried = connection(45_000, DEAD, server="10.10.31.1", **nothing, **unknown, **silent)
    data["evidence"]["packets"]["client"]["by_connection"].append(tried.to_json())
    return data


def slow() -> Data:
    data = record(SLOW)
    data["evidence"]["server"]["requests"][2]["duration_us"] = 200_400
    data["requests"][2]["timings"]["wait"] = 241.0
    data["requests"][2]["ended_ms"] += 200
    return data


def error() -> Data:
    data = record(ERROR)
    data["requests"][2] |= {"status": 503, "error": "net::ERR_ABORTED", "body_bytes": 20, "wire_bytes": 270}
    data["evidence"]["server"]["requests"][2] |= {"status": 503, "body_bytes": 20, "sent_bytes": 270}
    return data


SOUND: dict[str, tuple[Arm, Site, Callable[[], Data]]] = {
    "blocked": (BLOCKED, SITE, lambda: without_third(BLOCKED, "inspector")),
    "blocked by name": (BLOCKED, SITE, lambda: without_third(BLOCKED, "net::ERR_NAME_NOT_RESOLVED")),
    "blocked address": (BLOCKED_ADDRESS, SITE, lambda: without_third(BLOCKED_ADDRESS, "inspector")),
    "dead": (DEAD, SITE, dead),
    "slow": (SLOW, SITE, slow),
    "error": (ERROR, with_answers(SITE), error),
}


def judged(name: str, change: Change = lambda _: None) -> list[Failure]:
    arm, site, sound = SOUND[name]
    data = copy.deepcopy(sound())
    change(data)
    expected = Expected(arm, site, LINK, Tolerances(), {"capture": CaptureOptions()})
    return judge(TrialRecord.from_json(data), expected)


@pytest.mark.parametrize("name", SOUND)
def test_what_was_asked_for_counts(name: str) -> None:
    assert not judged(name)


def set_request(**values: object) -> Change:
    return lambda data: data["requests"][2].update(values)


def set_served(**values: object) -> Change:
    return lambda data: data["evidence"]["server"]["requests"][2].update(values)


def logged(arm: Arm) -> Change:
    """The server was asked all the same."""
    return lambda data: data["evidence"]["server"]["requests"].append(served(request(THIRD, 1, arm), arm))


def last_connection(**values: object) -> Change:
    return lambda data: data["evidence"]["packets"]["client"]["by_connection"][-1].update(values)


def never_asked(data: Data) -> None:
    del data["requests"][2]


def nobody_asked(data: Data) -> None:
    never_asked(data)
    data["evidence"]["server"]["requests"].pop()


def wait(ms: float) -> Change:
    return lambda data: data["requests"][2]["timings"].update(wait=ms)


FALSIFIED: list[tuple[str, Change, str]] = [
    ("blocked", set_request(status=200), "b.test/logo.png came, and is blocked"),
    ("blocked", logged(BLOCKED), "the server was asked for b.test/logo.png, which is blocked"),
    ("blocked", set_request(error=None), "does not say that it blocked b.test/logo.png (no error)"),
    (
        "blocked",
        set_request(error="net::ERR_CONNECTION_RESET"),
        "it blocked b.test/logo.png (net::ERR_CONNECTION_RESET)",
    ),
    ("blocked", never_asked, "nothing that is blocked was asked for"),
    ("blocked address", logged(BLOCKED_ADDRESS), "the server was asked for b.test/logo.png"),
    ("blocked address", set_request(status=200), "came, and is blocked"),
    ("dead", set_request(status=200), "b.test/logo.png came, and its host is not reachable"),
    ("dead", logged(DEAD), "b.test/logo.png came, and its host is not reachable"),
    ("dead", last_connection(packets_down=1), "packets came from 10.10.31.1:80, where nobody is to be"),
    ("dead", last_connection(server="10.10.2.2"), "the browser tried to reach none of b.test"),
    ("dead", last_connection(syn=False), "the browser tried to reach none of b.test"),
    ("slow", set_served(duration_us=150_000), "the server answered too soon: b.test/logo.png after 150 ms of 200"),
    ("slow", wait(150.0), "the browser waited too little: b.test/logo.png after 150 ms of 200"),
    ("slow", lambda data: data["evidence"]["server"]["requests"].pop(), "log has nothing that was to wait"),
    ("error", set_served(status=200), "the server answered b.test/logo.png with 200 instead of 503"),
]


@pytest.mark.parametrize(("name", "change", "says"), FALSIFIED, ids=[f"{a}: {c}"[:70] for a, _, c in FALSIFIED])
def test_what_contradicts_it_is_a_reason(name: str, change: Change, says: str) -> None:
    details = [each.detail for each in judged(name, change) if each.reason is Reason.THIRD_PARTIES]
    assert len(details) == 1
    assert says in details[0]


NOT_COME_TO = [
    ("blocked", never_asked),
    ("dead", last_connection(server="10.10.2.2")),
    ("slow", nobody_asked),
    ("error", nobody_asked),
]


@pytest.mark.parametrize(("name", "change"), NOT_COME_TO)
def test_what_is_late_need_not_be_asked_for(name: str, change: Change) -> None:
    arm, site, sound = SOUND[name]
    late = replace(site, objects=(*site.objects[:2], replace(site.objects[2], late=True)))
    for where, reasons in ((site, 1), (late, 0)):
        data = sound()
        change(data)
        expected = Expected(arm, where, LINK, Tolerances(), {"capture": CaptureOptions()})
        failures = judge(TrialRecord.from_json(data), expected)
        assert [each.reason for each in failures].count(Reason.THIRD_PARTIES) == reasons


@pytest.mark.parametrize(("name", "change"), NOT_COME_TO)
def test_what_a_load_had_not_come_to_when_its_time_was_over_is_part_of_the_time_out(name: str, change: Change) -> None:
    """Another failure would have it tried again until a load is fast enough."""

    def out_of_time(data: Data) -> None:
        change(data)
        data["failures"] = [{"reason": "timeout", "detail": "60 s"}]
        data["evidence"]["browser"]["times"]["plt_ms"] = None

    assert Reason.THIRD_PARTIES in {each.reason for each in judged(name, change)}
    found = {each.reason for each in judged(name, out_of_time)}
    assert Reason.TIMEOUT in found
    assert Reason.THIRD_PARTIES not in found


def test_a_dead_host_needs_a_capture() -> None:
    def forget(data: Data) -> None:
        data["evidence"]["packets"] = {}

    assert any("without a capture" in each.detail for each in judged("dead", forget))


@pytest.mark.parametrize(
    ("of_tcp", "of_quic", "is_told"),
    [
        ([{}], [], True),
        ([], [{"bytes_down": 0, "packets_down": 0}], True),
        ([{"syn": False, "payload_down": 0}], [], False),
        ([], [{"quic": None, "bytes_up": 80, "bytes_down": 0, "packets_down": 0}], False),
    ],
    ids=["TCP", "QUIC", "the end of an earlier connection", "of QUIC"],
)
def test_packets_to_a_blocked_host_are_a_reason_where_hosts_have_addresses(
    of_tcp: list[Data], of_quic: list[Data], is_told: bool
) -> None:
    arm = Arm.parse("blocked", {"block": "b.test", "addresses": "per-origin"})
    data = without_third(arm, "inspector")
    tried = [connection(45_000, arm, server=B_TEST, **{**UNUSED, **each}).to_json() for each in of_tcp]
    by_udp = [flow().to_json() | {"server": B_TEST} | each for each in of_quic]
    data["evidence"]["packets"]["client"]["by_connection"] += tried
    data["evidence"]["packets"]["client"]["by_udp_flow"] += by_udp
    expected = Expected(arm, SITE, LINK, Tolerances(), {"capture": CaptureOptions()})
    failures = judge(TrialRecord.from_json(data), expected)
    said = [each.detail for each in failures if each.reason is Reason.THIRD_PARTIES]
    assert said == ["packets went to b.test, which is blocked"] * is_told


@pytest.mark.parametrize("name", ["blocked", "blocked address", "dead"])
def test_nothing_else_may_be_missing(name: str) -> None:
    def lose_the_sheet(data: Data) -> None:
        del data["requests"][1]
        del data["evidence"]["server"]["requests"][1]

    assert Reason.MISSING_OBJECT in [each.reason for each in judged(name, lose_the_sheet)]


def test_another_error_than_was_asked_for_is_a_failed_object() -> None:
    def other(data: Data) -> None:
        data["requests"][2]["status"] = data["evidence"]["server"]["requests"][2]["status"] = 500

    assert [each.reason for each in judged("error", other)] == [Reason.THIRD_PARTIES, Reason.FAILED_OBJECT]
    aborted = judged("slow", set_request(error="net::ERR_ABORTED"))
    assert Reason.FAILED_OBJECT in [each.reason for each in aborted]


def test_what_is_blocked_in_one_arm_is_due_in_another() -> None:
    arm = Arm.parse("all well", {})
    expected = Expected(arm, SITE, LINK, Tolerances(), {"capture": CaptureOptions()})
    failures = judge(TrialRecord.from_json(without_third(arm, "inspector")), expected)
    assert Reason.FAILED_OBJECT in [each.reason for each in failures]
