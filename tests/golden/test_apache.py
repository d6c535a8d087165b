"""Every arm in apache/ comes to exactly the httpd.conf that its file shows, and the real Apache takes it.

A file holds the settings of an arm (and `site`: one of SITES in tests/kit/server_arms.py), a line of dashes, and the
configuration. To add one, write the settings. After a change that is meant, `pytest tests/golden --update-golden`
writes them all again: read the difference before you commit it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.fields import settings_with
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.servers.apache.configuration import Modules, configuration
from lanelab.driver.arm.servers.apache.installation import MODULE_FOLDERS
from lanelab.driver.arm.servers.apache.waiting import waiting_at_once
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.directives import directive_of
from lanelab.driver.arm.servers.server import Place
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import apache_module
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.settings.setting import rows_of
from lanelab.driver.site.push_plan import pushed_paths
from lanelab.driver.site.site import Site
from tests.kit.server_arms import DASHES, SITES, compare, hints_of, read

FOLDER = Path(__file__).parent / "apache"
FILES = sorted(FOLDER.glob("*.txt"))
MODULES = ["mpm_event", "mpm_worker", "mpm_prefork", "authz_core", "alias", "ssl", "socache_shmcb"]
MODULES += ["http2", "deflate", "brotli", "headers"]
PLACE = Place(folder="/run/lanelab-server/apache", content="/run/lanelab-server/sites/site")
OWN = [f"/run/lanelab-server/apache/{name}.so" for name in apache_module.MODULES]
AVAILABLE = Modules("/usr/lib/apache2/modules", frozenset(MODULES), *OWN)


files = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])


@files
def test_configuration(file: Path, update_golden: bool) -> None:
    head, arm, site, expected = read(file)
    logs = bool((yaml.safe_load(head) or {}).get("log_requests", True))
    pushed = pushed_paths(site, arm.push)
    hints, waiting = hints_of(arm, site), waiting_of(arm, site)
    found = configuration(arm, site, PLACE, AVAILABLE, log_requests=logs, pushed=pushed, hints=hints, waiting=waiting)
    compare(file, head, expected, found, update=update_golden)


@files
@pytest.mark.skipif(not (find("apache2") or find("httpd")), reason="no Apache here")
@pytest.mark.skipif(bool(needs.missing(needs.programs("module"))), reason="what builds modules is missing")
def test_apache_takes_it(file: Path, tmp_path: Path) -> None:
    _, arm, site, _ = read(file)
    modules = next(Path(folder) for folder in MODULE_FOLDERS.split() if Path(folder).is_dir())
    leaf = Authority.make(tmp_path / "authority").leaf(site.hosts, arm.tls_certificate)
    there = frozenset(each.stem.removeprefix("mod_") for each in modules.glob("mod_*.so"))
    place = Place(str(tmp_path), str(tmp_path / "content"))
    shutil.copyfile(leaf.certificate, place.certificate)
    shutil.copyfile(leaf.key, place.key)
    own = [str(apache_module.module(name)) for name in apache_module.MODULES]
    text = configuration(
        arm,
        site,
        place,
        Modules(str(modules), there, *own),
        pushed=pushed_paths(site, arm.push),
        hints=hints_of(arm, site),
        waiting=waiting_of(arm, site),
    )
    (tmp_path / "httpd.conf").write_text(text)
    argv = [str(find("apache2") or find("httpd")), "-t", "-d", str(tmp_path), "-f", str(tmp_path / "httpd.conf")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1] == "Syntax OK", done.stderr


def waiting_of(arm: Arm, site: Site) -> int:
    return waiting_at_once(arm, ThirdParties.of(arm, site).delays)


def names(kind: type[WireSettings]) -> set[str]:
    """Of what it declares beyond the wire."""
    return {setting.name for setting in rows_of(kind)} - {setting.name for setting in rows_of(WireSettings)}


PROXY = names(ProxySettings) - {"proxy", "proxy_protocol"}  # its own business


def test_every_setting_of_the_server_is_in_a_file() -> None:
    written = {key for file in FILES for key in yaml.safe_load(file.read_text().partition(DASHES)[0]) or {}}
    browser = names(BrowserSettings) | {"browser"} | {"h3_discovery", "early_data"}
    content = {"minify", "revisit_after", "preload", "fetchpriority", "block", "unreachable", "answer", "origins"}
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
    common = {"server", "dns", "addresses", "copy"}
    assert {
        setting.name for setting in settings_with("apache")
    } - PROXY - browser - content - gateway - common <= written


def test_knows_the_arms_own_lines() -> None:
    arm = Arm.parse("arm", {"server_directives": ["HostnameLookups On", "LimitRequestFields 50"]})
    text = configuration(arm, SITES["plain"], PLACE, AVAILABLE)
    found = {number: directive_of(text, number) for number in range(len(text.splitlines()) + 3)}
    assert [line for line in found.values() if line] == ["HostnameLookups On", "LimitRequestFields 50"]
    assert all(text.splitlines()[number - 1] == line for number, line in found.items() if line)
    plain = configuration(Arm.parse("arm", {}), SITES["plain"], PLACE, AVAILABLE)
    assert directive_of(plain, 5) is None
