"""One QUIC connection, opened as far as its keys are known: Initials always, the rest with the secrets that a client
logged. Pure, but for what it remembers.

Where a capture keeps the beginning of each datagram alone (a snap length), the packets that are whole open: most
acknowledgements are. The client's hello does not, so nobody knows which of the logged secrets are this connection's:
those that open a packet. Of a packet that is cut, its number can be read with keys that have opened others.

docs/reference/packets.md says what is made of it.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lanelab.driver.trial.packets.first_bytes import Hello, hello_message, message_length
from lanelab.driver.trial.packets.quic import FIXED, LONG, NEGOTIATION, Kind, read_head
from lanelab.driver.trial.packets.quic_frames import (
    CRYPTO,
    NEW_CONNECTION_ID,
    Broken,
    Frame,
    frames,
    number,
    parameter,
)
from lanelab.driver.trial.packets.quic_keys import AES_128, AES_256, CHACHA, Keys, Opened, initial_keys, next_secret
from lanelab.driver.trial.packets.secrets import Secrets

ONE_RTT = 4  # beside the kinds of long headers
MOST_CRYPTO = 64 * 1024  # bytes of a handshake
MOST_PIECES = 256
MOST_TRIED = 64  # packets that are tried with everybody's secrets
ENCRYPTED_EXTENSIONS = 8  # a message of TLS
ACK_DELAY_EXPONENT, USUAL_EXPONENT, LARGEST_EXPONENT = 0x0A, 3, 20  # a transport parameter (RFC 9000, 18.2)
SUITES = (AES_128, AES_256, CHACHA)
SECRET_NAMES = {  # of kind and direction (up)
    (Kind.ZERO_RTT, True): "CLIENT_EARLY_TRAFFIC_SECRET",
    (Kind.HANDSHAKE, True): "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
    (Kind.HANDSHAKE, False): "SERVER_HANDSHAKE_TRAFFIC_SECRET",
    (ONE_RTT, True): "CLIENT_TRAFFIC_SECRET_0",
    (ONE_RTT, False): "SERVER_TRAFFIC_SECRET_0",
}


class Packet(NamedTuple):
    """One packet of a datagram. `number` -1 and no frames: it could not be opened. Of one whose end was not captured
    nothing is known but its number."""

    kind: int
    number: int
    frames: tuple[Frame, ...]
    is_cut: bool = False

    @property
    def is_open(self) -> bool:
        return self.number >= 0 and not self.is_cut


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
        self._random: bytes | None = None  # of the client's hello, by which its secrets are logged; once one has opened
        self._suite = 0  # that opened it
        self._tried = 0
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

    @property
    def held_unit_us(self) -> int | None:
        """Return the unit in which the server says how long it held an acknowledgement back; None: its parameters are
        not known."""
        answered = self.answer
        if answered is None or answered.of_quic is None:
            return None
        exponent = parameter(answered.of_quic, ACK_DELAY_EXPONENT, USUAL_EXPONENT)
        return None if exponent is None or exponent > LARGEST_EXPONENT else 1 << exponent

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

    def take(self, payload: bytes, *, up: bool, cut: bool = False) -> list[Packet]:
        """Return the packets of one datagram. `cut`: its end was not captured."""
        packets: list[Packet] = []
        at = 0
        try:
            while at < len(payload):
                if not payload[at] & LONG:
                    packets += self._short(payload[at:], up=up, cut=cut)
                    break
                packet, at = self._long(payload, at, up=up, cut=cut)
                packets += packet
        except Broken:
            pass
        return packets

    def _long(self, data: bytes, at: int, *, up: bool, cut: bool) -> tuple[list[Packet], int]:
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
        if end > len(data):
            numbered = self._numbered(head.kind, data[at:], place - at, up=up)
            return [numbered if cut else Packet(head.kind, -1, ())], end
        return [self._open(head.kind, data[at:end], place - at, up=up)], end

    def _short(self, data: bytes, *, up: bool, cut: bool) -> list[Packet]:
        if not data[0] & FIXED:
            return []
        if not self._whole:
            return [Packet(ONE_RTT, -1, ())]
        lengths = {len(each) for each in self.ids[up] if data[1:].startswith(each)}
        if not lengths:
            return [Packet(ONE_RTT, -1, ())]
        read = self._numbered if cut else self._open
        return [read(ONE_RTT, data, 1 + max(lengths), up=up)]

    def _numbered(self, kind: int, packet: bytes, number_at: int, *, up: bool) -> Packet:
        """Return what is known of a packet whose end was not captured."""
        keys = self._initials(up=up) if kind == Kind.INITIAL else self._proven(kind, up=up)
        return Packet(kind, keys.number(packet, number_at) if keys else -1, (), is_cut=True)

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
            initial = self._initials(up=up)
            return initial.open(packet, number_at) if initial else None
        keys = self._keys.get((kind, up))
        if keys is None:
            return self._first_opened(kind, packet, number_at, up=up)
        opened = keys.open(packet, number_at)
        return opened or (self._after_renewal(packet, number_at, up=up) if kind == ONE_RTT else None)

    def _initials(self, *, up: bool) -> Keys | None:
        """Return the keys of Initials, which whoever sees the first can make; None: of an unknown version."""
        if self.version not in self._initial:
            self._initial[self.version] = initial_keys(self._first_id, self.version)
        pair = self._initial[self.version]
        return pair[0 if up else 1] if pair else None

    def _first_opened(self, kind: int, packet: bytes, number_at: int, *, up: bool) -> Opened | None:
        """Open a packet with the secret that the client logged, if it did."""
        for random in self._randoms():
            secret = self._secret(random, kind, up=up)
            if secret is None:
                continue
            for suite in self._suites():
                keys = Keys(secret, self.version, suite)
                opened = keys.open(packet, number_at)
                if opened is not None:
                    self._random = random
                    self._suite = self._suite if kind == Kind.ZERO_RTT else suite  # early data may have another
                    self._keep(keys, secret, kind, up=up)
                    return opened
        return None

    def _proven(self, kind: int, *, up: bool) -> Keys | None:
        """Return the keys of a level, as soon as a secret of the same hello has opened a packet."""
        if (kind, up) not in self._keys and self._random and self._suite and kind != Kind.ZERO_RTT:
            secret = self._secret(self._random, kind, up=up)
            if secret is not None:
                self._keep(Keys(secret, self.version, self._suite), secret, kind, up=up)
        return self._keys.get((kind, up))

    def _keep(self, keys: Keys, secret: bytes, kind: int, *, up: bool) -> None:
        self._keys[kind, up] = keys
        if kind == ONE_RTT:
            self._renewed[up] = secret

    def _secret(self, random: bytes, kind: int, *, up: bool) -> bytes | None:
        return self._secrets.get(random, {}).get(SECRET_NAMES.get((kind, up), ""))

    def _randoms(self) -> Iterable[bytes]:
        """Return the random numbers of the hello that may be this connection's."""
        hello = self.client_hello
        if hello is not None:
            return (hello.random,)
        if self._random is not None:
            return (self._random,)
        if not self._whole or self._tried >= MOST_TRIED:
            return ()
        self._tried += 1
        return self._secrets

    def _suites(self) -> tuple[int, ...]:
        """What the server chose; of early data the choice is of the connection before."""
        answered = self.server_hello
        chosen = int.from_bytes(answered.cipher) if answered else self._suite
        return (chosen,) if chosen in SUITES else SUITES

    def _after_renewal(self, packet: bytes, number_at: int, *, up: bool) -> Opened | None:
        """Return the next of an application's keys; for its header the first ones go on."""
        old, suite = self._keys[ONE_RTT, up], self._suites()[0]
        secret = next_secret(self._renewed[up], self.version, suite)
        keys = old.renewed(secret, self.version, suite)
        opened = keys.open(packet, number_at)
        if opened is not None:
            self._keys[ONE_RTT, up], self._renewed[up] = keys, secret
        return opened
