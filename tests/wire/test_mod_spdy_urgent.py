"""Something urgent that is asked for while large answers fill the wire: how many of their bytes still go before it.

Counted in bytes, which do not depend on how fast a machine is: what mod_spdy and the server's kernel had taken already.
"""

import array
import fcntl
import socket
import termios
import time
from pathlib import Path

import pytest

from .httpd import Httpd, Module, running
from .spdy_client import INITIAL_WINDOW, PING, SYN_REPLY, WAIT_S, SpdyClient, connect

UNSENT_BYTES = 65536  # SpdyUnsentBytes: what the kernel takes beyond what is on its way
BATCH_BYTES = 32 * 1024  # mod_spdy's: one that went over that, and one that waits
BATCHES = 4  # that go before mod_spdy looks at what has come
HEADS_BYTES = 4096  # of frames and TLS records
RECEIVE_BYTES = 256 * 1024
MARKED = """\
#!/bin/sh
touch {mark}
printf 'Content-Type: text/plain\\r\\n\\r\\nurgent'
"""


def waiting_bytes(sock: socket.socket) -> int:
    """What has arrived and was not read."""
    count = array.array("i", [0])
    fcntl.ioctl(sock, termios.FIONREAD, count)
    return count[0]


def stuck(server: Httpd, client: SpdyClient) -> int:
    """When nothing more arrives, as the client does not read: how much has."""
    seen = [-1]
    server.wait(lambda: _same_for(client, seen, 0.5))
    return seen[0]


def _same_for(client: SpdyClient, seen: list[int], quiet_s: float) -> bool:
    seen[0] = waiting_bytes(client.sock)
    time.sleep(quiet_s)  # nothing tells that no byte comes any more but time
    return seen[0] > 0 and waiting_bytes(client.sock) == seen[0]


def bytes_before_urgent(server: Httpd, *, tls: bool) -> int:
    """Four answers of 4 MB fill the wire, then something urgent is asked for."""
    server.put("large", bytes(4 << 20))
    mark = server.site / "mark"
    server.site.chmod(0o777)
    server.put("cgi/urgent", MARKED.format(mark=mark).encode())
    client = connect(server.tls_port if tls else server.port, "3.1", tls=tls, receive_buffer_bytes=65536)
    client.window_update(0, 1 << 30)
    client.set({INITIAL_WINDOW: 1 << 30})
    large = [client.request("/large", priority=7) for _ in range(4)]
    client.until(lambda: all(len(client.responses[stream].body) > 100_000 for stream in large))
    stuck(server, client)
    urgent = client.request("/cgi/urgent", priority=0)
    server.wait(mark.exists)
    arrived = stuck(server, client)
    before = sum(len(client.responses[stream].body) for stream in large)
    client.until(lambda: bool(client.responses[urgent].headers))
    at = next(n for n, frame in enumerate(client.frames) if frame.kind == SYN_REPLY and frame.stream == urgent)
    sent = sum(len(frame.payload) for frame in client.frames[:at] if frame.kind == 0)
    assert client.response(urgent).body == b"urgent"
    assert all(not client.responses[stream].ended for stream in large)
    client.close()
    return sent - before - arrived


@pytest.mark.parametrize("tls", [False, True])
def test_something_urgent_overtakes_all_that_the_kernel_has_not_taken(
    apache: Path, spdy_module: Module, tls: bool
) -> None:
    with running(apache, spdy_module, "SpdyEnabled on", in_clear="SpdyCleartext 3.1") as server:
        assert bytes_before_urgent(server, tls=tls) <= UNSENT_BYTES + 2 * BATCH_BYTES + HEADS_BYTES


def data_before_each_pong(client: SpdyClient, step_bytes: int, total_bytes: int) -> list[int]:
    """Reads as fast as this language can, sends a PING after each step, and counts what came until its answer."""
    buffer = bytearray(1 << 20)
    head, rest, seen, asked_at, counts = b"", 0, 0, 0, list[int]()
    while seen < total_bytes:
        if not asked_at and seen >= (len(counts) + 1) * step_bytes:
            client.ping()
            asked_at = seen
        got = client.sock.recv_into(buffer)
        assert got
        at = 0
        while at < got:
            if not rest:
                piece = bytes(buffer[at : min(got, at + 8 - len(head))])
                head, at = head + piece, at + len(piece)
                if len(head) < 8:
                    break
                rest = int.from_bytes(head[5:8])
                if int.from_bytes(head[:4]) & 0xFFFF == PING and head[0] & 0x80:
                    counts.append(seen + at - asked_at)
                    asked_at = 0
                head = b""
            taken = min(rest, got - at)
            rest, at = rest - taken, at + taken
        seen += got
    return counts


def test_a_client_that_takes_all_at_once_is_heard(apache: Path, spdy_module: Module) -> None:
    """Files that are in memory go out without an end, and nothing makes the server wait."""
    size, streams, step = 64 << 20, 20, 16 << 20
    with running(apache, spdy_module, "SpdyCleartext 2") as server:
        server.put("large", bytes(size))
        client = connect(server.port, "2", receive_buffer_bytes=RECEIVE_BYTES)
        client.sock.settimeout(WAIT_S)
        for _ in range(streams):
            client.request("/large")
        counts = data_before_each_pong(client, step, size * streams - step)
        assert len(counts) > 40
        kernel = 2 * RECEIVE_BYTES + UNSENT_BYTES  # Linux doubles what it is asked for
        assert max(counts) <= kernel + (2 + BATCHES) * BATCH_BYTES + HEADS_BYTES
        client.close()
