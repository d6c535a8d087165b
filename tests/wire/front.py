"""The gateway as users run it, in front of a server on this machine, and curl as the browser that asks it in HTTP/2."""

import base64
import contextlib
import hashlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tools.bench.replay_servers import free_port

from .httpd import make_certificate
from .peers import Running, end_group, started

HOST = "a.example"
FETCHING_S = 240
MOST_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. What it sends is a file. curl can be told to read slowly, and to give up."""

    path: str
    send: Path | None = None
    give_up_s: float = 0
    bytes_per_s: int = 0
    urgency: int = 3


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    size: int
    http: str  # between curl and the gateway
    error: str  # curl's words; empty where the answer is complete
    body: Path

    def digest(self) -> str:
        return hashlib.sha256(self.body.read_bytes()).hexdigest()

    def text(self) -> str:
        return self.body.read_text()


@dataclass(frozen=True, slots=True)
class Front:
    """A running gateway."""

    folder: Path
    port: int
    curl: Path
    running: Running

    def ask(self, *asks: Ask | str) -> list[Answer]:
        """All at once, and their answers in the same order."""
        folder = self.folder / f"answers-{len(list(self.folder.glob('answers-*')))}"
        folder.mkdir()
        orders = [Ask(one) if isinstance(one, str) else one for one in asks]
        (folder / "orders").write_text("next\n".join(self._order(folder, i, one) for i, one in enumerate(orders)))
        command = [str(self.curl), "--disable", "-sS", "-Z", "--parallel-max", str(MOST_AT_ONCE)]
        command += ["-K", str(folder / "orders")]
        # curl's own status is that of one transfer; each has its line.
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=FETCHING_S)
        lines = {}
        for line in done.stdout.splitlines():
            number, status, size, http, error = line.split("\t")
            body = folder / number
            body.touch()
            lines[int(number)] = Answer(int(status), int(size), http, error, body)
        assert len(lines) == len(orders), done.stdout + done.stderr
        return [lines[i] for i in range(len(orders))]

    def _order(self, folder: Path, number: int, ask: Ask) -> str:
        told = f"{number}\\t%{{http_code}}\\t%{{size_download}}\\t%{{http_version}}\\t%{{errormsg}}\\n"
        lines = [
            f'url = "https://{HOST}:{self.port}{ask.path}"',
            f'resolve = "{HOST}:{self.port}:127.0.0.1"',
            f'cacert = "{self.folder / "certificate.pem"}"',
            f'output = "{folder / str(number)}"',
            f'write-out = "{told}"',
            f'header = "priority: u={ask.urgency}"',
            "http2",
        ]
        if ask.send:
            lines += [f'upload-file = "{ask.send}"', 'request = "POST"', 'header = "Expect:"']
        if ask.give_up_s:
            lines += [f"max-time = {ask.give_up_s}"]
        if ask.bytes_per_s:
            lines += [f"limit-rate = {ask.bytes_per_s}"]
        return "\n".join(lines) + "\n"

    def stop(self) -> list[dict[str, Any]]:
        """The gateway's end, and its log."""
        end_group(self.running.process)
        assert self.running.process.returncode == 0, self.running.log.read_text()
        return [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]


def events(log: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in log if event["event"] == kind]


@contextlib.contextmanager
def gateway_before(
    program: Path, curl: Path, folder: Path, port: int, wire: dict[str, Any], certificate: Path | None = None
) -> Iterator[Front]:
    """In front of the server at that port of this machine; `certificate`: the server's, where it speaks TLS."""
    folder.mkdir()
    make_certificate(folder)
    listen = free_port()
    trust = [_pin(certificate)] if certificate else []
    configuration = {
        "version": 1,
        "listen": f"127.0.0.1:{listen}",
        "certificate": str(folder / "certificate.pem"),
        "key": str(folder / "key.pem"),
        "log": str(folder / "log"),
        "keylog": "",
        "dns": {"mode": "instant", "hosts": {HOST: "127.0.0.1"}},
        "wire": {"port": port, "tls": "1.3" if certificate else "off", "trust": trust, **wire},
    }
    (folder / "gateway.json").write_text(json.dumps(configuration))
    with started([program, folder / "gateway.json"], folder / "run") as running:
        yield Front(folder, listen, curl, running)


def _pin(certificate: Path) -> str:
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    return base64.b64encode(
        hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    ).decode()
