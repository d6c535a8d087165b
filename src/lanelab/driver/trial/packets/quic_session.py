"""One QUIC connection, opened as far as its keys are known: Initials always, the rest with the secrets that a client
logged. Pure, but for what it remembers.

docs/reference/packets.md says what is made of it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from lanelab.driver.trial.packets.first_bytes import Hello, hello_message, message_length
from lanelab.driver.trial.packets.quic import FIXED, LONG, NEGOTIATION, Kind, read_head
from lanelab.driver.trial.packets.quic_frames import CRYPTO, NEW_CONNECTION_ID, Broken, Frame, frames, number
from lanelab.driver.trial.packets.quic_keys import AES_128, AES_256, CHACHA, Keys, Opened, initial_keys, next_secret
from lanelab.driver.trial.packets.secrets import Secrets

ONE_RTT = 4  # beside the kinds of long headers
MOST_CRYPTO = 64 * 1024  # bytes of a handshake
MOST_PIECES = 256
FINISHED, ENCRYPTED_EXTENSIONS = 20, 8  # messages of TLS
SUITES = (AES_128, AES_256, CHACHA)
SECRET_NAMES = {  # of kind and direction (up)
    (Kind.ZERO_RTT, True): "CLIENT_EARLY_TRAFFIC_SECRET",
    (Kind.HANDSHAKE, True): "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
    (Kind.HANDSHAKE, False): "SERVER_HANDSHAKE_TRAFFIC_SECRET",
    (ONE_RTT, True): "CLIENT_TRAFFIC_SECRET_0",
    (ONE_RTT, False): "SERVER_TRAFFIC_SECRET_0",
}


class Packet(NamedTuple):
    """One packet of a datagram. `number` -1 and no frames: it could not be opened."""

    kind: int
    number: int
    frames: tuple[Frame, ...]

    @property
    def is_open(self) -> bool:
        return self.number >= 0


class Crypto:
    """The handshake's bytes of one direction and level, in their order."""

    __slots__ = ("data", "parked")

    def __init__(self) -> None:
        self.data = b""
        self.parked: dict[int, bytes] = {}

    def add(self, offset: int, piece: bytes) -> None:
        if offset + len(piece) > MOST_CRYPTO or len(self.parked) >= MOST_PIECES:
            return
        if len(piece) > len(self.parked.get(offset, b"")):
            self.parked[offset] = piece
        while ready := [at for at in self.parked if at <= len(self.data)]:
            for at in ready:
                self.data += self.parked.pop(at)[len(self.data) - at :]

    def messages(self) -> Iterator[bytes]:
        """Yield those that are whole."""
        at = 0
        while (length := message_length(self.data[at:])) is not None and at + length <= len(self.data):
            yield self.data[at : at + length]
            at += length


