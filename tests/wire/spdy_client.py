"""A small SPDY client in Python, to test mod_spdy with: written from the drafts, and sharing nothing with the module's
own core. It sends what it is told to, also what no client should, and keeps every frame that comes."""

import select
import socket
import ssl
import struct
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, NOOP, PING, GOAWAY, HEADERS, WINDOW_UPDATE = range(1, 10)
FIN, UNIDIRECTIONAL = 1, 2
INITIAL_WINDOW = 7  # of SETTINGS: what we let the server send ahead on each stream
MAX_STREAMS = 4
WAIT_S = 60  # no test depends on how fast a machine is

_WORDS_3 = (
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_REST_3 = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 "
    "Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec "
    "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8"
    "charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY_3 = (
    b"".join(
        struct.pack(">I", len(word)) + word.encode()
        for word in [
            *_WORDS_3.split(),
            "200 OK",
            "version",
            "HTTP/1.1",
            "url",
            "public",
            "set-cookie",
            "keep-alive",
            "origin",
        ]
    )
    + _REST_3.encode()
)
DICTIONARY_2 = (
    b"optionsgetheadpostputdeletetraceacceptaccept-charsetaccept-encodingaccept-languageauthorizationexpectfromhost"
    b"if-modified-sinceif-matchif-none-matchif-rangeif-unmodifiedsincemax-forwardsproxy-authorizationrangerefererte"
    b"user-agent10010120020120220320420520630030130230330430530630740040140240340440540640740840941041141241341441541"
    b"6417500501502503504505accept-rangesageetaglocationproxy-authenticatepublicretry-afterservervarywarning"
    b"www-authenticateallowcontent-basecontent-encodingcache-controlconnectiondatetrailertransfer-encodingupgradevia"
    b"warningcontent-languagecontent-lengthcontent-locationcontent-md5content-rangecontent-typeetagexpires"
    b"last-modifiedset-cookieMondayTuesdayWednesdayThursdayFridaySaturdaySundayJanFebMarAprMayJunJulAugSepOctNovDec"
    b"chunkedtext/htmlimage/pngimage/jpgimage/gifapplication/xmlapplication/xhtmltext/plainpublicmax-age"
    b"charset=iso-8859-1utf-8gzipdeflateHTTP/1.1statusversionurl\0"
)


class Closed(Exception):
    """The server closed the connection."""


@dataclass(frozen=True, slots=True)
class Frame:
    """As it came. `kind` is 0 for DATA."""

    kind: int
    flags: int
    stream: int
    payload: bytes
    headers: dict[str, str] = field(default_factory=dict)
    associated: int = 0
    status: int = 0


