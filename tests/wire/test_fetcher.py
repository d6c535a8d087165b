"""The fetcher as lanelab starts it: it takes the plan of every arm, and its report is read, whatever a server does."""

import json
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway import log
from lanelab.driver.arm.gateway.configuration import Names
from lanelab.driver.arm.gateway.fetcher import FILES, PROGRAM, Wanted, plan_text, read_report
from lanelab.driver.base.errors import RecordError
from lanelab.driver.base.programs.building.gateway import gateway_program
from lanelab.driver.record.evidence.fetch import FetchReport
from lanelab.driver.trial.fetch.expectation import as_fetched
from lanelab.driver.trial.fetch.settings import ACCEPT_ENCODING, FetchSettings

HOST, PATHS = "www.site.test", ("/", "/a.css", "/b.css?v=1")
KEY = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
ARMS: dict[str, dict[str, Any]] = {
    "plain": {},
    "closing": {"keepalive": False},
    "pipelined": {"pipelining": 4, "pipelining_policy": "firefox", "connections_per_host": 2},
    "tls": {"tls": "1.2", "tls_resumption": False, "tls_key_share": "p-256"},
    "h2": {"protocol": "h2", "tls": "1.3", "stream_window": 100_000, "priorities": "none", "coalescing": "origin"},
    "spdy": {"protocol": "spdy/3.1", "spdy_header_compression": 0, "backup_connections": True},
}


@pytest.fixture(scope="module")
def program() -> Path:
    return gateway_program(PROGRAM)


def fetch(program: Path, folder: Path, settings: dict[str, Any], port: int, **changed: object) -> FetchReport:
    fetching = FetchSettings(("*",), 2, warm=False)
    arm = as_fetched(Arm.parse("arm", settings), fetching)
    objects = tuple(HOST + path for path in PATHS)
    wanted = Wanted(objects, fetching.at_once, fetching.warm, ACCEPT_ENCODING, 5000)
    plan = json.loads(plan_text(arm, Names({HOST: "127.0.0.1"}, "instant"), str(folder), (KEY,), wanted))
    plan |= {"hold": False, **changed}
    plan["wire"]["port"] = port
    (folder / FILES["plan"]).write_text(json.dumps(plan))
    done = subprocess.run([program, str(folder / FILES["plan"])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return read_report(done.stdout)


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.mark.parametrize("name", ARMS)
def test_it_takes_every_arms_plan_and_tells_of_a_server_that_is_not_there(
    program: Path, tmp_path: Path, closed_port: int, name: str
) -> None:
    report = fetch(program, tmp_path, ARMS[name], closed_port)
    assert [each.url for each in report.objects] == [HOST + path for path in PATHS]
    assert all(each.error and each.status is None and each.sha256 is None for each in report.objects)
    assert report.in_time
    told = log.parse((tmp_path / FILES["log"]).read_bytes())
    assert told.unread_lines == 0
    assert [each.request for each in told.requests] == [1, 2, 3]


def test_a_server_that_never_answers_is_given_up(program: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        report = fetch(program, tmp_path, {}, listener.getsockname()[1], timeout_ms=300)
    assert not report.in_time
    assert [each.url for each in report.objects] == [HOST + path for path in PATHS[:2]]


@pytest.mark.parametrize("text", ["", "{}", "nonsense", '{"version": "1"}'])
def test_what_is_no_report_is_an_error(text: str) -> None:
    with pytest.raises(RecordError):
        read_report(text)
