"""Certificates of a run, judged by OpenSSL: Python's own, and the program where it is there."""

import base64
import datetime
import hashlib
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from lanelab.driver.arm.servers.certificates import KINDS, Authority, Leaf
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.find_program import find

NAMES = ("www.site.test", "img.site.test", "x" * 60 + ".site.test")
kinds = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.make(tmp_path / "authority")


def handshake(authority: Authority, leaf: Leaf, name: str) -> None:
    """A TLS connection in which the client trusts the authority alone; raises what the client has against it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(leaf.certificate, leaf.key)
    client = ssl.create_default_context(cafile=str(authority.certificate))
    ours, theirs = socket.socketpair()

    def serve() -> None:
        try:
            server.wrap_socket(theirs, server_side=True).close()
        except OSError:
            theirs.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        client.wrap_socket(ours, server_hostname=name).close()
    finally:
        ours.close()
        thread.join()


@kinds
def test_a_client_that_trusts_the_authority_accepts_every_name(authority: Authority, kind: str) -> None:
    leaf = authority.leaf(NAMES, kind)
    for name in NAMES:
        handshake(authority, leaf, name)
    with pytest.raises(ssl.SSLCertVerificationError, match="elsewhere"):
        handshake(authority, leaf, "elsewhere.test")


def test_nobody_trusts_the_leaf_of_another_run(authority: Authority, tmp_path: Path) -> None:
    other = Authority.make(tmp_path / "other")
    with pytest.raises(ssl.SSLCertVerificationError, match=r"verify failed"):
        handshake(other, authority.leaf(NAMES, KINDS[0]), NAMES[0])


@kinds
@pytest.mark.skipif(not find("openssl"), reason="no openssl here")
def test_openssl_finds_nothing_wrong(authority: Authority, kind: str) -> None:
    leaf = authority.leaf(NAMES, kind)
    judge = ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", NAMES[1]]
    done = subprocess.run(
        [*judge, "-CAfile", authority.certificate, leaf.certificate], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@kinds
def test_the_leaf_says_what_it_shall(authority: Authority, kind: str) -> None:
    leaf = authority.leaf(NAMES, kind)
    certificate = x509.load_pem_x509_certificate(leaf.certificate.read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert tuple(names.get_values_for_type(x509.DNSName)) == NAMES
    spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    assert leaf.spki_sha256_b64 == base64.b64encode(hashlib.sha256(spki).digest()).decode()
    now = datetime.datetime.now(datetime.UTC)
    assert certificate.not_valid_before_utc < now - datetime.timedelta(days=1)
    assert certificate.not_valid_after_utc > now + datetime.timedelta(days=300)


@kinds
def test_all_leaves_of_a_kind_have_one_key(authority: Authority, kind: str) -> None:
    first, second, again = (authority.leaf(names, kind) for names in (NAMES, ("other.test",), NAMES))
    assert first == again
    assert first.certificate != second.certificate
    assert (first.key, first.spki_sha256_b64) == (second.key, second.spki_sha256_b64)
    others = {authority.leaf(NAMES, other).spki_sha256_b64 for other in KINDS}
    assert len(others) == len(KINDS)


def test_files_are_for_this_user_alone(authority: Authority) -> None:
    for kind in KINDS:
        authority.leaf(NAMES, kind)
    files = list(authority.folder.iterdir())
    assert len(files) == 2 + 2 * len(KINDS)
    assert {oct(file.stat().st_mode & 0o777) for file in files} == {"0o600"}


@kinds
def test_a_run_that_goes_on_has_the_same_authority_and_keys(authority: Authority, kind: str) -> None:
    leaf = authority.leaf(NAMES, kind)
    again = Authority.make(authority.folder)
    assert again.leaf(NAMES, kind) == leaf
    other = again.leaf(("other.test",), kind)
    assert other.spki_sha256_b64 == leaf.spki_sha256_b64
    handshake(again, other, "other.test")
    handshake(authority, leaf, NAMES[0])


@pytest.mark.parametrize("name", ["authority.pem", "authority.key", f"leaf-{KINDS[0]}.key"])
@pytest.mark.parametrize("how", ["gone", "broken"])
def test_what_is_lost_is_made_anew_and_fits(authority: Authority, name: str, how: str) -> None:
    authority.leaf(NAMES, KINDS[0])
    if how == "gone":
        (authority.folder / name).unlink()
    else:
        (authority.folder / name).write_text("-----BEGIN NOTHING-----")
    renewed = Authority.make(authority.folder)
    handshake(renewed, renewed.leaf(NAMES, KINDS[0]), NAMES[0])


def test_an_authority_that_is_about_to_expire_is_made_anew(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = authority.certificate.read_bytes()
    monkeypatch.setattr("lanelab.driver.arm.servers.certificates.VALID_AT_LEAST", datetime.timedelta(days=400))
    assert Authority.make(authority.folder).certificate.read_bytes() != old


def test_refuses_what_it_cannot_make(authority: Authority) -> None:
    with pytest.raises(InputError, match=r"dsa.*ecdsa-p256"):
        authority.leaf(NAMES, "dsa")
    with pytest.raises(InputError, match="at least one name"):
        authority.leaf((), KINDS[0])
