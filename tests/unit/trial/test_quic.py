"""QUIC as captures show it: the published samples of RFC 9001, and a spinning connection whose truth is known."""

import pytest

from lanelab.driver.record.evidence.packets import QuicSummary
from lanelab.driver.trial.packets.packets import summarise
from lanelab.driver.trial.packets.quic import Kind, begins_quic, read_head
from tests.kit.frames import CLIENT, SERVER, Recorder, udp

# The beginnings of the packets in RFC 9001, appendix A.2 to A.5 (what follows is encrypted).
CLIENT_INITIAL = bytes.fromhex("c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11")
SERVER_INITIAL = bytes.fromhex("cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a")
RETRY = bytes.fromhex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba")
SHORT = bytes.fromhex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb")
# RFC 9369, appendix A.2 and A.4: version 2 numbers its types otherwise.
CLIENT_INITIAL_2 = bytes.fromhex("d76b3343cf088394c8f03e5157080000449ea0c95e82ffe67b6abcdb4298b485")
RETRY_2 = bytes.fromhex("cf6b3343cf0008f067a5502a4262b5746f6b656ec8646ce8bfe33952d955543665dcc7b6")
SMALLEST = 1200


def whole(begin: bytes) -> bytes:
    return begin + bytes(SMALLEST - len(begin))


class Talk:
    """Datagrams of one pair of ports, `rtt_ms` from each question to its answer."""

    def __init__(self, rtt_ms: float = 40.0) -> None:
        self.recorder, self.rtt_ms = Recorder(), rtt_ms

    def up(self, payload: bytes, after_ms: float = 0.1) -> None:
        self.recorder.add(udp(CLIENT, 50000, SERVER, 443, payload), after_ms)

    def down(self, payload: bytes, after_ms: float = 0.1) -> None:
        self.recorder.add(udp(SERVER, 443, CLIENT, 50000, payload), after_ms)

    def quic(self) -> QuicSummary | None:
        (flow,) = summarise(self.recorder.pcap()).by_udp_flow
        return flow.quic


def test_the_published_packets_are_what_they_are() -> None:
    kinds = [read_head(packet) for packet in (CLIENT_INITIAL, SERVER_INITIAL, RETRY, CLIENT_INITIAL_2, RETRY_2)]
    assert [head.kind if head else None for head in kinds] == [
        Kind.INITIAL, Kind.INITIAL, Kind.RETRY, Kind.INITIAL, Kind.RETRY,
    ]  # fmt: skip
    assert read_head(SHORT) is None
    head = read_head(SERVER_INITIAL)
    assert head is not None
    assert (head.target_id, head.source_id.hex()) == (b"", "f067a5502a4262b5")


@pytest.mark.parametrize(
    ("payload", "length"),
    [(SHORT, 1200), (CLIENT_INITIAL, 1199), (RETRY, 1200), (b"", 0), (b"\xc0\0\x01\0\0" + bytes(40), 1200)],
    ids=["short header", "short datagram", "retry", "nothing", "another version"],
)
def test_what_begins_no_connection(payload: bytes, length: int) -> None:
    assert not begins_quic(payload, length)


@pytest.mark.parametrize(("begin", "version"), [(CLIENT_INITIAL, "1"), (CLIENT_INITIAL_2, "2")])
def test_a_handshake(begin: bytes, version: str) -> None:
    talk = Talk()
    talk.up(whole(begin))
    answer = SERVER_INITIAL if version == "1" else b"\xdf\x6b\x33\x43\xcf" + SERVER_INITIAL[5:]
    talk.down(whole(answer), 40)
    talk.up(whole(begin), 0.5)
    found = talk.quic()
    assert found is not None
    assert (found.version, found.first_server_id, found.client_id) == (version, "8394c8f03e515708", "")
    assert (found.server_id, found.initials_up, found.initials_down) == ("f067a5502a4262b5", 2, 1)
    assert (found.handshake_rtt_us, found.retry, found.version_negotiation) == (40_500, False, False)
    assert (found.spins, found.spin_rtt_us) == (0, None)


def test_a_retry_and_a_negotiation_are_noticed() -> None:
    talk = Talk()
    talk.up(whole(CLIENT_INITIAL))
    talk.down(b"\x80\0\0\0\0" + RETRY[5:], 40)
    talk.up(whole(CLIENT_INITIAL))
    talk.down(RETRY, 40)
    talk.up(whole(CLIENT_INITIAL))
    found = talk.quic()
    assert found is not None
    assert (found.retry, found.version_negotiation, found.handshake_rtt_us) == (True, True, None)


def spinning(talk: Talk, turns: int, each: int) -> None:
    talk.up(whole(CLIENT_INITIAL))
    talk.down(whole(SERVER_INITIAL), talk.rtt_ms)
    for turn in range(turns):
        first = SHORT[0] & ~0x20 | (turn % 2) << 5
        for packet in range(each):
            talk.down(bytes([first]) + SHORT[1:], talk.rtt_ms - each + 1 if packet == 0 else 1)


def test_a_spinning_bit_tells_the_round_trip() -> None:
    talk = Talk(rtt_ms=35)
    spinning(talk, 12, 8)
    found = talk.quic()
    assert found is not None
    assert (found.spins, found.spin_rtt_us) == (10, 35_000)


@pytest.mark.parametrize(("turns", "each"), [(3, 8), (40, 1), (1, 50)], ids=["too few", "random", "constant"])
def test_a_bit_that_does_not_spin_tells_nothing(turns: int, each: int) -> None:
    talk = Talk()
    spinning(talk, turns, each)
    found = talk.quic()
    assert found is not None
    assert (found.spins, found.spin_rtt_us) == (0, None)


def test_a_name_server_is_no_quic() -> None:
    talk = Talk()
    talk.up(bytes.fromhex("c000010000010000000000000161047465737400") + bytes(1300))
    assert talk.quic() is None
