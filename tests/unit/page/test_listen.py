"""The page where others reach it: TLS, exact names, a link for those who watch, and what a network may try."""

import contextlib
import hashlib
import ipaddress
import socket
import ssl
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
from click.testing import CliRunner
from cryptography import x509

from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab as command
from lanelab.driver.page import crowd, listen, patience
from lanelab.driver.page.access import Role
from lanelab.driver.page.listen import Place, open_place
from tests.kit.pages import Visitor, served

NAMES = ("lab.example.org", "localhost")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(listen, "build_folder", lambda: tmp_path)
    return open_place("127.0.0.1", NAMES)


@pytest.fixture
def visitor(place: Place, tmp_path: Path) -> Iterator[Visitor]:
    (tmp_path / "runs").mkdir()
    with served(tmp_path / "runs", place=place) as visitor:
        yield visitor


def trusting(place: Place) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=place.authority)


def ask(visitor: Visitor, path: str, host: str, context: ssl.SSLContext, cookie: str = "") -> tuple[int, str]:
    """Ask as a browser that calls the server by this name."""
    connection = HTTPSConnection("127.0.0.1", visitor.port, timeout=20)
    with socket.create_connection(("127.0.0.1", visitor.port), 20) as plain:
        connection.sock = context.wrap_socket(plain, server_hostname=host)
        connection.request("GET", path, headers={"Host": f"{host}:{visitor.port}", "Cookie": cookie})
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.getheader("set-cookie") or ""


def test_many_watch_and_one_runs(visitor: Visitor, place: Place) -> None:
    context = trusting(place)
    for role, times in ((Role.WATCH, 3), (Role.RUN, 1)):
        link = f"/{visitor.access.link(role)}"
        for _ in range(times):
            status, cookie = ask(visitor, link, "lab.example.org", context)
            assert status == 200
            assert "Secure" in cookie
            home = f"/{visitor.access.places[role]}/"
            assert ask(visitor, home, "lab.example.org", context, cookie.partition(";")[0])[0] == 200
        assert ask(visitor, link, "lab.example.org", context)[0] == (200 if role is Role.WATCH else 403)


def test_its_names_are_in_its_certificate_and_no_others_are_answered(visitor: Visitor, place: Place) -> None:
    context = trusting(place)
    for name in (*NAMES, "127.0.0.1"):
        assert ask(visitor, "/", name, context)[0] == 403
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(visitor, "/", "evil.example.org", context)
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    link = f"/{visitor.access.link(Role.WATCH)}"
    assert ask(visitor, link, "evil.example.org", blind)[0] == 403, "who was led here by another name"
    assert ask(visitor, link, "lab.example.org.evil.org", blind)[0] == 403
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(visitor, "/", "lab.example.org", ssl.create_default_context())


def test_without_tls_nothing_is_answered(visitor: Visitor) -> None:
    connection = HTTPConnection("127.0.0.1", visitor.port, timeout=20)
    connection.request("GET", f"/{visitor.access.link(Role.WATCH)}")
    with pytest.raises(OSError):  # noqa: PT011 - closed, or reset
        connection.getresponse()
    connection.close()


def test_the_certificate_stays_and_is_known_by_its_fingerprint(visitor: Visitor, place: Place) -> None:
    der = ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(("127.0.0.1", visitor.port)))
    assert place.fingerprint().replace(":", "").lower() == hashlib.sha256(der).hexdigest()
    assert open_place("127.0.0.1", NAMES).fingerprint() == place.fingerprint()
    assert place.files
    assert all(path.stat().st_mode & 0o077 == 0 for path in place.files)


def test_a_certificate_of_ones_own(place: Place, tmp_path: Path) -> None:
    assert place.files
    own = open_place("127.0.0.1", ["lab.example.org"], place.files)
    assert own.authority is None
    assert own.fingerprint() == place.fingerprint()
    (tmp_path / "broken.pem").write_text("no certificate")
    with pytest.raises(InputError, match="no certificate and its key"):
        open_place("127.0.0.1", (), (tmp_path / "broken.pem", place.files[1]))


@pytest.mark.parametrize(
    ("address", "names", "words"),
    [("lab.example.org", (), "is no address"), ("0.0.0.0", (), "every address"), ("::", (), "every address"),  # noqa: S104
     ("127.0.0.1", ("a b",), "no name of a host"), ("127.0.0.1", ("a:80",), "no name"), ("127.0.0.1", ("",), "no name"),
     ("127.0.0.1", ("evil/../x",), "no name"), ("127.0.0.1", ("*.example.org",), "no name")],
)  # fmt: skip
def test_what_cannot_be_held_to_is_refused(address: str, names: tuple[str, ...], words: str) -> None:
    with pytest.raises(InputError, match=words):
        open_place(address, names)


def test_all_addresses_are_served_under_names_alone(place: Place) -> None:
    everywhere = open_place("0.0.0.0", ["Lab.Example.org", "192.168.1.10"])  # noqa: S104
    assert everywhere.hosts(8443) == {"lab.example.org:8443", "192.168.1.10:8443"}
    assert everywhere.hosts(443) == {"lab.example.org:443", "192.168.1.10:443", "lab.example.org", "192.168.1.10"}
    assert place.hosts(1) == {"lab.example.org:1", "localhost:1", "127.0.0.1:1"}


