"""A back end on this machine's loopback, as it is behind a proxy."""

import contextlib
import shutil
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.back_ends import configuration, log
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Place
from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building.back_ends import back_end
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.wait import wait_until
from tools.bench.replay_servers import free_port

STARTING_S = 120
BODY = b"picture" * 1000
SITE = Site("wire", "", "a.test", "/", (SiteObject("a.test", "/x.png", len(BODY), "image/png", "5" * 64),), Path("/no"))


@dataclass(frozen=True, slots=True)
class Running:
    port: int
    process: subprocess.Popen[bytes]
    error_log: Path

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.error_log.read_text()
        said = self.error_log.read_text()
        return "Started S" in said or "Started H" in said or "Starting ProtocolHandler" in said

    def unexpected(self) -> list[str]:
        return log.unexpected(self.error_log.read_text().splitlines())


@contextlib.contextmanager
def running(**settings: object) -> Iterator[Running]:
    """Skips the test where it cannot be had. `settings` of the arm."""
    arm = Arm.parse("arm", {"heap": "128MB", **settings})
    folder = Path(tempfile.mkdtemp(prefix="wire-back-end-"))
    try:
        argv, port = _prepared(arm, folder), free_port()
        conf, error_log = folder / "back-end.conf", folder / "error.log"
        text = configuration.configuration(arm.back_end(), SITE, Place(str(folder), str(folder)), "Server/1.2")
        assert "\nport\t8080\n" in text
        conf.write_text(text.replace("\nport\t8080\n", f"\nport\t{port}\n"))
        error_log.write_text("")
        # Should this Python be killed, it is as well.
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *argv, conf], stdin=subprocess.DEVNULL)
        found = Running(port, process, error_log)
        try:
            wait_until(found.is_ready, STARTING_S, error_log.read_text)
            yield found
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    finally:
        shutil.rmtree(folder)


def _prepared(arm: Arm, folder: Path) -> list[str]:
    if lacking := needs.missing(needs.programs("back-end")):
        pytest.skip(f"missing for back ends: {', '.join(program.name for program in lacking)}")
    (name,) = SERVERS[arm.server].builds(arm)
    try:
        packed = back_end(name)
    except BuildError as error:
        pytest.skip(f"a back end cannot be had here: {error}")
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder / configuration.JARS)
        jars = archive.namelist()
    for _, file in configuration.objects(SITE):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_bytes(BODY)
    return configuration.command("java", arm.back_end(), Place(str(folder), str(folder)), jars)
