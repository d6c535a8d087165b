"""What the program that reads a host's settings tells is what the system's own programs tell."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.batch_program import IP, BatchProgram
from lanelab.driver.bed.line_program import LineProgram
from lanelab.driver.bed.remote.settings_reader import STAGED
from lanelab.driver.collect.recording.this_machine import ThisMachine
from lanelab.driver.link.hosts.host import Route
from lanelab.driver.trial.page_load.node_settings import READER, Device, HostAnswer

NOT_LEFT_OUT = 1
FEATURES = ("tcp-segmentation-offload", "generic-segmentation-offload", "generic-receive-offload",
            "large-receive-offload", "rx-gro-hw")  # fmt: skip

pytestmark = pytest.mark.skipif(not (shutil.which("ethtool") and shutil.which("ss")), reason="no ethtool or ss")


def reader(node: ThisMachine, left_out: int, *names: str) -> LineProgram:
    return LineProgram(node, READER, "the reader", NodeError, "lo", "127.0.0.0/8", left_out, *names)


@pytest.fixture
def node() -> Iterator[ThisMachine]:
    here = ThisMachine()
    yield here
    here.close()


def read(node: ThisMachine, content: str = "", left_out: int = NOT_LEFT_OUT) -> HostAnswer:
    program = reader(node, left_out, "net/ipv4/tcp_rmem", "net/ipv4/no_such_setting")
    try:
        program.ask_for(HostAnswer, "")
        return program.ask_for(HostAnswer, content)  # it answers again and again
    finally:
        program.close()


def said_by(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def test_offloads_are_those_of_ethtool(node: ThisMachine) -> None:
    states = dict(line.strip().split(": ", 1) for line in said_by("ethtool", "-k", "lo").splitlines()[1:])
    on = {name for name in FEATURES if states[name].startswith("on")}
    assert {name for name in read(node)["features"] if name in FEATURES} == on
    assert on


def test_the_kernels_settings_are_there_as_far_as_it_has_them(node: ThisMachine) -> None:
    words = " ".join(Path("/proc/sys/net/ipv4/tcp_rmem").read_text().split())
    assert read(node)["kernel"] == {"net/ipv4/tcp_rmem": words}


def test_a_device_and_its_routes_are_those_of_ip(node: ThisMachine) -> None:
    ip = BatchProgram(node, IP)
    try:
        (device,) = parsed(list[Device], ip.show("link show dev lo"), "ip")
        routes = parsed(list[Route], ip.show("route show dev lo"), "ip")
    finally:
        ip.close()
    assert f"mtu {device['mtu']} " in said_by("ip", "link", "show", "dev", "lo")
    assert len(routes) == len(said_by("ip", "route", "show", "dev", "lo").splitlines())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_each_connection_says_what_it_uses(node: ThisMachine, family: socket.AddressFamily) -> None:
    """A server that listens at IPv6 addresses has connections of IPv4, too."""
    with socket.socket(family) as listening, socket.socket() as client:
        listening.bind(("", 0))
        listening.listen()
        port = listening.getsockname()[1]
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        client.connect(("127.0.0.1", port))
        server, _ = listening.accept()
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
        with server:
            both, none = read(node)["controls"], read(node, left_out=port)["controls"]
    assert both.count("reno") >= none.count("reno") + 2


def test_files_that_were_written_to_are_told_whatever_time_they_have(node: ThisMachine, tmp_path: Path) -> None:
    folder = tmp_path / "content"
    (folder / "below").mkdir(parents=True)
    for name in ("same.html", "below/changed.css", "below/gone.js"):
        (folder / name).write_text(name)
    assert read(node, str(folder))["written_to"] == ["all of it"]
    Path(f"{folder}{STAGED}").touch()
    assert read(node, str(folder))["written_to"] == []
    (folder / "below/changed.css").write_text("other")
    os.utime(folder / "below/changed.css", (0, 0))
    (folder / "below/gone.js").unlink()
    assert read(node, str(folder))["written_to"] == ["below", "below/changed.css"]
