"""What the first bytes of each side of a connection say: which protocol in clear, which TLS and ALPN. Pure.

The first six bytes name the protocol; ALPN and the version of TLS need some hundred. What was not
captured is not known.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

METHODS = re.compile(rb"(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|CONNECT) ")
H2_PREFACE = b"PRI * HTTP/2.0\r\n"
SHORTEST = 6
ALERT, HANDSHAKE = 0x15, 0x16
TLS_RECORDS = (ALERT, HANDSHAKE)  # that a side may begin with
CLIENT_HELLO, SERVER_HELLO = 1, 2
NAME, ALPN, PRE_SHARED_KEY, EARLY_DATA, OF_QUIC = 0, 16, 41, 42, 57  # extensions of a hello
ENCRYPTED_EXTENSIONS = 8  # what a server of TLS 1.3 says behind its hello
MESSAGE_HEAD = 4  # bytes: type and length
TLS13_SUITES = 0x13  # the first byte of the cipher suites that only TLS 1.3 has
SPDY_FIRST = (1, 2, 4, 6)  # SYN_STREAM, SYN_REPLY, SETTINGS, PING: what a session may begin with
TLS, OTHER = "tls", "other"


@dataclass(frozen=True, slots=True)
class Hello:
    """The facts of a TLS hello."""

    kind: int
    session: bytes = b""
    cipher: bytes = b""
    alpn: tuple[str, ...] | None = None  # what a client offers
    has_key: bool | None = None  # of an earlier session: a server that names it resumes (TLS 1.3)
    random: bytes = b""
    name: str | None = None  # of the server, as the client asks for it
    early: bool | None = None  # data may come, or was taken, before the handshake has ended
    of_quic: bytes | None = None  # the transport parameters of QUIC; None: they are not there


def protocol(data: bytes) -> str | None:
    """Return http/1.1, h2, spdy/2, spdy/3 (3.1 looks the same), tls, or other; None where too little is there to
    tell."""
    if len(data) < SHORTEST:
        return None
    if data[0] in TLS_RECORDS and data[1] == 0x03:
        return TLS
    if H2_PREFACE.startswith(data[: len(H2_PREFACE)]) or (data[3] == 4 and data[4] in (0, 1) and data[0] == 0):
        return "h2"
    if data[0] == 0x80 and data[1] in (2, 3) and data[2] == 0 and data[3] in SPDY_FIRST:
        return f"spdy/{data[1]}"
    if METHODS.match(data) or data.startswith(b"HTTP/1"):
        return "http/1.1"
    return OTHER


def hello(data: bytes) -> Hello | None:
    """Return the hello that a side begins with, as far as it is there."""
    if len(data) < SHORTEST or data[0] != HANDSHAKE or data[1] != 0x03 or data[5] not in (CLIENT_HELLO, SERVER_HELLO):
        return None
    return hello_message(_message(data))


def message_length(data: bytes) -> int | None:
    """Return the length of the handshake message that begins here, with its head; None where too little is there to
    tell."""
    return MESSAGE_HEAD + int.from_bytes(data[1:4]) if len(data) >= MESSAGE_HEAD else None


@functools.lru_cache(maxsize=64)  # one beginning is looked at with each of its packets
def hello_message(message: bytes) -> Hello | None:
    """Return a hello, or a server's encrypted extensions, without the records of TLS around it."""
    if not message or message[0] not in (CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS):
        return None
    kind = message[0]
    body = message[4 : 4 + int.from_bytes(message[1:4])]  # after its type and its length
    if kind == ENCRYPTED_EXTENSIONS:
        return _with_extensions(Hello(kind), body)
    try:
        length, random = body[34], body[2:34]
        session, rest = body[35 : 35 + length], body[35 + length :]
        if kind == SERVER_HELLO:
            cipher, rest = rest[:2], rest[3:]
        else:
            cipher, rest = b"", rest[2 + int.from_bytes(rest[:2]) :]
            rest = rest[1 + rest[0] :]
        if len(session) < length:
            return Hello(kind)
    except IndexError:
        return Hello(kind)
    return _with_extensions(Hello(kind, session, cipher, random=random), rest)


def _with_extensions(hello: Hello, rest: bytes) -> Hello:
    extensions = dict(_extensions(rest))
    whole = len(rest) >= 2 and len(rest) >= 2 + int.from_bytes(rest[:2])

    def has(kind: int) -> bool | None:
        return kind in extensions if whole or kind in extensions else None

    offered = tuple(_names(extensions[ALPN])) if ALPN in extensions else () if whole else None
    name = extensions.get(NAME, b"")[5:].decode(errors="replace") or None  # after the list's, its kind, its length
    known = replace(hello, alpn=offered, has_key=has(PRE_SHARED_KEY), name=name, early=has(EARLY_DATA))
    return replace(known, of_quic=extensions.get(OF_QUIC))


def is_whole(data: bytes) -> bool:
    """Return whether the hello that a side begins with has come to its end."""
    return len(data) >= 9 and len(_message(data)) >= int.from_bytes(_message(data)[1:4]) + 4


def _message(data: bytes) -> bytes:
    """The handshake message that a side begins with: one record has it, or several in a row."""
    parts, at = [], 0
    while at + 5 <= len(data) and data[at] == HANDSHAKE:
        length = int.from_bytes(data[at + 3 : at + 5])
        parts.append(data[at + 5 : at + 5 + length])
        at += 5 + length
    return b"".join(parts)


def tls_version(server: Hello | None) -> str | None:
    """Return what the server chose. TLS 1.3 calls itself 1.2 in the old place, and has cipher suites of its own."""
    if server is None or server.kind != SERVER_HELLO or len(server.cipher) < 2:
        return None
    return "TLS 1.3" if server.cipher[0] == TLS13_SUITES else "TLS 1.2"


def resumed(client: Hello | None, server: Hello | None) -> bool | None:
    """Return whether the server went on with an earlier session."""
    version = tls_version(server)
    if client is None or server is None or version is None:
        return None
    if version == "TLS 1.3":
        return server.has_key
    return bool(server.session) and server.session == client.session


def _extensions(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each that is whole, from the length of all of them on."""
    at = 2
    while at + 4 <= len(data):
        kind, length = int.from_bytes(data[at : at + 2]), int.from_bytes(data[at + 2 : at + 4])
        content = data[at + 4 : at + 4 + length]
        if len(content) < length:
            return
        yield kind, content
        at += 4 + length


def _names(data: bytes) -> Iterator[str]:
    at = 2
    while at < len(data):
        yield data[at + 1 : at + 1 + data[at]].decode(errors="replace")
        at += 1 + data[at]
