"""What passes between a client and a server on this machine, recorded: a relay between them writes each byte to a pcap
file, as packets of TCP connections to the server's port. It needs no right to capture, and no byte can be missed."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CHUNK_BYTES = 32768  # fits into a packet's 16-bit length with its headers
PCAP_HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)  # 101: packets begin with the IP header
SYN, ACK, PUSH_ACK, FIN_ACK = 0x02, 0x10, 0x18, 0x11
SLOW_BUFFER_BYTES, SLOW_STEP_S = 16384, 0.01  # what a slow relay lets wait in it, and how often it takes some


@dataclass(slots=True)
class Recorder:
    """Writes packets of 127.0.0.1 to 127.0.0.2; of several threads."""

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.path.write_bytes(PCAP_HEAD)

    def write(
        self, source: tuple[str, int], target: tuple[str, int], seq: int, ack: int, flags: int, data: bytes
    ) -> None:
        ports = struct.pack(">HH", source[1], target[1])
        tcp = ports + struct.pack(">IIBBHHH", seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 5 << 4, flags, 65535, 0, 0) + data
        addresses = socket.inet_aton(source[0]) + socket.inet_aton(target[0])
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + addresses
        now_us = time.time_ns() // 1000
        packet = ip + tcp
        head = struct.pack("<IIII", now_us // 1_000_000, now_us % 1_000_000, len(packet), len(packet))
        with self.path.open("ab") as out:
            out.write(head + packet)


@dataclass(slots=True)
class Carried:
    """One connection: both sockets, and how far each side's bytes have come."""

    recorder: Recorder
    client: socket.socket
    server: socket.socket
    client_name: tuple[str, int]
    server_name: tuple[str, int]
    bytes_per_s: int  # from the server; 0: as fast as it goes
    sent: dict[str, int] = field(default_factory=lambda: {"client": 0, "server": 0})

    def begin(self) -> None:
        self._note("client", SYN, b"")
        self.sent["client"] = 1
        self._note("server", SYN | ACK, b"")
        self.sent["server"] = 1
        self._note("client", ACK, b"")

    def carry(self, side: str) -> None:
        """Until that side ends."""
        source, target = (self.client, self.server) if side == "client" else (self.server, self.client)
        with contextlib.suppress(OSError):
            while data := source.recv(self._most_bytes(side)):
                with self.recorder.lock:
                    self._note(side, PUSH_ACK, data)
                    self.sent[side] += len(data)
                target.sendall(data)
        with self.recorder.lock:
            self._note(side, FIN_ACK, b"")
        for sock, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
            with contextlib.suppress(OSError):
                sock.shutdown(how)

    def _most_bytes(self, side: str) -> int:
        if side == "client" or not self.bytes_per_s:
            return CHUNK_BYTES
        time.sleep(SLOW_STEP_S)  # the slow wire
        return max(1, int(self.bytes_per_s * SLOW_STEP_S))

    def _note(self, side: str, flags: int, data: bytes) -> None:
        other = "server" if side == "client" else "client"
        names = {"client": self.client_name, "server": self.server_name}
        ack = self.sent[other] if flags & ACK else 0
        self.recorder.write(names[side], names[other], self.sent[side], ack, flags, data)


def _connect(port: int, bytes_per_s: int) -> socket.socket:
    sock = socket.socket()
    if bytes_per_s:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER_BYTES)
    sock.connect(("127.0.0.1", port))
    return sock


@contextlib.contextmanager
def recording(server_port: int, pcap: Path, *, bytes_per_s: int = 0) -> Iterator[int]:
    """Yields the port that clients shall connect to. In the file, the server's port is `server_port`. With
    `bytes_per_s` the server's bytes come no faster, and it notices: little waits on the way."""
    recorder = Recorder(pcap)
    sockets: list[socket.socket] = []
    threads: list[threading.Thread] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                client, name = listener.accept()
                server = _connect(server_port, bytes_per_s)
                for sock in (client, server):
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    sockets.append(sock)
                names = ("127.0.0.1", name[1]), ("127.0.0.2", server_port)
                carried = Carried(recorder, client, server, *names, bytes_per_s)
                carried.begin()
                for side in ("client", "server"):
                    thread = threading.Thread(target=carried.carry, args=(side,), daemon=True)
                    threads.append(thread)
                    thread.start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        with contextlib.suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        accepting.join()
        for sock in sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        for sock in sockets:
            sock.close()