@dataclass(slots=True)
class Response:
    """What has come of a stream."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    ended: bool = False
    reset: int | None = None

    @property
    def status(self) -> str:
        return self.headers.get(":status", self.headers.get("status", ""))


class SpdyClient:
    """One session. `window_updates`: give the server new window as its data come."""

    def __init__(self, sock: socket.socket, version: str, *, window_updates: bool = True) -> None:
        self.sock, self.version, self.window_updates = sock, version, window_updates
        self.number = 2 if version == "2" else 3
        dictionary = DICTIONARY_2 if self.number == 2 else DICTIONARY_3
        self._deflate = zlib.compressobj(6, zlib.DEFLATED, 15, 8, zlib.Z_DEFAULT_STRATEGY, dictionary)
        self._inflate = zlib.decompressobj(zdict=dictionary)
        self._received = b""
        self._next_stream, self._next_ping = 1, 1
        self.frames: list[Frame] = []
        self.responses: dict[int, Response] = {}
        self.pushed: dict[int, Frame] = {}
        self.pongs: list[int] = []
        self.goaway: Frame | None = None
        self.settings: dict[int, int] = {}
        self.closed = False
        self.largest_read = 0  # over TLS no read has more than one record

    def close(self) -> None:
        self.sock.close()

    # Sending

    def control(self, kind: int, payload: bytes, flags: int = 0) -> None:
        self.send(struct.pack(">HHI", 0x8000 | self.number, kind, flags << 24 | len(payload)) + payload)

    def send(self, data: bytes) -> None:
        """All of it, reading meanwhile: a server that waits for us to read must not make us wait for it."""
        view = memoryview(data)
        while view:
            try:
                view = view[self.sock.send(view) :]
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                self._wait(writing=True)
                self._read()
            except OSError as error:
                self.closed = True
                raise Closed(str(error)) from error

    def block(self, headers: Sequence[tuple[str, str]]) -> bytes:
        return self._deflate.compress(self.plain_block(headers)) + self._deflate.flush(zlib.Z_SYNC_FLUSH)

    def plain_block(self, headers: Sequence[tuple[str, str]]) -> bytes:
        size = ">H" if self.number == 2 else ">I"
        out = struct.pack(size, len(headers))
        for pair in headers:
            for text in pair:
                raw = text.encode("latin-1")
                out += struct.pack(size, len(raw)) + raw
        return out

    def request(
        self,
        path: str,
        *,
        method: str = "GET",
        host: str = "a.example",
        headers: Sequence[tuple[str, str]] = (),
        priority: int = 0,
        fin: bool = True,
        scheme: str = "http",
    ) -> int:
        if self.number == 2:
            special = [("method", method), ("url", path), ("version", "HTTP/1.1"), ("host", host), ("scheme", scheme)]
        else:
            special = [
                (":method", method),
                (":path", path),
                (":version", "HTTP/1.1"),
                (":host", host),
                (":scheme", scheme),
            ]
        return self.syn_stream([*special, *headers], priority=priority, fin=fin)

    def syn_stream(self, headers: Sequence[tuple[str, str]], *, priority: int = 0, fin: bool = True) -> int:
        stream = self._next_stream
        self._next_stream += 2
        self.responses[stream] = Response()
        shift = 14 if self.number == 2 else 13
        head = struct.pack(">IIH", stream, 0, priority << shift)
        self.control(SYN_STREAM, head + self.block(headers), FIN if fin else 0)
        return stream

    def data(self, stream: int, data: bytes, *, fin: bool = False) -> None:
        self.send(struct.pack(">II", stream, (FIN if fin else 0) << 24 | len(data)) + data)

    def reset(self, stream: int, status: int = 5) -> None:
        self.control(RST_STREAM, struct.pack(">II", stream, status))

    def ping(self) -> int:
        number = self._next_ping
        self._next_ping += 2
        self.control(PING, struct.pack(">I", number))
        return number

    def set(self, values: dict[int, int]) -> None:
        entries = b"".join(
            (struct.pack("<I", number) if self.number == 2 else struct.pack(">I", number)) + struct.pack(">I", value)
            for number, value in values.items()
        )
        self.control(SETTINGS, struct.pack(">I", len(values)) + entries)

    def window_update(self, stream: int, delta: int) -> None:
        self.control(WINDOW_UPDATE, struct.pack(">II", stream, delta))

    # Receiving

    def until(self, enough: Callable[[], bool], *, wait_s: float = WAIT_S) -> None:
        """Read until it is so."""
        deadline = time.monotonic() + wait_s
        while not enough():
            if self.closed:
                raise Closed("the server closed the connection")
            if time.monotonic() > deadline:
                raise AssertionError(f"did not come within {wait_s} s")
            self._wait()
            self._read()

    def until_closed(self) -> None:
        while not self.closed:
            self.until(lambda: self.closed)

    def get(self, path: str, **more: object) -> Response:
        stream = self.request(path, **more)  # type: ignore[arg-type]
        return self.response(stream)

    def response(self, stream: int) -> Response:
        response = self.responses[stream]
        self.until(lambda: response.ended or response.reset is not None)
        return response

    def settle(self, quiet_s: float = 0.3) -> None:
        """Read until nothing has come for a while: to see that something does not come."""
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < quiet_s and not self.closed:
            self._wait(at_most_s=quiet_s)
            if self._read():
                quiet_since = time.monotonic()

    def _wait(self, *, writing: bool = False, at_most_s: float = 1.0) -> None:
        if isinstance(self.sock, ssl.SSLSocket) and self.sock.pending():
            return
        select.select([self.sock], [self.sock] if writing else [], [], at_most_s)

    def _read(self) -> bool:
        try:
            data = self.sock.recv(65536)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            data = b""
        self.largest_read = max(self.largest_read, len(data))
        if not data:
            self.closed = True
            return False
        self._received += data
        while self._take_frame():
            pass
        return True

    def _take_frame(self) -> bool:
        if len(self._received) < 8:
            return False
        first, second = struct.unpack(">II", self._received[:8])
        length = second & 0xFFFFFF
        if len(self._received) < 8 + length:
            return False
        payload, self._received = self._received[8 : 8 + length], self._received[8 + length :]
        flags = second >> 24
        frame = self._control(first & 0xFFFF, flags, payload) if first >> 31 else Frame(0, flags, first, payload)
        self.frames.append(frame)
        self._note(frame)
        return True

    def _control(self, kind: int, flags: int, payload: bytes) -> Frame:
        stream = struct.unpack(">I", payload[:4])[0] & 0x7FFFFFFF if len(payload) >= 4 else 0
        if kind == SYN_STREAM:
            associated = struct.unpack(">I", payload[4:8])[0]
            return Frame(kind, flags, stream, payload, self._headers(payload[10:]), associated=associated)
        if kind in {SYN_REPLY, HEADERS}:
            skip = 6 if self.number == 2 else 4
            return Frame(kind, flags, stream, payload, self._headers(payload[skip:]))
        if kind in {RST_STREAM, WINDOW_UPDATE, GOAWAY} and len(payload) >= 8:
            return Frame(kind, flags, stream, payload, status=struct.unpack(">I", payload[4:8])[0])
        return Frame(kind, flags, stream, payload)

    def _headers(self, block: bytes) -> dict[str, str]:
        plain = self._inflate.decompress(block)
        width, size = (2, ">H") if self.number == 2 else (4, ">I")
        texts, at = [], width
        for _ in range(2 * struct.unpack(size, plain[:width])[0]):
            length = struct.unpack(size, plain[at : at + width])[0]
            texts.append(plain[at + width : at + width + length].decode("latin-1"))
            at += width + length
        assert at == len(plain), "bytes after the last header"
        return dict(zip(texts[::2], texts[1::2], strict=True))

    def _note(self, frame: Frame) -> None:
        response = self.responses.get(frame.stream)
        if frame.kind == SYN_STREAM:
            self.pushed[frame.stream] = frame
            self.responses[frame.stream] = Response()
        elif frame.kind in {SYN_REPLY, HEADERS} and response is not None:
            response.headers.update(frame.headers)
            response.ended = bool(frame.flags & FIN)
        elif frame.kind == 0 and response is not None:
            response.body += frame.payload
            response.ended = bool(frame.flags & FIN)
            self._give_window(frame)
        elif frame.kind == RST_STREAM and response is not None:
            response.reset = frame.status
        elif frame.kind == PING:
            self.pongs.append(frame.stream)
        elif frame.kind == GOAWAY:
            self.goaway = frame
        elif frame.kind == SETTINGS:
            self._note_settings(frame.payload)

    def _note_settings(self, payload: bytes) -> None:
        for at in range(4, len(payload), 8):
            raw, value = payload[at : at + 4], struct.unpack(">I", payload[at + 4 : at + 8])[0]
            number = struct.unpack("<I" if self.number == 2 else ">I", raw)[0] & 0xFFFFFF
            self.settings[number] = value

    def _give_window(self, frame: Frame) -> None:
        if not self.window_updates or self.number == 2 or not frame.payload:
            return
        if not frame.flags & FIN:
            self.window_update(frame.stream, len(frame.payload))
        if self.version == "3.1":
            self.window_update(0, len(frame.payload))


def connect(
    port: int,
    version: str,
    *,
    tls: bool = False,
    host: str = "a.example",
    window_updates: bool = True,
    receive_buffer_bytes: int | None = None,
) -> SpdyClient:
    """To a server on this machine; over TLS the version is agreed upon by ALPN."""
    raw = socket.socket()
    if receive_buffer_bytes is not None:
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
    raw.settimeout(WAIT_S)
    raw.connect(("127.0.0.1", port))
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock: socket.socket = raw
    if tls:
        sock = tls_context([f"spdy/{version}"]).wrap_socket(raw, server_hostname=host)
        assert isinstance(sock, ssl.SSLSocket)
        assert sock.selected_alpn_protocol() == f"spdy/{version}"
    sock.setblocking(False)
    return SpdyClient(sock, version, window_updates=window_updates)


def tls_context(alpn: Sequence[str]) -> ssl.SSLContext:
    """Trusts anybody: the server's certificate was made for the test."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(list(alpn))
    return context
