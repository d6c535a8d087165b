"""Answers of a real httpd that wait, as an arm's `answer_delay` says: by so long, and without holding up any other."""

import threading
import time
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.apache.waiting import AT_ONCE_ON_HTTP2, waiting_at_once
from lanelab.driver.base.units import Duration
from lanelab.driver.record.evidence.server import ServedRequest
from tests.wire.recorded_objects import curl

from .replaying import Replay, ask, pack_of, replaying, site_of, stored
from .spdy_client import connect

WAIT = Duration.parse("700ms")
WAIT_US = WAIT.ns // 1000
SOON_US = WAIT_US // 2
MANY = 30
QUICK = stored("a.test/quick", b"quick")
SLOW = [stored(f"slow.test/{number}", b"slow") for number in range(MANY)]
DELAYS = {each.object.url: WAIT for each in SLOW}
OBJECTS = [QUICK, *SLOW]


def lines_of(server: Replay, count: int) -> dict[str, ServedRequest]:
    return {f"{(each.host or '').partition(':')[0]}{each.path}": each for each in server.served(count)}


@pytest.mark.parametrize("mpm", ["event", "worker", "prefork"])
def test_answers_wait_and_hold_no_worker_that_others_need(apache: Path, module_tools: None, mpm: str) -> None:
    """With one process of prefork for what does not wait, and as many as wait beside it."""
    assert module_tools is None
    settings = {"mpm": mpm, "start_servers": 1, "max_workers": 25 if mpm != "prefork" else 1, "connections_per_host": 6}
    settings |= {"via": "browser"}
    waiting = waiting_at_once(Arm.parse("arm", settings), DELAYS)
    assert waiting == 6
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS, DELAYS), settings, waiting=waiting) as server:
        threads = [threading.Thread(target=_get, args=(server, each.object.url)) for each in SLOW[:waiting]]
        for thread in threads:
            thread.start()
        time.sleep(WAIT.seconds / 7)  # all of them are with the server
        with server.connect() as line:
            assert ask(line, "GET", QUICK.object.url).body == b"quick"
        for thread in threads:
            thread.join()
        lines = lines_of(server, waiting + 1)
        assert not server.unexpected()
    waited = [each.duration_us for url, each in lines.items() if url in DELAYS]
    assert len(waited) == waiting
    assert all(WAIT_US <= each < WAIT_US + SOON_US for each in waited)
    assert lines[QUICK.object.url].duration_us < SOON_US
    ended_us = lines[QUICK.object.url].began_us
    assert ended_us < min(each.began_us + each.duration_us for url, each in lines.items() if url in DELAYS)


def _get(server: Replay, url: str) -> None:
    with server.connect() as line:
        ask(line, "GET", url)


def test_another_request_on_the_connection_waits_for_nobody_over_http2(apache: Path, module_tools: None) -> None:
    """As many as one connection can have, all at once; what does not wait is asked for last."""
    assert module_tools is None
    slow = SLOW[: AT_ONCE_ON_HTTP2 - 1]
    delays = {each.object.url: WAIT for each in slow}
    arm = Arm.parse("arm", {"tls": "1.3", "protocol": "h2"})
    waiting = waiting_at_once(arm, delays)
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS, delays), arm.changed(), waiting=waiting) as server:
        port = server.ports["https"]
        more = [word for each in slow for word in ("-o", "/dev/null", f"https://slow.test:{port}{each.object.path}")]
        resolve = ["--resolve", f"slow.test:{port}:127.0.0.1"]
        curl(server, QUICK.object.url, *resolve, "--parallel", "--parallel-max", "50", *more)
        lines = lines_of(server, len(slow) + 1)
        assert not server.unexpected()
    waited = [each for url, each in lines.items() if url in delays]
    assert len(waited) == len(slow)
    assert len({each.remote for each in waited}) == 1
    assert all(WAIT_US <= each.duration_us < WAIT_US + SOON_US for each in waited)
    assert lines[QUICK.object.url].duration_us < SOON_US


@pytest.mark.parametrize("tls", ["off", "1.2"])
def test_another_request_on_the_connection_waits_for_nobody_over_spdy(
    apache: Path, module_tools: None, tls: str
) -> None:
    assert module_tools is None
    arm = Arm.parse("arm", {"protocol": "spdy/3.1", "tls": tls})
    waiting = waiting_at_once(arm, DELAYS)
    with replaying(apache, site_of(OBJECTS), pack_of(OBJECTS, DELAYS), arm.changed(), waiting=waiting) as server:
        client = connect(server.ports[arm.scheme], "3.1", tls=tls != "off")
        streams = [client.request(each.object.path, host="slow.test") for each in SLOW]
        quick = client.request(QUICK.object.path, host="a.test")
        assert client.response(quick).body == b"quick"
        for stream in streams:
            assert client.response(stream).body == b"slow"
        client.close()
        lines = lines_of(server, MANY + 1)
    assert all(WAIT_US <= each.duration_us < WAIT_US + SOON_US for url, each in lines.items() if url in DELAYS)
    assert lines[QUICK.object.url].duration_us < SOON_US
