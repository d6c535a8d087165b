"""A real TLS session between two ends in memory, written down as the packets that it would have been."""

import datetime
import ssl
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.kit.frames import Recorder, Talk

REQUEST = b"GET /secret.html HTTP/1.1\r\nHost: a.test\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nhello there"
SEGMENT = 1400


def certificate(folder: Path) -> Path:
    """A self-signed one for a.test, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a.test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "leaf.pem"
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return file


class TlsTalk:
    """Both ends of a session, and the packets between them."""

    def __init__(
        self,
        folder: Path,
        version: ssl.TLSVersion,
        recorder: Recorder,
        *,
        alpn: Sequence[str] = (),
        before: "TlsTalk | None" = None,
    ) -> None:
        """`before`: the session that this one goes on with, if the server wants."""
        self.talk = Talk(recorder, server_port=443)
        self.key_log = folder / "keys.log"
        self.contexts: tuple[ssl.SSLContext, ssl.SSLContext]
        self.client: ssl.SSLObject
        if before:
            self.contexts = before.contexts
        else:
            self.contexts = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._set_up(folder, version, alpn)
        client, server = self.contexts
        self._to_client, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = before.client.session if before else None
        self.client = client.wrap_bio(self._to_client, self._out_of_client(), server_hostname="a.test", session=session)
        self.server = server.wrap_bio(self._to_server, self._out_of_server(), server_side=True)

    def _set_up(self, folder: Path, version: ssl.TLSVersion, alpn: Sequence[str]) -> None:
        client, server = self.contexts
        client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
        client.minimum_version = client.maximum_version = version
        client.keylog_filename = str(self.key_log)
        server.load_cert_chain(certificate(folder))
        if alpn:
            client.set_alpn_protocols(list(alpn))

    def _out_of_client(self) -> ssl.MemoryBIO:
        self._from_client = ssl.MemoryBIO()
        return self._from_client

    def _out_of_server(self) -> ssl.MemoryBIO:
        self._from_server = ssl.MemoryBIO()
        return self._from_server

    def run(self) -> None:
        self.talk.open()
        hands = [self.client, self.server]
        while hands:
            for hand in list(hands):
                try:
                    hand.do_handshake()
                    hands.remove(hand)
                except ssl.SSLWantReadError:
                    pass
                self._carry()
        self.client.write(REQUEST)
        self._carry()
        assert self.server.read() == REQUEST
        self.server.write(ANSWER)
        self._carry()
        assert self.client.read() == ANSWER
        self.talk.close()

    def _carry(self) -> None:
        for way, out, into in (
            ("up", self._from_client, self._to_server),
            ("down", self._from_server, self._to_client),
        ):
            data = out.read()
            for start in range(0, len(data), SEGMENT):
                self.talk.say(way, data[start : start + SEGMENT])
            into.write(data)