def test_ipv6_has_brackets_in_addresses(place: Place, tmp_path: Path) -> None:
    six = open_place("[::1]")
    assert six.hosts(8443) == {"[::1]:8443"}
    assert six.url(8443) == "https://[::1]:8443"
    (tmp_path / "six").mkdir()
    try:
        six.socket(0).close()
    except InputError:
        pytest.skip("this machine has no IPv6")
    with served(tmp_path / "six", place=six) as visitor:
        context = trusting(place)
        with socket.create_connection(("::1", visitor.port), 20) as plain:
            connection = HTTPSConnection("::1", visitor.port)
            connection.sock = context.wrap_socket(plain, server_hostname="::1")
            connection.request("GET", f"/{visitor.access.link(Role.WATCH)}", headers={"Host": f"[::1]:{visitor.port}"})
            assert connection.getresponse().status == 200


@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: "])
def test_who_says_nothing_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    monkeypatch.setattr(patience, "WAITS_S", 0.3)
    with served(tmp_path) as visitor, socket.create_connection(("127.0.0.1", visitor.port), 20) as slow:
        begin = time.monotonic()
        slow.sendall(first)
        with contextlib.suppress(ConnectionError):
            assert slow.recv(1) == b""
        assert time.monotonic() - begin < 10


def test_a_stream_that_goes_on_is_not_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "WAITS_S", 0.2)
    with served(tmp_path) as visitor:
        visitor.enter(visitor.access.owner)
        connection, answer = visitor.news("/bench/changes")
        assert answer.status == 200
        time.sleep(1)
        assert connection.sock is not None
        assert connection.sock.fileno() > 0
        assert visitor.ask("/").status == 200
        connection.close()


def connected(visitor: Visitor, source: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", visitor.port), 20, source_address=(source, 0))


def is_open(connection: socket.socket) -> bool:
    connection.settimeout(0.5)
    try:
        return connection.recv(1) != b""
    except TimeoutError:
        return True
    except ConnectionError:
        return False


def test_one_address_keeps_nobody_out_and_ends_none_of_another(tmp_path: Path) -> None:
    with served(tmp_path) as visitor, contextlib.ExitStack() as stack:
        visitor.enter(visitor.access.owner)
        other = stack.enter_context(connected(visitor, "127.0.0.3"))
        many = [stack.enter_context(connected(visitor, "127.0.0.2")) for _ in range(crowd.MOST_CONNECTIONS + 20)]
        assert visitor.ask("/").status == 200
        assert is_open(other)
        assert is_open(many[-1])
        assert not is_open(many[0])


def test_before_tls_a_connection_has_a_place_too(visitor: Visitor, place: Place) -> None:
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(connected(visitor, "127.0.0.2")) for _ in range(crowd.MOST_CONNECTIONS + 20)]
        link = f"/{visitor.access.link(Role.WATCH)}"
        assert ask(visitor, link, "lab.example.org", trusting(place))[0] == 200
        assert not is_open(many[0])


@pytest.mark.parametrize(
    ("there", "ended"),
    [("a", 0), ("ab", 0), ("abb", 1), ("abab", 0), ("cabbab", 2), ("cbabaa", 2)],
)
def test_the_oldest_of_who_has_most_gives_up_its_place(there: str, ended: int) -> None:
    assert crowd.gives_up(there) == ended


def test_addresses_of_one_machine_are_one() -> None:
    assert crowd.network_of("2001:db8::1") == crowd.network_of("2001:db8::ffff:2")
    assert crowd.network_of("2001:db8::1") != crowd.network_of("2001:db8:0:1::1")
    assert crowd.network_of("::ffff:192.0.2.1") == crowd.network_of("192.0.2.1") != crowd.network_of("192.0.2.2")
    assert crowd.network_of("fe80::1%eth0") == crowd.network_of("fe80::2")


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Visitor]:
    """A server whose style is larger than what kernels keep for a reader."""
    large = {"page.css": ("text/css", "a" * 20_000_000)}
    monkeypatch.setattr("lanelab.driver.page.entrance.static_files", lambda: large)
    monkeypatch.setattr(patience, "WAITS_S", 0.3)
    with served(tmp_path) as visitor:
        yield visitor


def reading(visitor: Visitor, each: int, every_s: float, within_s: float) -> int:
    """Return how much a reader gets that takes so many bytes so often."""
    until, size = time.monotonic() + within_s, 0
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        connection.connect(("127.0.0.1", visitor.port))
        connection.sendall(f"GET /static/page.css HTTP/1.1\r\nHost: 127.0.0.1:{visitor.port}\r\n\r\n".encode())
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < until and size < 20_000_000:
                part = connection.recv(each)
                size += len(part)
                if not part or connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                    break
                time.sleep(every_s)
    return size


@pytest.mark.parametrize(("each", "every_s"), [(1, 3.0), (1000, 0.1)])
def test_who_does_not_read_what_he_asked_for_is_not_waited_for(large: Visitor, each: int, every_s: float) -> None:
    begin = time.monotonic()
    assert reading(large, each, every_s, 20) < 1_000_000
    assert time.monotonic() - begin < 15


def test_who_reads_slowly_gets_all_of_it(large: Visitor) -> None:
    assert reading(large, 500_000, 0.05, 60) >= 20_000_000


@pytest.mark.parametrize(
    ("words", "told"),
    [(["--name", "a"], "Write --listen ADDRESS, too"), (["--listen", "x"], "is no address"),
     (["--listen", "127.0.0.1", "--cert", "README.md"], "Write both --cert and --key")],
)  # fmt: skip
def test_the_command_says_what_is_wrong(tmp_path: Path, words: list[str], told: str) -> None:
    answer = CliRunner().invoke(command, ["serve", str(tmp_path), *words])
    assert isinstance(answer.exception, InputError)
    assert told in str(answer.exception)


def test_a_certificate_names_addresses_as_addresses(place: Place) -> None:
    assert place.files
    certificate = x509.load_pem_x509_certificate(place.files[0].read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    assert names.get_values_for_type(x509.DNSName) == list(NAMES)
