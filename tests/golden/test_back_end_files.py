"""Every arm in back_ends/ comes to exactly the configuration and the command line that its file shows, and the real
back end takes it.

A file holds the settings of an arm (`site`: one of SITES in tests/kit/server_arms.py), a line of dashes, and both. To
add one, write the settings and run `pytest tests/golden --update-golden`.
"""

import shlex
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import OWNERS
from lanelab.driver.arm.servers.back_ends.configuration import command, configuration, objects
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Place
from lanelab.driver.base.errors import BuildError, InputError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building.back_ends import back_end
from tests.kit.server_arms import DASHES, compare, read

FOLDER = Path(__file__).parent / "back_ends"
FILES = sorted(FOLDER.glob("*.txt"))
PLACE = Place(folder="/run/lanelab-server/back-end", content="/run/lanelab-server/sites/site")
JARS = ("server-1.2.jar", "back-end.jar")
files = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])


@files
def test_configuration(file: Path, update_golden: bool) -> None:
    head, arm, site, expected = read(file)
    seen = arm.back_end()
    line = shlex.join(command("/usr/bin/java", seen, PLACE, JARS))
    found = f"{configuration(seen, site, PLACE, 'Server/1.2')}\n{line}\n"
    compare(file, head, expected, found, update=update_golden)


@files
def test_the_back_end_takes_it(file: Path, tmp_path: Path) -> None:
    """Its own reading, in its own version."""
    _, arm, site, _ = read(file)
    if lacking := needs.missing(needs.programs("back-end")):
        pytest.skip(f"missing for back ends: {', '.join(program.name for program in lacking)}")
    (name,) = SERVERS[arm.server].builds(arm)
    try:
        packed = back_end(name)
    except BuildError as error:
        pytest.skip(f"a back end cannot be had here: {error}")
    place = Place(str(tmp_path), str(tmp_path))
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "lanelab-back-end")
        argv = command("java", arm.back_end(), place, archive.namelist())
    conf = tmp_path / "back-end.conf"
    conf.write_text(configuration(arm.back_end(), site, place, "Server/1.2"))
    done = subprocess.run([*argv, "--check", conf], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "cannot be read" in done.stderr  # the objects are not there
    for _, file_name in objects(site):
        (tmp_path / file_name).parent.mkdir(exist_ok=True)
        (tmp_path / file_name).write_bytes(b"x")
    done = subprocess.run([*argv, "--check", conf], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_setting_that_only_back_ends_have_is_in_a_file() -> None:
    written = {key for file in FILES for key in yaml.safe_load(file.read_text().partition(DASHES)[0])}
    assert {name for name, servers in OWNERS.items() if {"tomcat", "jetty"} & set(servers)} <= written


def test_what_contradicts_itself_is_not_an_arm() -> None:
    """Those that the schema lets pass."""
    for settings, word in (
        ({"server": "jetty", "jetty_version": "8.1", "protocol": "h2", "tls": "1.3"}, "does not speak h2 with TLS"),
        ({"server": "jetty", "jetty_version": "9.2", "tls": "1.3"}, "does not speak http/1.1 with TLS"),
        ({"server": "jetty", "protocol": "spdy/3"}, "Jetty 12 does not speak spdy/3"),
        ({"server": "jetty", "jetty_version": "9.2", "protocol": "spdy/3.1"}, "does not speak spdy/3.1"),
        ({"server": "tomcat", "protocol": "spdy/3"}, "does not speak spdy/3"),
        ({"server": "tomcat", "tls": "1.3", "tls_resumption": False}, "always lets sessions of TLS be resumed"),
        ({"server": "jetty", "proxy": "apache", "proxy_protocol": "ajp"}, "does not speak ajp"),
        ({"server": "tomcat", "server_directives": ["Timeout 10"]}, "read no directives"),
        ({"server": "tomcat", "jetty_version": "9.2"}, "it is one of server: jetty"),
        ({"server": "nginx", "threads": 90}, "it is one of server: tomcat or jetty"),
        ({"server": "tomcat", "heap": "12MB"}, "is no size of a heap"),
    ):
        with pytest.raises(InputError, match=word):
            Arm.parse("arm", settings)
