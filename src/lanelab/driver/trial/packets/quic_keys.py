"""The keys of QUIC's packets (RFC 9001, and 9369 for version 2), and what opens a packet with them. Pure.

Initial packets are protected with keys that follow from a connection id in clear, so whoever sees them can open them.
Those of the later levels follow from the secrets that a client logs.
"""

import hashlib
import hmac
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import AES, ChaCha20
from cryptography.hazmat.primitives.ciphers.modes import ECB

from lanelab.driver.trial.packets.quic import LONG, VERSION_1, VERSION_2

SALTS = {
    VERSION_1: bytes.fromhex("38762cf7f55934b34d179ae6a4c80cadccbb7f0a"),
    VERSION_2: bytes.fromhex("0dede3def700a6db819381be6e269dcbf9bd2ed9"),
}
LABELS = {VERSION_1: "quic", VERSION_2: "quicv2"}
AES_128, AES_256, CHACHA = 0x1301, 0x1302, 0x1303  # cipher suites
SAMPLE, TAG, IV = 16, 16, 12  # bytes
SAMPLE_AT = 4  # behind the place at which the packet number begins
LONG_BITS, SHORT_BITS = 0x0F, 0x1F  # of the first byte, that are masked
LONG_RESERVED, SHORT_RESERVED = 0x0C, 0x18  # of these, that are never set
FARTHEST = 1 << 14  # between the numbers of two packets of which nothing but these is known


class Opened(NamedTuple):
    """A packet without its protection."""

    number: int
    payload: bytes  # frames


class Keys:
    """The keys of one direction of one level."""

    __slots__ = ("_aead", "_header_key", "_iv", "_mask", "largest")

    def __init__(self, secret: bytes, version: int, suite: int = AES_128) -> None:
        digest, size = ("sha384", 32) if suite == AES_256 else ("sha256", 32 if suite == CHACHA else 16)
        label = LABELS.get(version, "quic")
        key = expand(secret, f"{label} key", size, digest)
        self._aead: AESGCM | ChaCha20Poly1305 = ChaCha20Poly1305(key) if suite == CHACHA else AESGCM(key)
        self._iv = int.from_bytes(expand(secret, f"{label} iv", IV, digest))
        self._header_key = expand(secret, f"{label} hp", size, digest)
        self._mask: CipherContext | None = None
        if suite != CHACHA:
            self._mask = Cipher(AES(self._header_key), ECB()).encryptor()  # noqa: S305 - as RFC 9001 has it
        self.largest = -1  # number of a packet so far

    def open(self, packet: bytes, number_at: int) -> Opened | None:
        """The packet, whose number begins there; None where these are not its keys, or it is damaged."""
        in_clear = self._in_clear(packet, number_at)
        if in_clear is None:
            return None
        head, number = in_clear
        nonce = (self._iv ^ number).to_bytes(IV)
        try:
            payload = self._aead.decrypt(nonce, packet[len(head) :], head)
        except (InvalidTag, ValueError):
            return None
        self.largest = max(self.largest, number)
        return Opened(number, payload)

    def number(self, packet: bytes, number_at: int) -> int:
        """Return the number of a packet whose end is not there, so that nothing proves it but that it is like those
        before; -1: too little of it is there, or it is not like them."""
        in_clear = self._in_clear(packet, number_at)
        if in_clear is None:
            return -1
        head, number = in_clear
        if head[0] & (LONG_RESERVED if packet[0] & LONG else SHORT_RESERVED) or abs(number - self.largest) > FARTHEST:
            return -1
        self.largest = max(self.largest, number)
        return number

    def _in_clear(self, packet: bytes, number_at: int) -> tuple[bytes, int] | None:
        """Return the header without its mask, with the number at its end, and that number whole; None: too little is
        there."""
        sample = packet[number_at + SAMPLE_AT : number_at + SAMPLE_AT + SAMPLE]
        if len(sample) < SAMPLE:
            return None
        mask = self._masked(sample)
        first = packet[0] ^ mask[0] & (LONG_BITS if packet[0] & LONG else SHORT_BITS)
        length = (first & 3) + 1
        short = int.from_bytes(packet[number_at : number_at + length]) ^ int.from_bytes(mask[1 : 1 + length])
        head = bytes([first]) + packet[1:number_at] + short.to_bytes(length)
        return head, whole_number(short, length * 8, self.largest)

    def renewed(self, secret: bytes, version: int, suite: int) -> "Keys":
        """Return those that follow on these in a connection: headers keep theirs."""
        keys = Keys(secret, version, suite)
        keys._header_key, keys._mask, keys.largest = self._header_key, self._mask, self.largest
        return keys

    def _masked(self, sample: bytes) -> bytes:
        if self._mask is not None:
            return self._mask.update(sample)
        return Cipher(ChaCha20(self._header_key, sample), mode=None).encryptor().update(bytes(5))


def initial_keys(target_id: bytes, version: int) -> tuple[Keys, Keys] | None:
    """Return the keys of client and server, from the id that the client gave the server; None: an unknown version."""
    salt = SALTS.get(version)
    if salt is None:
        return None
    initial = hmac.digest(salt, target_id, "sha256")
    client, server = (expand(initial, f"{side} in", 32) for side in ("client", "server"))
    return Keys(client, version), Keys(server, version)


def expand(secret: bytes, label: str, length: int, digest: str = "sha256") -> bytes:
    """Expand a secret by HKDF-Expand-Label of TLS 1.3 without a context."""
    name = f"tls13 {label}".encode()
    info = length.to_bytes(2) + bytes([len(name)]) + name + b"\0"
    secret_bytes, block, count = b"", b"", 0
    while len(secret_bytes) < length:
        count += 1
        block = hmac.digest(secret, block + info + bytes([count]), digest)
        secret_bytes += block
    return secret_bytes[:length]


def next_secret(secret: bytes, version: int, suite: int) -> bytes:
    """Return what follows on the secret when an application's keys are renewed."""
    digest = "sha384" if suite == AES_256 else "sha256"
    return expand(secret, f"{LABELS.get(version, 'quic')} ku", hashlib.new(digest).digest_size, digest)


def whole_number(short: int, bits: int, largest: int) -> int:
    """Return the packet number of which these are the last bits (RFC 9000, A.3)."""
    expected, window = largest + 1, 1 << bits
    candidate = (expected & ~(window - 1)) | short
    if candidate <= expected - window // 2 and candidate < (1 << 62) - window:
        return candidate + window
    if candidate > expected + window // 2 and candidate >= window:
        return candidate - window
    return candidate
