"""Where the page is served: on this machine alone, or with TLS on an address that others reach."""

import hashlib
import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.writing import writing
from lanelab.driver.page.crowd import FairSocket

LOCAL = ("127.0.0.1", "localhost")
AUTHORITY = "page-authority"  # it stays, so that a browser that was told to accept it is told once
HTTP_PORT, HTTPS_PORT = 80, 443
LONGEST_NAME = 253
_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")


@dataclass(frozen=True, slots=True)
class Place:
    """An address of this machine. `names`: what browsers call it, exactly. `files`: its certificate and its key in PEM;
    None: without TLS."""

    address: str = LOCAL[0]
    names: tuple[str, ...] = LOCAL
    files: tuple[Path, Path] | None = None
    authority: Path | None = None  # that has signed the certificate, where it is ours

    @property
    def scheme(self) -> str:
        return "https" if self.files else "http"

    def hosts(self, port: int) -> frozenset[str]:
        """Return what the Host header may say. Browsers leave the usual port out."""
        usual = HTTPS_PORT if self.files else HTTP_PORT
        hosts = {f"{_in_brackets(name)}:{port}" for name in self.names}
        return frozenset(hosts | ({_in_brackets(name) for name in self.names} if port == usual else set()))

    def url(self, port: int) -> str:
        """Return the address of the server, as a browser has it."""
        return f"{self.scheme}://{_in_brackets(self.names[0])}:{port}"

    def fingerprint(self) -> str:
        """Return SHA-256 of the certificate, as browsers show it."""
        if self.files is None:
            return ""
        der = ssl.PEM_cert_to_DER_cert(_first_certificate(self.files[0].read_text()))
        return hashlib.sha256(der).digest().hex(":").upper()

    def socket(self, port: int) -> socket.socket:
        """Return a socket that listens: from then on browsers wait, and are not turned away."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        bound = FairSocket(family)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((self.address, port))
            bound.listen()
        except OSError as error:
            bound.close()
            where = f"port {port}" if self.address in LOCAL else f"{self.address}, port {port}"
            what = f"cannot listen on {where}: {error.strerror}"
            raise InputError(what, "Name another one, or leave --port out: a free one is taken") from error
        return bound


def open_place(address: str, names: Sequence[str] = (), files: tuple[Path, Path] | None = None) -> Place:
    """Return a place that others reach. Raises InputError for an address that is none, for all addresses without a
    name that browsers could be held to, and for a certificate that cannot be used."""
    try:
        known = ipaddress.ip_address(address.strip("[]"))
    except ValueError:
        remedy = "Write an address of this machine, like 192.168.1.10; what browsers call it, with --name"
        raise InputError(f"{address!r} is no address", remedy, key="--listen") from None
    if known.is_unspecified and not names:
        remedy = "Say with --name what browsers call this machine, or name one of its addresses"
        raise InputError(f"{address} is every address of this machine", remedy, key="--listen")
    called = tuple(dict.fromkeys(map(_name, names))) or (str(known),)
    if not known.is_unspecified and str(known) not in called:
        called = (*called, str(known))
    if files is not None:
        _require_usable(files)
        return Place(str(known), called, files)
    authority = _authority()
    leaf = authority.leaf(called, "ecdsa-p256")
    return Place(str(known), called, (leaf.certificate, leaf.key), authority.certificate)


def _authority() -> Authority:
    folder = build_folder() / AUTHORITY
    with writing(f"make a certificate in {folder}"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return Authority.make(folder)


def _name(name: str) -> str:
    """Return a name of a host, or an address, as a Host header has it."""
    plain = name.strip("[]").lower()
    with suppress(ValueError):
        return str(ipaddress.ip_address(plain))
    if len(plain) > LONGEST_NAME or not _NAME.fullmatch(plain):
        remedy = "Write one like lab.example.org, without a port"
        raise InputError(f"{name!r} is no name of a host", remedy, key="--name")
    return plain


def _require_usable(files: tuple[Path, Path]) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*files, password=lambda: "")
    except (OSError, ValueError) as error:
        what = f"{files[0]} and {files[1]} are no certificate and its key: {error}"
        raise InputError(what, "Name a certificate and its key in PEM, without a password", key="--cert") from error


def _first_certificate(text: str) -> str:
    """Return the server's own of a chain."""
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return f"{begin}{text.partition(begin)[2].partition(end)[0]}{end}\n"


def _in_brackets(name: str) -> str:
    return f"[{name}]" if ":" in name else name
