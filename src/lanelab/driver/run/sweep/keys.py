"""The keys of a sweep: one authority and one certificate per run, which all parties of it have. Who has them may run
code on every party, so they are kept from others and named in no log.

An invitation is a file with all that a machine needs to lend its beds to a run.
"""

import datetime
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError, RecordError, StoreError

if TYPE_CHECKING:
    import distributed

VERSION = 1
EARLIER = datetime.timedelta(days=2)  # clocks of machines may be off
LIFE = datetime.timedelta(days=400)  # a run may be resumed much later
LARGEST_FILE = 1 << 20


@dataclass(frozen=True, slots=True)
class Keys(Coded):
    """PEM of what TLS wants."""

    ca: str
    certificate: str
    key: str

    def __repr__(self) -> str:
        return "Keys(…)"  # what is printed by accident is nobody's key

    def security(self) -> "distributed.Security":
        """The same for Dask: each side shows its certificate, and none without one is heard."""
        import distributed  # noqa: PLC0415 - a run on one bed does not load it

        roles = ("client", "scheduler", "worker")
        certificates = {f"tls_{role}_cert": self.certificate for role in roles}
        keys = {f"tls_{role}_key": self.key for role in roles}
        return distributed.Security(require_encryption=True, tls_ca_file=self.ca, **certificates, **keys)


@dataclass(frozen=True, slots=True)
class Invitation(Coded):
    """The address and keys that `lanelab worker` needs to lend beds to a run."""

    version: int
    run: str  # its name, for people
    address: str  # of the scheduler, as other machines reach it
    keys: Keys


def make_keys(name: str) -> Keys:
    """Make a new authority, and a certificate of it. The authority's own key is forgotten: there will be no other
    one."""
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID  # noqa: PLC0415

    now = datetime.datetime.now(datetime.UTC)
    authority, signing_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority of {name}"[:64])])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"party of {name}"[:64])])

    def begun(whose: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        builder = x509.CertificateBuilder().subject_name(whose).issuer_name(issuer).public_key(key)
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now - EARLIER).not_valid_after(now + LIFE)

    known = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key())
    ca = (
        begun(issuer, authority.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority.public_key()), critical=False)
        .add_extension(_usage(signs=True), critical=True)
        .sign(authority, hashes.SHA256())
    )
    both = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate = (
        begun(subject, signing_key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(known, critical=False)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage(both), critical=False)
        .sign(authority, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    return Keys(
        ca=ca.public_bytes(pem).decode(),
        certificate=certificate.public_bytes(pem).decode(),
        key=signing_key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain).decode(),
    )


def _usage(*, signs: bool):  # type: ignore[no-untyped-def] # noqa: ANN202 - x509.KeyUsage, loaded when it is needed
    from cryptography import x509  # noqa: PLC0415

    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def keys_of_files(ca: Path, certificate: Path, key: Path) -> Keys:
    """Return keys that the user has. Raises InputError."""
    return Keys(
        *(_text(path, option) for path, option in ((ca, "--tls-ca"), (certificate, "--tls-cert"), (key, "--tls-key")))
    )


def write_private(path: Path, data: Coded) -> None:
    """Write a file that only its owner can read, whole or not at all. Raises StoreError."""
    aside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside.unlink(missing_ok=True)  # one that others could read would stay so
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(json.dumps(data.to_json(), indent=1) + "\n")
        aside.rename(path)
    except OSError as error:
        raise StoreError(
            f"cannot write {path}: {error.strerror}", "Free some space or check the permissions"
        ) from error


def read_invitation(path: Path) -> Invitation:
    """Raises InputError where it is none."""
    text = _text(path, "")
    remedy = "Give the file that `lanelab run --listen` has written, as it is"
    try:
        invitation = Invitation.from_json(json.loads(text))
    except (ValueError, RecordError) as error:
        raise InputError(f"{path} is no invitation ({error})", remedy) from None
    if invitation.version != VERSION:
        what = f"{path} is an invitation of version {invitation.version}, not {VERSION}"
        raise InputError(what, "Use the same lanelab on both machines")
    return invitation


def _text(path: Path, option: str) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(f"cannot read {path}: {why}", "Name a file in PEM", key=option) from error
