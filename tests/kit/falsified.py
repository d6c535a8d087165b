"""Ways to falsify the sound record of a page load."""

from collections.abc import Callable
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.reasons import Failure
from lanelab.driver.trial.packets.packets import PacketSummary, summarise
from tests.kit.frames import Recorder, Talk
from tests.kit.judging import judged as judged_as
from tests.kit.records import Data, ask, request

HTTP = Arm.parse("http", {})
NO_KEEPALIVE = Arm.parse("no keepalive", {"keepalive": False})
H2 = Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})


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
