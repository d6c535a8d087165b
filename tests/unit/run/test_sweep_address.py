"""How a user says where a scheduler is, and what is refused."""

import contextlib
import datetime
import json
import socket
import ssl
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from cryptography import x509

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.run.sweep.address import SchedulerAddress, address_of, divided, is_loopback, require_own
from lanelab.driver.run.sweep.keys import VERSION, Invitation, make_keys, read_invitation, write_private

KEYS = make_keys("a run")


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:8786", "tcp://localhost:1", "tcp://[::1]:8786"])
def test_without_keys_only_this_machine_is_talked_to(text: str) -> None:
    assert address_of(text) == SchedulerAddress(text, None)


@pytest.mark.parametrize(
    "text", ["tcp://10.0.0.5:8786", "tcp://cluster.example:8786", "tcp://0.0.0.0:8786", "tcp://[fd00::5]:1"]
)
def test_another_machine_without_keys_is_refused_unless_the_user_insists(text: str) -> None:
    with pytest.raises(InputError, match="not encrypted"):
        address_of(text)
    assert address_of(text, insecure=True) == SchedulerAddress(text, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://127.0.0.1:8786", "neither tcp"),
        ("tcp://127.0.0.1", "lacks a port"),
        ("tcp://:8786", "lacks a host"),
        ("tls://127.0.0.1:70000", "is no port"),
        ("tls://127.0.0.1:x", "is no port"),
        ("nothing-there.json", "neither an address nor a file"),
        ("tls://127.0.0.1:8786", "wants keys"),
    ],
)
def test_what_is_no_address_is_said(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        address_of(text)


def test_keys_of_the_user_are_read_and_belong_together(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("ca", "certificate", "key")]
    for file, text in zip(files, (KEYS.ca, KEYS.certificate, KEYS.key), strict=True):
        file.write_text(text)
    ca, certificate, key = files
    where = address_of("tls://10.0.0.5:8786", (ca, certificate, key))
    assert where == SchedulerAddress("tls://10.0.0.5:8786", KEYS)
    with pytest.raises(InputError, match="belong together"):
        address_of("tls://10.0.0.5:8786", (ca, None, None))
    with pytest.raises(InputError, match="no use for tcp"):
        address_of("tcp://127.0.0.1:8786", (ca, certificate, key))
    with pytest.raises(InputError, match="cannot read"):
        address_of("tls://10.0.0.5:8786", (ca, certificate, tmp_path / "none"))


def test_an_invitation_says_all_and_others_cannot_read_it(tmp_path: Path) -> None:
    path = tmp_path / "cluster" / "invitation.json"
    invitation = Invitation(VERSION, "a run", "tls://10.0.0.5:8786", KEYS)
    write_private(path, invitation)
    path.chmod(0o644)
    write_private(path, invitation)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_invitation(path) == invitation
    assert address_of(str(path)) == SchedulerAddress("tls://10.0.0.5:8786", KEYS)
    with pytest.raises(InputError, match="brings its keys"):
        address_of(str(path), (path, path, path))


@pytest.mark.parametrize("change", [lambda data: data.pop("keys"), lambda data: data.update(version=99)])
def test_what_is_no_invitation_is_refused(tmp_path: Path, change: object) -> None:
    data = Invitation(VERSION, "a run", "tls://10.0.0.5:8786", KEYS).to_json()
    assert callable(change)
    change(data)
    path = tmp_path / "invitation.json"
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match="invitation"):
        read_invitation(path)


def test_a_disk_that_takes_nothing_leaves_the_last_invitation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        write_private(tmp_path / "file" / "invitation.json", Invitation(VERSION, "", "", KEYS))


def test_keys_hold_where_clocks_are_a_day_off_and_are_not_printed() -> None:
    now = datetime.datetime.now(datetime.UTC)
    for pem in (KEYS.ca, KEYS.certificate):
        certificate = x509.load_pem_x509_certificate(pem.encode())
        assert certificate.not_valid_before_utc < now - datetime.timedelta(days=1)
        assert certificate.not_valid_after_utc > now + datetime.timedelta(days=300)
    assert KEYS.key not in repr(SchedulerAddress("tls://10.0.0.5:1", KEYS))


def test_a_certificate_is_good_for_both_ends_by_its_own_authority_alone() -> None:
    assert _shake(KEYS.ca, KEYS.ca)
    with pytest.raises(ssl.SSLError):
        _shake(make_keys("another").ca, KEYS.ca)
    with pytest.raises(ssl.SSLError):
        _shake(KEYS.ca, make_keys("another").ca)


def _shake(of_client: str, of_server: str) -> bool:
    """A handshake in memory, each side with our certificate, and with the authority that it trusts."""
    sides = []
    for server, ca in ((False, of_client), (True, of_server)):
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH if server else ssl.Purpose.SERVER_AUTH, cadata=ca)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_REQUIRED
        _load(context)
        sides.append(context)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = sides[0].wrap_bio(to_client, to_server)
    server_side = sides[1].wrap_bio(to_server, to_client, server_side=True)
    for _ in range(6):
        for each in (client, server_side):
            try:
                each.do_handshake()
            except ssl.SSLWantReadError:
                continue
    return client.getpeercert() == server_side.getpeercert()


def _load(context: ssl.SSLContext) -> None:
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(KEYS.certificate + KEYS.key)
        file.flush()
        context.load_cert_chain(file.name)


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [("10.0.0.5", "10.0.0.5", None), ("10.0.0.5:80", "10.0.0.5", 80), ("[::1]:80", "::1", 80), ("[::1]", "::1", None)],
)
def test_host_and_port_are_told_apart(text: str, host: str, port: int | None) -> None:
    assert divided(text) == (host, port)


def test_this_machine_alone_is_loopback() -> None:
    assert is_loopback("127.0.0.9")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")  # noqa: S104
    assert not is_loopback("localhost.example")


def test_commands_on_one_bed_do_not_load_dask() -> None:
    program = (
        "import sys, lanelab.driver.cli.main, lanelab.driver.run.runner, lanelab.driver.run.start\n"
        "print(sorted({'dask', 'distributed', 'tornado'} & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _run_listening(at: str, out: Path) -> subprocess.CompletedProcess[str]:
    argv = ["run", "experiments/quickstart.yaml", "--listen", at, "--out", str(out)]
    return subprocess.run(
        [sys.executable, "-m", "lanelab.driver.cli", *argv], check=False, cwd=PROJECT, capture_output=True, text=True
    )


def test_an_address_that_is_not_ours_is_refused_before_there_is_a_run(tmp_path: Path) -> None:
    refused = _run_listening("192.0.2.1:8786", tmp_path / "run")
    assert refused.returncode == 2
    assert "--listen: this machine cannot listen at 192.0.2.1:8786" in refused.stderr
    assert "run folder" not in refused.stdout + refused.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", ["127.0.0.1:99999", ":8786", "127.0.0.1:x"])
def test_what_is_no_address_is_refused_by_the_options_name(text: str) -> None:
    with pytest.raises(InputError, match=r"^--listen: "):
        require_own(text)


def test_a_port_that_is_taken_is_refused() -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match="already in use"):
            require_own(at)
    require_own(at)
    require_own("127.0.0.1")
