"""Whether connections were opened with TCP's timestamps and the first windows, as their packets say."""

from dataclasses import replace

import pytest

from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.packets.packet_fields import Packet, Stream
from lanelab.driver.trial.packets.timeline import ACK, SYN
from lanelab.driver.trial.page_load.judges.tcp_options import tcp_option_failures

ON, OFF = (7, 0), None


def packet(up: bool, flags: int, timestamp: tuple[int, int] | None) -> Packet:
    return Packet(1, 0, up, 74, 1, 0, 0, flags, 65535, 0, timestamp, 1460, False)


def stream(port: int, client: tuple[int, int] | None, server: tuple[int, int] | None) -> Stream:
    opening = [packet(True, SYN, client), packet(False, SYN | ACK, server)]
    return Stream(("10.10.1.2", port), ("10.10.2.2", 80), [*opening, packet(True, ACK, client and server)])


@pytest.mark.parametrize(
    ("settings", "client", "server", "words"),
    [
        ({}, ON, ON, None),
        ({"timestamps": "false"}, OFF, OFF, None),
        ({"timestamps_server": "false"}, ON, OFF, None),
        ({"timestamps_client": "false"}, OFF, OFF, None),
        ({}, OFF, OFF, "the client offered no timestamps"),
        ({}, ON, OFF, "the server offered no timestamps"),
        ({"timestamps": "false"}, ON, OFF, "the client offered timestamps"),
        ({"timestamps_server": "false"}, ON, ON, "the server offered timestamps"),
    ],
)
def test_both_ends_are_judged(
    settings: dict[str, str], client: tuple[int, int] | None, server: tuple[int, int] | None, words: str | None
) -> None:
    link = Link.parse(settings)
    found = list(tcp_option_failures(link.client, link.server, [stream(40001, client, server)]))
    assert [failure.reason for failure in found] == ([] if words is None else [Reason.TCP_OPTIONS])
    assert words is None or words in found[0].detail


@pytest.mark.parametrize(
    ("settings", "client", "server", "words"),
    [
        ({}, 64_240, 65_160, None),
        ({"initial_receive_window": "4"}, 5840, 5792, None),
        ({"initial_receive_window_client": "4"}, 5840, 65_160, None),
        ({"initial_receive_window_client": "44"}, 64_240, 65_160, None),
        ({"initial_receive_window_client": "4"}, 64_240, 65_160, "the client offered to take 64240 bytes"),
        (
            {"initial_receive_window": "4"},
            5840,
            65_160,
            "the server offered to take 65160 bytes or so at first, and not 4",
        ),
        ({"initial_receive_window_client": "5"}, 5840, 65_160, "the client offered to take 5840 bytes"),
        ({"initial_receive_window_client": "4"}, 7300, 65_160, "the client offered to take 7300 bytes"),
        ({"initial_receive_window_client": "4"}, 0, 65_160, "the client offered to take 0 bytes"),
    ],
)
def test_first_windows_are_judged(settings: dict[str, str], client: int, server: int, words: str | None) -> None:
    link, opened = Link.parse(settings), stream(40001, ON, ON)
    syn, answer, *rest = opened.packets
    packets = [syn._replace(window=client), answer._replace(window=server), *rest]
    found = list(tcp_option_failures(link.client, link.server, [replace(opened, packets=packets)]))
    assert [failure.reason for failure in found] == ([] if words is None else [Reason.TCP_OPTIONS])
    assert words is None or words in found[0].detail


def test_a_first_window_without_the_size_of_a_segment_is_no_evidence() -> None:
    link, opened = Link.parse({"initial_receive_window_client": "4"}), stream(40001, ON, ON)
    syn, *rest = opened.packets
    packets = [syn._replace(window=5840, mss=None), *rest]
    assert list(tcp_option_failures(link.client, link.server, [replace(opened, packets=packets)]))


def test_one_connection_of_many_is_enough_and_is_named() -> None:
    link = Link.parse({})
    streams = [stream(port, ON, ON if port != 40003 else OFF) for port in range(40001, 40007)]
    (failure,) = tcp_option_failures(link.client, link.server, streams)
    assert failure.detail == "on 1 of 6 connections the server offered no timestamps (client's ports 40003)"


def test_a_connection_whose_beginning_was_not_captured_says_nothing() -> None:
    late = Stream(("10.10.1.2", 40001), ("10.10.2.2", 80), [packet(True, ACK, OFF)])
    link = Link.parse({})
    assert not list(tcp_option_failures(link.client, link.server, [late]))
