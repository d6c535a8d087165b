"""A server for many origins that sends exactly what it is told to, byte by byte, and writes down what it sent.

Started in the server node, with ADDRESS LOG [CERTIFICATE KEY CERTIFICATE KEY]. The first
certificate is of the origins that speak HTTP/2, the second of those that speak HTTP/1.1.
"""

import asyncio
import base64
import contextlib
import json
import ssl
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO

import hpack
from hyperframe import frame as frames

from tests.kit.origins.page import H2_HOSTS, Reply, reply_to

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PIECE = 1500


class Log:
    """A line for every answer, before it is sent."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, method: str, url: str, ranged: str, reply: Reply, protocol: str) -> None:
        line = {
            "method": method,
            "url": url,
            "range": ranged,
            "status": reply.status,
            "reason": "" if protocol == "h2" else reply.reason,
            "headers": reply.headers,
            "body": base64.b64encode(b"" if method == "HEAD" else reply.body).decode(),
            "protocol": protocol,
        }
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


class Http1:
    def __init__(self, log: Log, scheme: str) -> None:
        self._log, self._scheme = log, scheme

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, ssl.SSLError):
            tls = writer.get_extra_info("ssl_object")
            if tls and tls.selected_alpn_protocol() == "h2":
                await Http2(self._log).serve(reader, writer)
            else:
                while await self._one(reader, writer):
                    pass
        writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        method, path, _ = first.split(" ")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        reply = reply_to(method, fields["host"], path, fields, body)
        url = f"{self._scheme}://{fields['host']}{path}"
        if reply.never:
            await asyncio.sleep(3600)
        if reply.short:
            reply = replace(reply, body=reply.body[: len(reply.body) // 2], framing="close")
        self._log.write(method, url, fields.get("range", ""), reply, f"http/{reply.version}")
        for piece in http1_bytes(method, reply):
            writer.write(piece)
            await writer.drain()
            if reply.slowly:
                await asyncio.sleep(0.01)
        return reply.framing != "close"


def http1_bytes(method: str, reply: Reply) -> list[bytes]:
    """What goes over the wire, in pieces."""
    interim = b"".join(b"HTTP/1.1 %d Interim\r\nLink: </x>; rel=preload\r\n\r\n" % status for status in reply.interim)
    lines = [f"HTTP/{reply.version} {reply.status} {reply.reason}", *(f"{n}: {v}" for n, v in reply.headers)]
    head = interim + ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    if method == "HEAD" or reply.status in (204, 304):
        return [head]
    if reply.framing != "chunked":
        return [head, reply.body]
    sizes = [reply.body[at : at + reply.chunk] for at in range(0, len(reply.body), reply.chunk)]
    chunks = [b"%x;name=value\r\n" % len(each) + each + b"\r\n" for each in sizes]
    return [head, *chunks, b"0\r\n" + (b"X-Trailer: yes\r\n" if reply.trailers else b"") + b"\r\n"]


class Http2:
    """Requests one by one in the order of their ends; frames with padding, heads in several frames, trailers."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._encoder, self._decoder = hpack.Encoder(), hpack.Decoder()
        self._heads: dict[int, list[tuple[str, str]]] = {}
        self._bodies: dict[int, bytearray] = {}
        self._block = bytearray()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(len(PREFACE))
        writer.write(frames.SettingsFrame(0, settings={3: 100}).serialize())
        while True:
            frame, length = frames.Frame.parse_frame_header(memoryview(await reader.readexactly(9)))
            frame.parse_body(memoryview(await reader.readexactly(length)))
            self._take(frame, writer)
            await writer.drain()

    def _take(self, frame: frames.Frame, writer: asyncio.StreamWriter) -> None:
        stream = frame.stream_id
        if isinstance(frame, frames.SettingsFrame) and "ACK" not in frame.flags:
            size = frame.settings.get(frames.SettingsFrame.HEADER_TABLE_SIZE)
            if size is not None:
                self._encoder.header_table_size = min(size, 8192)
            writer.write(frames.SettingsFrame(0, flags=["ACK"]).serialize())
        elif isinstance(frame, frames.PingFrame) and "ACK" not in frame.flags:
            writer.write(frames.PingFrame(0, frame.opaque_data, flags=["ACK"]).serialize())
        elif isinstance(frame, frames.HeadersFrame | frames.ContinuationFrame):
            self._block += frame.data
            if isinstance(frame, frames.HeadersFrame):
                self._bodies[stream] = bytearray()
                self._ends = "END_STREAM" in frame.flags
            if "END_HEADERS" in frame.flags:
                self._heads[stream] = [(str(n), str(v)) for n, v in self._decoder.decode(bytes(self._block))]
                self._block.clear()
                if self._ends:
                    self._answer(stream, writer)
        elif isinstance(frame, frames.DataFrame):
            self._bodies[stream] += frame.data
            if "END_STREAM" in frame.flags:
                self._answer(stream, writer)

    def _answer(self, stream: int, writer: asyncio.StreamWriter) -> None:
        fields = dict(self._heads.pop(stream))
        method, host, path = fields[":method"], fields[":authority"], fields[":path"]
        reply = reply_to(method, host, path, fields, bytes(self._bodies.pop(stream)))
        lower = tuple((name.lower(), value) for name, value in reply.headers if name.lower() != "connection")
        reply = reply.with_headers(tuple(each for each in lower if each[0] != "transfer-encoding"))
        self._log.write(method, f"https://{host}{path}", fields.get("range", ""), reply, "h2")
        for status in reply.interim:
            self._head(writer, stream, ((":status", str(status)), ("link", "</x>; rel=preload")), ends=False)
        body = b"" if method == "HEAD" or reply.status in (204, 304) else reply.body
        trailers = reply.trailers and bool(body)
        self._head(writer, stream, ((":status", str(reply.status)), *reply.headers), ends=not body)
        pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)]
        for number, piece in enumerate(pieces):
            data = frames.DataFrame(stream, piece)
            if number % 2:
                data.pad_length = 7
                data.flags.add("PADDED")
            if number == len(pieces) - 1 and not trailers:
                data.flags.add("END_STREAM")
            writer.write(data.serialize())
        if trailers:
            self._head(writer, stream, (("x-trailer", "yes"),), ends=True)

    def _head(
        self, writer: asyncio.StreamWriter, stream: int, fields: tuple[tuple[str, str], ...], *, ends: bool
    ) -> None:
        """In two frames, of which the first is padded."""
        block = self._encoder.encode([(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields])
        middle = len(block) // 2
        first = frames.HeadersFrame(stream, block[:middle])
        first.pad_length = 3
        first.flags.add("PADDED")
        if ends:
            first.flags.add("END_STREAM")
        last = frames.ContinuationFrame(stream, block[middle:])
        last.flags.add("END_HEADERS")
        writer.write(first.serialize() + last.serialize())


def tls_contexts(pairs: list[str]) -> ssl.SSLContext:
    """The context for the name that a client asks for: each kind of origin has a certificate of its own, else the
    browser would send requests for one over a connection to the other."""
    speaking = []
    for certificate, key, protocols in ((pairs[0], pairs[1], ["h2"]), (pairs[2], pairs[3], ["http/1.1"])):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(protocols)
        speaking.append(context)
    h2, h1 = speaking

    def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.context = h2 if name in H2_HOSTS else h1

    h1.sni_callback = choose
    return h1


async def main(address: str, log: str, *pairs: str) -> None:
    with Path(log).open("w") as file:
        plain = await asyncio.start_server(Http1(Log(file), "http").serve, address, 80)
        if pairs:
            context = tls_contexts(list(pairs))
            secure = await asyncio.start_server(Http1(Log(file), "https").serve, address, 443, ssl=context)
            await asyncio.gather(plain.serve_forever(), secure.serve_forever())
        await plain.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
