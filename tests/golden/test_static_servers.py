"""Every arm in lighttpd/, caddy/, h2o/ and webfs/ comes to exactly the configuration that its file shows, and the real
server takes it.

A file holds the settings of an arm (`site`: one of SITES in tests/kit/server_arms.py; `log_requests`: false where the
server is to log none), a line of dashes, the configuration, and what the server has beside it. To add one, write the
settings and run `pytest tests/golden --update-golden`.
"""

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import settings_with
from lanelab.driver.arm.servers.caddy import server as of_caddy
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.h2o import server as of_h2o
from lanelab.driver.arm.servers.lighttpd import server as of_lighttpd
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Assignment, Place, SetUp
from lanelab.driver.arm.servers.webfs import server as of_webfs
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.node import Node
from lanelab.driver.site.site import Site
from tests.kit.server_arms import DASHES, SITES, compare, hints_of, is_here, read

FOLDER = Path(__file__).parent
NAMES = ("lighttpd", "caddy", "h2o", "webfs")
# Common settings that come to nothing in the configuration of a server: it refuses all values but one.
UNSEEN = {
    "caddy": {"server_directives"},
    "h2o": {"keepalive"},
    "webfs": {"server_directives", "keepalive", "keepalive_timeout", "protocol"},
}
OF_TLS = {"tls", "tls_resumption", "tls_certificate", "schemes"}
FILES = sorted(file for name in NAMES for file in (FOLDER / name).glob("*.txt"))
files = pytest.mark.parametrize("file", FILES, ids=[f"{file.parent.name}-{file.stem}" for file in FILES])
PORTS = {"80": "48080", "443": "48443"}  # servers try to listen, and a port in use does not disturb it


def settings_of(file: Path) -> dict[str, object]:
    return yaml.safe_load(file.read_text().partition(DASHES)[0]) or {}


def set_up(arm: Arm, site: Site, place: Place, *, log_requests: bool = True) -> SetUp:
    assignment = Assignment(arm, site, Path(place.folder).parent, log_requests=log_requests, hints=hints_of(arm, site))
    return SERVERS[arm.server].set_up(Installed(), assignment, place)


class Installed(Node):
    """A node where all of them are, of versions that do not matter here."""

    def __init__(self) -> None:
        super().__init__("server")

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Installed)

    spawn = put = get = connect = close = None  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = "\n".join(f"{name}.so" for name in of_lighttpd.MODULES)
    words = {
        of_lighttpd: f"{find('lighttpd') or '/x/lighttpd'}\nlighttpd/1.4.69 (ssl)\n{modules}\n",
        of_caddy: f"{find('caddy') or '/x/caddy'}\n2.6.2\n",
        of_h2o: f"{find('h2o') or '/x/h2o'}\n1000\nh2o version 2.2.5\nmruby: YES\n",
        of_webfs: "/usr/bin/webfsd\n" + "".join(f"  {option}\n" for option in of_webfs.OPTIONS),
    }
    for module, answer in words.items():
        monkeypatch.setattr(
            module,
            "installation",
            lambda node, module=module, answer=answer: module.read_installation(answer, node.name),
        )


@files
def test_configuration(file: Path, update_golden: bool) -> None:
    head, arm, site, expected = read(file)
    place = Place(f"/run/lanelab-server/{arm.server}", "/run/lanelab-server/sites/site")
    made = set_up(arm, site, place, log_requests=bool(settings_of(file).get("log_requests", True)))
    beside = "".join(f"---- {name}\n{text.decode()}" for name, text in sorted(made.files.items()))
    beside += "".join(f"---- {name}={value}\n" for name, value in sorted(made.environment.items()))
    compare(file, head, expected, made.configuration + beside, update=update_golden)


@files
def test_the_server_takes_it(file: Path, tmp_path: Path) -> None:
    _, arm, site, _ = read(file)
    if not is_here(arm.server):
        pytest.skip(f"{arm.server} is not installed here")
    done = checked(arm, site, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def checked(arm: Arm, site: Site, folder: Path) -> subprocess.CompletedProcess[str]:
    """What the server itself says of the configuration."""
    place = Place(str(folder), str(folder / "content"))
    leaf = Authority.make(folder / "authority").leaf(site.hosts[:1], arm.tls_certificate)
    shutil.copyfile(leaf.certificate, place.certificate)
    shutil.copyfile(leaf.key, place.key)
    site = replace(site, content=folder)
    for each in site.objects:
        (folder / each.sha256).write_bytes(b"x")
    content = SERVERS[arm.server].content(Assignment(arm, site, folder))
    put(Path(place.content), {**content.files(), **{f"{name}.": b"" for name in content.folders}})
    made = set_up(arm, site, place)
    text = made.configuration
    for port, high in PORTS.items():
        for before in ("server.port = ", "0.0.0.0:", "port: "):
            text = text.replace(f"{before}{port}\n", f"{before}{high}\n").replace(
                f'{before}{port}"', f'{before}{high}"'
            )
    put(folder, {**made.files, SERVERS[arm.server].configuration_file: text.encode()})
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **made.environment}
    return subprocess.run(made.check_argv, capture_output=True, text=True, check=False, env=environment, cwd=folder)


def put(folder: Path, contents: Mapping[str, bytes]) -> None:
    for name, data in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/."):
            (folder / name).write_bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_of_the_server_is_in_a_file(name: str) -> None:
    written = {key for file in FILES if file.parent.name == name for key in settings_of(file)}
    assert written
    own = {setting.name for setting in SERVERS[name].settings}
    server = SERVERS[name]
    common = {"protocol", "keepalive", "keepalive_timeout", "compression", "server_directives"}
    common |= OF_TLS if server.speaks_tls else set()
    common |= {"keepalive_requests"} if server.counts_requests else set()
    common -= UNSEEN.get(name, set())
    assert common <= {setting.name for setting in settings_with(name)}
    assert own | common <= written


@pytest.mark.parametrize(
    ("name", "wrong", "says"),
    [
        ("lighttpd", 'server.netwrok-backend = "writev"', "it knows no such key"),
        ("lighttpd", 'server.tag = "x', "lighttpd does not take 'server.tag = \"x'"),
        ("h2o", "http2-max-concurrent-request: 5", "unknown command"),
        ("h2o", "http2-max-concurrent-requests-per-connection: many", "http2-max-concurrent-requests-per-connection"),
    ],
)
def test_a_directive_that_it_does_not_take_is_named(name: str, wrong: str, says: str, tmp_path: Path) -> None:
    if not find(name):
        pytest.skip(f"{name} is not installed here")
    right = {"lighttpd": 'server.network-backend = "writev"', "h2o": "http2-push-preload: OFF"}[name]
    arm = Arm.parse("arm", {"server": name, "server_directives": [right, wrong]})
    done = checked(arm, SITES["plain"], tmp_path)
    assert done.returncode != 0 or name == "lighttpd"
    made = set_up(arm, SITES["plain"], Place(str(tmp_path), str(tmp_path / "content")))
    refused = SERVERS[name].refused_directive(done.stdout + done.stderr, made.configuration)
    assert refused, done.stdout + done.stderr
    assert says in str(refused)
    assert wrong in str(refused)
    assert SERVERS[name].refused_directive("something else", made.configuration) is None
