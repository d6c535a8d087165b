"""The gateway's life, with stand-ins for the program: each way in which it can fail has its words."""

import os
import signal
import socket
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway import gateway
from lanelab.driver.arm.gateway.configuration import Names, Spoken
from lanelab.driver.arm.gateway.gateway import Gateway
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.base.errors import GatewayError, NodeError
from lanelab.driver.bed.local import copy_whole, start_local
from lanelab.driver.bed.node import Command, Node, Process, Stdio, Terminal
from tests.kit.wait import wait_until

ARM = Arm.parse("spdy", {"protocol": "spdy/3.1", "tls": "1.3"})
NAMES = Names({"a.test": "10.10.2.2"}, "instant")
SOUND = """
echo ready
trap 'echo "{}" >>"$log"; exit 0' TERM
log=$(sed -n 's/.*"log": "\\(.*\\)",/\\1/p' "$1")
echo '{"event": "dns", "host": "a.test", "began_ms": 1, "ended_ms": 2, "addresses": [], "error": null}' >"$log"
while :; do sleep 0.02; done
"""


class Here(Node):
    """This machine."""

    def __init__(self) -> None:
        super().__init__("client")
        self.spawned: list[Process] = []

    def spawn(self, command: Command, stdio: Stdio | None = None, terminal: Terminal | None = None) -> Process:
        process = start_local(list(command.argv), dict(os.environ), stdio or Stdio(), terminal)
        self.spawned.append(process)
        return process

    def put(self, source: Path, target: str, mode: int = 0o644) -> None:
        copy_whole(source, Path(target), mode)

    def get(self, source: str, target: Path) -> None:
        try:
            copy_whole(Path(source), target)
        except OSError as error:
            raise NodeError(f"cannot read {source}: {error.strerror}") from error

    def connect(self, address: str, port: int, timeout_s: float = 1) -> socket.socket:
        return socket.create_connection((address, port), timeout_s)

    def close(self) -> None:
        for process in self.spawned:
            process.signal(signal.SIGKILL)


def start(folder: Path, node: Node, script: str) -> Gateway:
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    leaf = Authority.make(folder / "authority").leaf(["a.test"], "ecdsa-p256")
    return Gateway.start(
        node, str(program), Spoken(ARM, NAMES, ("127.0.0.1",)), folder / "gateway", leaf, (leaf.spki_sha256_b64,)
    )


def test_a_sound_one_is_ready_and_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    node = Here()
    one = start(tmp_path, node, SOUND)
    wait_until(lambda: one.record().dns)
    assert [each.host for each in one.record().dns] == ["a.test"]
    one.stop()
    one.stop()
    assert node.spawned[-1].wait(0) == 0
    files = one.files({"log": "gateway.jsonl", "keys": "keys.log", "configuration": "gateway.json"})
    assert set(files) == {"gateway.jsonl", "gateway.json"}  # no keys were written
    assert (tmp_path / "gateway" / "key.pem").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("script", "says"),
    [
        (
            "echo 'wire.port: 0 is not from 1' >&2; exit 2",
            "ended with status 2 before it was ready: wire.port: 0 is not",
        ),
        ("kill -9 $$", "was killed by signal 9 before it was ready: it said nothing"),
        ("echo unready; exit 0", "ended with status 0 before it was ready"),
    ],
)
def test_one_that_does_not_start_says_why(tmp_path: Path, script: str, says: str) -> None:
    with pytest.raises(GatewayError) as error:
        start(tmp_path, Here(), script)
    assert says in str(error.value)


def test_one_that_is_never_ready_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "READY_WITHIN_S", 0.1)
    node = Here()
    with pytest.raises(GatewayError) as error:
        start(tmp_path, node, "exec sleep 600")
    assert "was not ready within 0.1 s" in str(error.value)
    assert node.spawned[-1].wait(60) == -signal.SIGTERM


def test_one_that_ends_by_itself_is_found_out_at_its_end(tmp_path: Path) -> None:
    node = Here()
    one = start(tmp_path, node, "echo 'panic: no' >&2; echo ready; exec sleep 600")
    os.killpg(node.spawned[-1].pid, signal.SIGKILL)  # type: ignore[attr-defined]
    node.spawned[-1].wait(60)
    for _ in range(2):
        with pytest.raises(GatewayError) as error:
            one.stop()
        assert "was killed by signal 9 by itself: panic: no" in str(error.value)


def test_one_that_will_not_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "STOP_WITHIN_S", 0.1)
    node = Here()
    one = start(tmp_path, node, "trap '' TERM; echo ready; while :; do sleep 600; done")
    with pytest.raises(GatewayError) as error:
        one.stop()
    assert "did not end within 0.1 s" in str(error.value)
    assert node.spawned[-1].wait(60) == -signal.SIGKILL
