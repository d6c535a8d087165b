"""What proxies are configured with: exact text, and the opinion of the real programs.

A file holds the settings of an arm, a line of dashes, and the configuration that comes of them. `--update-golden`
writes them again: read the difference before you commit it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.proxies.apache import configuration as apache
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.gateway import proxy as gateway
from lanelab.driver.arm.proxies.haproxy import proxy as haproxy
from lanelab.driver.arm.proxies.nginx import configuration as nginx
from lanelab.driver.arm.servers.apache.installation import MODULE_FOLDERS
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.server import Place
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.settings.setting import rows_of
from tests.kit.server_arms import DASHES, compare

FILES = sorted((Path(__file__).parent / "proxies").glob("*.txt"))
PLACE = Place("/run/lanelab-proxy", "/run/lanelab-proxy")
NAMES = "mpm_event mpm_worker mpm_prefork log_config logio authz_core proxy proxy_http proxy_ajp proxy_http2 ssl http2"
MODULES = frozenset([*NAMES.split(), "socache_shmcb"])
PROGRAMS = {"apache": ("apache2", "httpd"), "nginx": ("nginx",), "haproxy": ("haproxy",)}


def settings_of(file: Path) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(file.read_text().partition(DASHES)[0])
    return found


def arm_of(file: Path) -> Arm:
    return Arm.parse("arm", settings_of(file))


def text_of(arm: Arm, place: Place, folder: str, names: frozenset[str]) -> str:
    if arm.proxy == "apache":
        return apache.configuration(arm, place, folder, names, log_requests=arm.keepalive)
    if arm.proxy == "nginx":
        return nginx.configuration(arm, place, (1, 22, 1), log_requests=arm.keepalive)
    if arm.proxy == "haproxy":
        return haproxy.configuration(arm, place, log_requests=arm.keepalive)
    return gateway.configuration(arm, place)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text(file: Path, request: pytest.FixtureRequest) -> None:
    head, _, expected = file.read_text().partition(DASHES)
    found = text_of(arm_of(file), PLACE, "/usr/lib/apache2/modules", MODULES)
    compare(file, head, expected, found, update=request.config.getoption("--update-golden"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_real_program_takes_it(file: Path, tmp_path: Path) -> None:
    arm = arm_of(file)
    place = Place(str(tmp_path), str(tmp_path))
    leaf = Authority.make(tmp_path / "authority").leaf(("a.test",), arm.tls_certificate)
    shutil.copyfile(leaf.certificate, place.certificate)
    shutil.copyfile(leaf.key, place.key)
    (tmp_path / haproxy.BOTH).write_bytes(leaf.certificate.read_bytes() + leaf.key.read_bytes())
    folder = next((each for each in MODULE_FOLDERS.split() if Path(each).is_dir()), "")
    names = frozenset(each.stem.removeprefix("mod_") for each in Path(folder).glob("mod_*.so")) if folder else MODULES
    text = text_of(arm, place, folder, names)
    for port, high in ((80, 48180), (443, 48543)):  # where an ordinary user may listen
        text = text.replace(f"0.0.0.0:{port}", f"127.0.0.1:{high}")
    (tmp_path / "configuration").write_text(text)
    done = subprocess.run(check_argv(arm, tmp_path), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[warn]" not in done.stderr, done.stderr
    assert "[WARNING]" not in done.stderr, done.stderr


def check_argv(arm: Arm, folder: Path) -> list[str]:
    path = str(folder / "configuration")
    if arm.proxy == "gateway":
        return [str(gateway_program()), "--check", path]
    program = next((str(found) for found in map(find, PROGRAMS[arm.proxy]) if found), "")
    if not program:
        pytest.skip(f"{arm.proxy} is not installed here")
    return {
        "apache": [program, "-d", str(folder), "-f", path, "-t"],
        "nginx": [program, "-t", "-p", str(folder), "-e", str(folder / "error.log"), "-c", path],
        "haproxy": [program, "-c", "-f", path],
    }[arm.proxy]


def test_every_setting_of_proxies_is_in_a_file() -> None:
    own = {setting.name for setting in rows_of(ProxySettings)} - {setting.name for setting in rows_of(WireSettings)}
    assert own <= {key for file in FILES for key in settings_of(file)}
