"""Lines of a log without ports, and the requests of a capture that they are of."""

from dataclasses import replace

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.evidence.server import LoggedRequest, ServedRequest, ServerLog
from lanelab.driver.trial.packets.clear_text import ClearConnection, ClearExchange
from lanelab.driver.trial.page_load.log_placement import placed

LINK = Link.parse({"rtt": "40ms"})
HEAD, REQUEST = 200, 400
Asked = tuple[str, str, int]  # host, path, bytes of the answer's body


def connection(port: int, *asked: Asked, ended: bool = False, whole: bool = True) -> ClearConnection:
    """One that carried these, the last of them whole or not."""
    made = ClearConnection(("10.10.1.2", port), ("10.10.2.2", 80), ended)
    carried = 0
    for number, (host, path, size) in enumerate(asked):
        complete = whole or number < len(asked) - 1
        carried += HEAD + (size if complete else size // 2)
        sent_us = 1_000_000 * port + 100_000 * number
        made.exchanges.append(
            ClearExchange(
                connection=made, number=number, method="GET", host=host, path=path, protocol="HTTP/1.1", status=200,
                encoding=None, request_bytes=REQUEST, head_bytes=HEAD, body_bytes=size if complete else size // 2,
                connection_bytes=carried, sent_us=sent_us, last_us=sent_us + 60_000, whole=complete,
            )
        )  # fmt: skip
    return made


def line(path: str, carried: int, /, **more: object) -> LoggedRequest:
    """As webfs writes it."""
    made = LoggedRequest(
        client="10.10.1.2", method="GET", host=None, path=path, protocol="HTTP/1.1", status=200, body_bytes=None,
        connection_bytes=carried,
    )  # fmt: skip
    return replace(made, **more)  # type: ignore[arg-type]


FIRST = connection(1, ("a.test", "/", 1000), ("a.test", "/x.png", 5000))
SECOND = connection(2, ("b.test", "/x.png", 5000))
LINES = (line("/", 1200), line("/x.png", 5200), line("/x.png", 6400))


def place(lines: tuple[LoggedRequest, ...], *connections: ClearConnection, repeats: bool = False) -> ServerLog:
    return placed(ServerLog("webfs", "", (), (), lines), connections, LINK, repeats=repeats)


def why(log: ServerLog) -> list[tuple[str | None, str | None]]:
    return [(each.path, each.why) for each in log.unplaced]


def told(log: ServerLog) -> list[tuple[str | None, str | None, str]]:
    return [(each.host, each.path, each.remote) for each in log.requests]


ALL = [("a.test", "/", "10.10.1.2:1"), ("a.test", "/x.png", "10.10.1.2:1"), ("b.test", "/x.png", "10.10.1.2:2")]


def test_each_line_gets_what_the_capture_knows() -> None:
    log = place(LINES, FIRST, SECOND)
    assert (told(log), log.unplaced) == (ALL, ())
    assert log.requests[1] == ServedRequest(
        began_us=1_120_000, duration_us=20_000, host="a.test", method="GET", path="/x.png", status=200,
        body_bytes=5000, sent_bytes=5200, received_bytes=400, protocol="HTTP/1.1", remote="10.10.1.2:1",
        local="10.10.2.2:80", keepalives=1, connection=None, encoding=None, tls=None, tls_resumed=None, spdy=None,
        match=None,
    )  # fmt: skip


def test_the_order_of_lines_makes_no_difference() -> None:
    assert place(LINES[::-1], SECOND, FIRST).requests == place(LINES, FIRST, SECOND).requests


@pytest.mark.parametrize(
    "wrong",
    [
        line("/other", 1200), line("/", 1201), line("/", 1200, status=404), line("/", 1200, method="HEAD"),
        line("/", 1200, host="b.test"), line("/", 1200, body_bytes=999), line("/", 1200, client="10.10.1.9"),
        line("/", 1200, protocol="HTTP/1.0"), line("/", 1200, path=None),
    ],
)  # fmt: skip
def test_a_line_of_another_request_has_no_place(wrong: LoggedRequest) -> None:
    log = place((wrong, *LINES[1:]), FIRST, SECOND)
    assert why(log) == [(wrong.path, "it has no such request")]
    assert told(log) == ALL[1:]


def test_a_line_that_says_more_is_placed_by_that() -> None:
    lines = (line("/", 1200, host="a.test", body_bytes=1000, connection_bytes=None), *LINES[1:])
    assert told(place(lines, FIRST, SECOND)) == ALL


def test_without_its_line_a_request_is_not_told() -> None:
    log = place(LINES[1:], FIRST, SECOND)
    assert (told(log), log.unplaced) == (ALL[1:], ())


def test_a_line_too_many_has_no_place() -> None:
    log = place((*LINES, LINES[0]), FIRST, SECOND)
    assert why(log) == [("/", "it has 1 of these, and the log 2")]
    assert told(log) == ALL


def test_requests_that_look_alike_are_not_told_apart() -> None:
    alike = connection(1, ("a.test", "/", 1000)), connection(2, ("b.test", "/", 1000))
    assert len(place((LINES[0], LINES[0]), *alike).requests) == 2
    log = place((LINES[0],), *alike)
    assert why(log) == [("/", "it has 2 of these, and the log 1")]
    assert log.requests == ()


def test_the_last_line_of_a_connection_may_come_again_when_it_ends() -> None:
    twice = (*LINES, LINES[2])
    assert place(twice, FIRST, SECOND, repeats=True).unplaced == ()
    assert told(place(twice, FIRST, SECOND, repeats=True)) == ALL
    assert place(LINES, FIRST, SECOND, repeats=True).unplaced == ()  # it has not heard of the end yet
    for log in (
        place(twice, FIRST, SECOND),  # by a server that writes each line once
        place((*twice, LINES[2]), FIRST, SECOND, repeats=True),
        place((*LINES, LINES[0]), FIRST, SECOND, repeats=True),  # another one's line
    ):
        assert len(log.unplaced) == 1


def test_an_answer_that_was_cut_off_is_placed_by_what_was_asked() -> None:
    cut = connection(1, ("a.test", "/", 1000), ("a.test", "/x.png", 5000), ended=True, whole=False)
    log = place((line("/", 1200), line("/x.png", 6000)), cut, repeats=True)
    assert log.unplaced == ()
    assert [(each.connection, each.body_bytes) for each in log.requests] == [(None, 1000), ("X", 2500)]
    under_way = connection(1, ("a.test", "/", 1000), whole=False)
    assert [each.connection for each in place((line("/", 1200),), under_way).requests] == [None]
    assert place((), cut).requests == ()
    log = place((line("/", 1200), line("/x.png", 6000), line("/x.png", 6001)), cut)
    assert why(log) == [("/x.png", "it has no such request")] * 2
    assert why(place((line("/x.png", 6000, status=404),), cut)) == [("/x.png", "it has no such request")]