class Session:
    """The packets of a connection that have been opened. Datagrams in the order of the capture."""

    def __init__(self, secrets: Secrets, *, whole: bool = False) -> None:
        """Begin a connection. `whole`: packets of applications too, not the handshake's alone."""
        self._secrets, self._whole = secrets, whole
        self._keys: dict[tuple[int, bool], Keys] = {}
        self._renewed: dict[bool, bytes] = {}  # the newest secrets of applications
        self._initial: dict[int, tuple[Keys, Keys] | None] = {}  # by version
        self._first_id = b""
        self._crypto: dict[tuple[int, bool], Crypto] = {}
        self._hellos: dict[bool, Hello] = {}
        self.ids: dict[bool, set[bytes]] = {True: set(), False: set()}  # of the side to which a direction goes
        self.version = NEGOTIATION

    # --- what is known

    @property
    def client_hello(self) -> Hello | None:
        return self._hello(up=True)

    @property
    def server_hello(self) -> Hello | None:
        return self._hello(up=False)

    @property
    def answer(self) -> Hello | None:
        """The server's encrypted extensions."""
        crypto = self._crypto.get((Kind.HANDSHAKE, False))
        for message in crypto.messages() if crypto else ():
            if message[0] == ENCRYPTED_EXTENSIONS:
                return hello_message(message)
        return None

    def finished(self, *, up: bool) -> bool:
        """Return whether that side's last word of the handshake is there."""
        crypto = self._crypto.get((Kind.HANDSHAKE, up))
        return any(message[0] == FINISHED for message in crypto.messages()) if crypto else False

    def _hello(self, *, up: bool) -> Hello | None:
        if up not in self._hellos:
            crypto = self._crypto.get((Kind.INITIAL, up))
            message = next(crypto.messages(), None) if crypto else None
            message_read = hello_message(message) if message else None
            if message_read is None:
                return None
            self._hellos[up] = message_read
        return self._hellos[up]

    # --- packets

    def take(self, payload: bytes, *, up: bool) -> list[Packet]:
        """Return the packets of one datagram."""
        packets: list[Packet] = []
        at = 0
        try:
            while at < len(payload):
                if not payload[at] & LONG:
                    packets += self._short(payload[at:], up=up)
                    break
                packet, at = self._long(payload, at, up=up)
                packets += packet
        except Broken:
            pass
        return packets

    def _long(self, data: bytes, at: int, *, up: bool) -> tuple[list[Packet], int]:
        head = read_head(data[at:])
        if head is None or head.kind is None:
            raise Broken
        if head.kind == Kind.RETRY:
            self._first_id, self._initial = head.source_id, {}
            raise Broken  # it is the whole of its datagram
        self.version = head.version
        if up and not self._first_id:
            self._first_id = head.target_id
        self.ids[not up].add(head.source_id)
        place = at + 7 + len(head.target_id) + len(head.source_id)
        if head.kind == Kind.INITIAL:
            token, place = number(data, place)
            place += token
        length, place = number(data, place)
        end = place + length
        packet = self._open(head.kind, data[at : min(end, len(data))], place - at, up=up)
        return [packet], end

    def _short(self, data: bytes, *, up: bool) -> list[Packet]:
        if not data[0] & FIXED:
            return []
        if not self._whole:
            return [Packet(ONE_RTT, -1, ())]
        lengths = {len(each) for each in self.ids[up] if data[1:].startswith(each)}
        return [self._open(ONE_RTT, data, 1 + max(lengths), up=up)] if lengths else [Packet(ONE_RTT, -1, ())]

    def _open(self, kind: int, packet: bytes, number_at: int, *, up: bool) -> Packet:
        opened = self._opened(kind, packet, number_at, up=up)
        if opened is None:
            return Packet(kind, -1, ())
        try:
            frames_read = tuple(frames(opened.payload))
        except Broken:
            frames_read = ()
        for each in frames_read:
            if each.kind == CRYPTO and kind != ONE_RTT:
                self._crypto.setdefault((kind, up), Crypto()).add(each.offset, each.data)
            elif each.kind == NEW_CONNECTION_ID:
                self.ids[not up].add(each.id)
        return Packet(kind, opened.number, frames_read)

    def _opened(self, kind: int, packet: bytes, number_at: int, *, up: bool) -> Opened | None:
        if kind == Kind.INITIAL:
            if self.version not in self._initial:
                self._initial[self.version] = initial_keys(self._first_id, self.version)
            pair = self._initial[self.version]
            return pair[0 if up else 1].open(packet, number_at) if pair else None
        keys = self._keys.get((kind, up))
        if keys is None:
            return self._first_opened(kind, packet, number_at, up=up)
        opened = keys.open(packet, number_at)
        return opened or (self._after_renewal(packet, number_at, up=up) if kind == ONE_RTT else None)

    def _first_opened(self, kind: int, packet: bytes, number_at: int, *, up: bool) -> Opened | None:
        """Open a packet with the secret that the client logged, if it did."""
        hello, name = self.client_hello, SECRET_NAMES.get((kind, up))
        secret = self._secrets.get(hello.random, {}).get(name or "") if hello else None
        if secret is None:
            return None
        for suite in self._suites():
            keys = Keys(secret, self.version, suite)
            opened = keys.open(packet, number_at)
            if opened is not None:
                self._keys[kind, up] = keys
                self._renewed[up] = secret
                return opened
        return None

    def _suites(self) -> tuple[int, ...]:
        """What the server chose; of early data the choice is of the connection before."""
        answered = self.server_hello
        chosen = int.from_bytes(answered.cipher) if answered else 0
        return (chosen,) if chosen in SUITES else SUITES

    def _after_renewal(self, packet: bytes, number_at: int, *, up: bool) -> Opened | None:
        """Return the next of an application's keys; for its header the first ones go on."""
        old, answered = self._keys[ONE_RTT, up], self.server_hello
        suite = int.from_bytes(answered.cipher) if answered else AES_128
        secret = next_secret(self._renewed[up], self.version, suite)
        keys = old.renewed(secret, self.version, suite)
        opened = keys.open(packet, number_at)
        if opened is not None:
            self._keys[ONE_RTT, up], self._renewed[up] = keys, secret
        return opened
