"""The authority of a run: certificates that nobody outside the run trusts, for names that are not ours.

Chromium is told to accept exactly one public key (`--ignore-certificate-errors-spki-list`), so every leaf of a kind has
the same key, whatever names it is for.
"""

import base64
import datetime
import hashlib
import ipaddress
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lanelab.driver.base.errors import InputError

AUTHORITY, AUTHORITY_KEY = "authority.pem", "authority.key"
KINDS = ("ecdsa-p256", "rsa-2048")
LONGEST_COMMON_NAME = 64
# A node's clock may be off by a day (another time zone taken for UTC), and a run may be resumed months later.
VALID_BEFORE, VALID_AFTER = datetime.timedelta(days=2), datetime.timedelta(days=365)
VALID_AT_LEAST = datetime.timedelta(days=7)

_Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Leaf:
    """The key and certificate that a server needs to speak TLS, and what a browser needs to accept it."""

    certificate: Path  # PEM, the leaf alone: the browser knows its key, and needs no chain
    key: Path
    spki_sha256_b64: str


class Authority:
    """Makes leaves, in a folder of its own; each kind of key is made when it is first asked for."""

    def __init__(self, folder: Path, key: _Key, certificate: x509.Certificate) -> None:
        self.folder = folder
        self._key = key
        self._certificate = certificate
        self._making = threading.Lock()

    @classmethod
    def make(cls, folder: Path) -> "Authority":
        """Return the authority of a folder: the one that is there, where a run goes on, else a new one."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            key = _load_key(folder / AUTHORITY_KEY)
            certificate = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
        except (OSError, ValueError):
            return cls._new(folder)
        ours = key.public_key() == certificate.public_key()
        enough = certificate.not_valid_after_utc - VALID_AT_LEAST > datetime.datetime.now(datetime.UTC)
        return cls(folder, key, certificate) if ours and enough else cls._new(folder)

    @classmethod
    def _new(cls, folder: Path) -> "Authority":
        for stale in [*folder.glob("leaf-*"), *folder.glob("*.part")]:
            stale.unlink()
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lanelab: the authority of one run")])
        usage = x509.KeyUsage(
            digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
            key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        certificate = (
            _builder(name, name, key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(key, hashes.SHA256())
        )
        _write(folder / AUTHORITY_KEY, _pem(key))
        _write(folder / AUTHORITY, certificate.public_bytes(Encoding.PEM))
        return cls(folder, key, certificate)

    @property
    def certificate(self) -> Path:
        return self.folder / AUTHORITY

    def leaf(self, names: Sequence[str], kind: str) -> Leaf:
        """Return a certificate for these names."""
        if kind not in KINDS:
            raise InputError(f"there is no kind of key '{kind}'", f"There are: {', '.join(KINDS)}", key="certificate")
        if not names:
            raise InputError("a certificate needs at least one name", "Name the hosts of the site")
        with self._making:
            key = self._leaf_key(kind)
            digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
            certificate = self.folder / f"leaf-{kind}-{digest}.pem"
            if not certificate.exists():
                _write(certificate, self._signed(key, names).public_bytes(Encoding.PEM))
        return Leaf(certificate, self.folder / f"leaf-{kind}.key", spki_sha256_b64(key))

    def _leaf_key(self, kind: str) -> _Key:
        path = self.folder / f"leaf-{kind}.key"
        try:
            return _load_key(path)
        except (OSError, ValueError):
            for stale in self.folder.glob(f"leaf-{kind}-*.pem"):  # they are of a key that is lost
                stale.unlink()
        key: _Key
        if kind == "rsa-2048":
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        else:
            key = ec.generate_private_key(ec.SECP256R1())
        _write(path, _pem(key))
        return key

    def _signed(self, key: _Key, names: Sequence[str]) -> x509.Certificate:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:LONGEST_COMMON_NAME])])
        identifier = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        return (
            _builder(subject, self._certificate.subject, key)
            .add_extension(x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
            .sign(self._key, hashes.SHA256())
        )


def spki_sha256_b64(key: _Key) -> str:
    """Return a public key as Chromium's list of accepted ones has it."""
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return base64.b64encode(hashlib.sha256(der).digest()).decode()


def _alternative(name: str) -> x509.GeneralName:
    """Return a name, or an address, as certificates have it."""
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _load_key(path: Path) -> _Key:
    key = load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey):
        raise ValueError(f"{path} is a key of another kind")
    return key


def _pem(key: _Key) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _builder(subject: x509.Name, issuer: x509.Name, key: _Key) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - VALID_BEFORE)
        .not_valid_after(now + VALID_AFTER)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _write(path: Path, data: bytes) -> None:
    """For this user's eyes only, from the first byte on; it has its name only when it is whole."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
    part.replace(path)
