"""Every arm in nginx/ comes to exactly the nginx.conf that its file shows, and the real nginx takes it.

A file holds the settings of an arm (`site`: one of SITES in tests/kit/server_arms.py; `version`: of nginx, else
1.22.1), a line of dashes, and the configuration. To add one, write the settings and run
`pytest tests/golden --update-golden`.
"""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.fields import settings_with
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.directives import directive_of
from lanelab.driver.arm.servers.layout import Layout, lay_out
from lanelab.driver.arm.servers.nginx.configuration import Build, configuration, refused_directive
from lanelab.driver.arm.servers.nginx.installation import BROTLI, LUA, MODULE_FOLDERS
from lanelab.driver.arm.servers.server import Assignment, Place
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.site.push_plan import pushed_paths
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.server_arms import DASHES, SITES, compare, read

FOLDER = Path(__file__).parent / "nginx"
FILES = sorted(FOLDER.glob("*.txt"))
PLACE = Place(folder="/run/lanelab-server/nginx", content="/run/lanelab-server/sites/site")
BUILD = Build((1, 22, 1), f"/usr/lib/nginx/modules/{BROTLI}", tuple(f"/usr/lib/nginx/modules/{name}" for name in LUA))
files = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
needs_nginx = pytest.mark.skipif(not find("nginx"), reason="no nginx here")


def settings_of(file: Path) -> dict[str, object]:
    return yaml.safe_load(file.read_text().partition(DASHES)[0]) or {}


def _layout(arm: Arm, site: Site) -> Layout:
    return lay_out(site, compressed_before=arm.compression == "zstd")


@files
def test_configuration(file: Path, update_golden: bool) -> None:
    head, arm, site, expected = read(file)
    version = str(settings_of(file).get("version", "1.22.1"))
    build = replace(BUILD, version=tuple(map(int, version.split("."))))
    logs = bool(settings_of(file).get("log_requests", True))
    found = configuration(assigned(arm, site, log_requests=logs), PLACE, build, _layout(arm, site))
    compare(file, head, expected, found, update=update_golden)


@files
@needs_nginx
def test_nginx_takes_it(file: Path, tmp_path: Path) -> None:
    _, arm, site, _ = read(file)
    if arm.compression == "brotli" and not installed().brotli_module:
        pytest.skip("nginx has no module for brotli here")
    if arm.answer_delay and not installed().lua_modules:
        pytest.skip("nginx has no module for Lua here")
    done = checked(arm, site, installed(), tmp_path)
    assert done.returncode == 0, done.stderr
    assert not re.search(r"\[(warn|error|crit|alert|emerg)\]", done.stderr), done.stderr


@needs_nginx
def test_nginx_takes_many_names_and_long_ones(tmp_path: Path) -> None:
    """Its tables have to be large enough: it refuses, or warns of, those that are not."""
    hosts = [f"{'long-' * 10}{number}.{'name-' * 10}test" for number in range(200)]
    objects = [
        SiteObject(hosts[number % 200], f'/{"x" * 900}?{number}&a="b\\c$d{{e', 1, "text/css", f"{number:064x}")
        for number in range(2000)
    ]
    site = Site("site", "A site", hosts[0], objects[0].path, tuple(objects), Path("/nowhere"))
    done = checked(Arm.parse("arm", {"server": "nginx"}), site, installed(), tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert not re.search(r"\[(warn|error|crit|alert|emerg)\]", done.stderr), done.stderr[-2000:]


def installed() -> Build:
    words = subprocess.run([str(find("nginx")), "-v"], capture_output=True, text=True, check=True).stderr
    version = re.search(r"nginx/([0-9.]+)", words)
    assert version
    brotli, *lua = (
        next((str(path) for path in (Path(folder) / name for folder in MODULE_FOLDERS.split()) if path.exists()), "")
        for name in (BROTLI, *LUA)
    )
    return Build(tuple(map(int, version[1].split("."))), brotli, tuple(lua) if all(lua) else ())


def assigned(arm: Arm, site: Site, *, log_requests: bool = True) -> Assignment:
    pushed, delays = pushed_paths(site, arm.push), ThirdParties.of(arm, site).delays
    return Assignment(arm, site, Path(PLACE.folder).parent, pushed=pushed, delays=delays, log_requests=log_requests)


def checked(arm: Arm, site: Site, build: Build, folder: Path) -> subprocess.CompletedProcess[str]:
    """What nginx itself says of the configuration."""
    place = Place(str(folder), str(folder / "content"))
    leaf = Authority.make(folder / "authority").leaf(site.hosts[:1], arm.tls_certificate)
    shutil.copyfile(leaf.certificate, place.certificate)
    shutil.copyfile(leaf.key, place.key)
    text = configuration(assigned(arm, site), place, build, lay_out(site))
    for port, high in ((80, 48080), (443, 48443)):  # nginx tries to listen, and a port in use does not disturb it
        text = text.replace(f"listen 0.0.0.0:{port}", f"listen 127.0.0.1:{high}")
        text = re.sub(rf"listen (127\.[0-9.]+):{port}\b", rf"listen \1:{high}", text)
    (folder / "nginx.conf").write_text(text)
    argv = [str(find("nginx")), "-t", "-p", str(folder), "-e", str(folder / "error.log")]
    return subprocess.run([*argv, "-c", str(folder / "nginx.conf")], capture_output=True, text=True, check=False)


def names(kind: type[WireSettings]) -> set[str]:
    """Of what it declares beyond the wire."""
    return {setting.name for setting in rows_of(kind)} - {setting.name for setting in rows_of(WireSettings)}


PROXY = names(ProxySettings) - {"proxy", "proxy_protocol"}  # its own business


def test_every_setting_of_the_server_is_in_a_file() -> None:
    written = {key for file in FILES for key in settings_of(file)}
    browser = names(BrowserSettings) | {"browser"} | {"h3_discovery", "early_data"}
    content = {
        "minify",
        "preload",
        "fetchpriority",
        "revisit_after",
        "early_hints",
        "block",
        "unreachable",
        "answer_delay",
        "answer",
        "origins",
    }
    common = {"dns", "addresses", "copy"}
    gateway = {
        "via",
        "pipelining",
        "connections_per_host",
        "coalescing",
        "pipelining_policy",
        "backup_connections",
        "tls_key_share",
        "stream_window",
        "connection_window",
        "max_concurrent_streams",
        "priorities",
    }
    gateway |= {"spdy_header_compression", "scheduling"}
    assert {
        setting.name for setting in settings_with("nginx")
    } - PROXY - browser - content - gateway - common <= written


def test_knows_the_arms_own_lines() -> None:
    arm = Arm.parse("arm", {"server": "nginx", "server_directives": ["sendfile on;", "lingering_close off;"]})
    text = configuration(assigned(arm, SITES["plain"]), PLACE, BUILD, lay_out(SITES["plain"]))
    numbers = [number for number in range(len(text.splitlines()) + 3) if directive_of(text, number)]
    assert [directive_of(text, number) for number in numbers] == ["sendfile on;", "lingering_close off;"]
    words = f'nginx: [emerg] "sendfile" directive is duplicate in /x/nginx.conf:{numbers[0]}\n'
    refused = refused_directive(words, text)
    assert refused
    assert "nginx does not take 'sendfile on;': \"sendfile\" directive is duplicate" in str(refused)
    assert refused_directive(words.replace(f":{numbers[0]}", ":1"), text) is None
    assert refused_directive("nginx: [emerg] bind() failed\n", text) is None
