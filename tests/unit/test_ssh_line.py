"""The line to a machine, where what answers is not what was expected: a stand-in for ssh."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from driver.bed import ssh_line
from driver.bed.ssh_hosts import SshHost
from driver.bed.ssh_line import SshLine
from driver.errors import HostAway, HostError

PYTHON = sys.executable
HOST = SshHost("client1", "192.0.2.1", python=PYTHON)


def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> SshLine:
    """`shell`: what the far login shell does with the words, which are "$words"."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nfor words in "$@"; do :; done\n{shell}\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return SshLine("client", HOST, tmp_path / "said", os.getpid())


@pytest.fixture(autouse=True)
def _nobody_waits_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANELAB_PATIENCE", raising=False)
    monkeypatch.setattr(ssh_line, "CONNECT_WITHIN_S", 5)
    monkeypatch.setattr(ssh_line, "ANSWER_WITHIN_S", 5)


@pytest.mark.parametrize("before", [":", 'echo "$words"', "echo welcome; echo 'no newline at its end: \\c'", "set -v"])
def test_whatever_a_shell_prints_before_it_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str
) -> None:
    made = line(tmp_path, monkeypatch, f'{before}\neval "$words"')
    made.open()
    assert abs(made.clock_offset_s()) < 1
    made.close()
    made.await_end(5)


def test_an_answer_that_is_not_ours_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = "$(echo \"$words\" | sed 's/.*print(\\([0-9]*\\),.*/\\1/')"
    made = line(tmp_path, monkeypatch, f'echo "{number} 3 11 0"; echo "so what"; cat >/dev/null')
    with pytest.raises(HostError, match=r"client1 \(client\): something else .* answers: 'so what'") as caught:
        made.open()
    assert caught.value.remedy


def test_an_end_in_the_middle_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = "$(echo \"$words\" | sed 's/.*print(\\([0-9]*\\),.*/\\1/')"
    end = 'read line; echo \'{"admin": true, "connection": ""}\'; exec <&-; exec >&-; echo \'Broken pipe\' >&2'
    made = line(tmp_path, monkeypatch, f'echo "{number} 3 11 0"; {end}')

    def talk() -> None:
        made.open()
        made.ask("clock")

    with pytest.raises(HostAway):
        talk()


@pytest.mark.parametrize(
    ("said", "words", "kind"),
    [
        ("ssh: connect to host a port 22: No route to host", "there is no way to it", HostAway),
        ("ssh: connect to host a port 22: Connection timed out", "it does not answer", HostAway),
        ("Timeout, server a not responding.", "it does not answer", HostAway),
        ("me@a: Permission denied (publickey).", "none of the keys", HostError),
        ("Host key verification failed.", "host key is not the one", HostError),
        (f"sh: 1: {PYTHON}: not found", "no such program as its Python", HostError),
        (".bashrc: line 3: foo: command not found", r"ssh ended before it answered: \.bashrc", HostError),
    ],
)
def test_why_a_machine_cannot_be_used_and_whether_that_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, words: str, kind: type[HostError]
) -> None:
    made = line(tmp_path, monkeypatch, f"echo '{said}' >&2; exit 255")
    with pytest.raises(HostError, match=words) as caught:
        made.open()
    assert type(caught.value) is kind


def test_what_was_started_there_ends_when_nothing_more_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_line, "QUESTION_WITHIN_S", 1)
    for ready in (SshLine.open, SshLine._await_number):
        made = line(tmp_path, monkeypatch, 'exec sh -c "exec $words"')
        ready(made)
        began = time.monotonic()
        made.await_end(10)
        assert time.monotonic() - began < 5
