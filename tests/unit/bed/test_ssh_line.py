"""The line to a machine, where what answers is not what was expected: a stand-in for ssh."""

import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.base.errors import HostAway, HostError
from lanelab.driver.bed.ssh import connection as ssh_line
from lanelab.driver.bed.ssh.connection import SshConnection
from lanelab.driver.bed.ssh.hosts import SshHost
from lanelab.driver.bed.ssh.refusals import refusal, why_key_unfit

PYTHON = sys.executable
HOST = SshHost("client1", "192.0.2.1", python=PYTHON)


def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str) -> SshConnection:
    """`shell`: what the far login shell does with the words, which are "$words". Its sudo works without a password."""
    stand_ins = {"ssh": f'for words in "$@"; do :; done\n{shell}', "sudo": 'shift 2\nexec "$@"'}
    for name, script in stand_ins.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return SshConnection("client", HOST, tmp_path / "said", os.getpid())


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
        ("Host key verification failed.", r"not known here yet.*Log in once.*: ssh 192\.0\.2\.1$", HostError),
        (
            "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
            "host key has changed .*ssh-keygen -R",
            HostError,
        ),
        ("command-line: line 0: Bad configuration option: no", r"its options .*option: no\).*common_args", HostError),
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
    for ready in (SshConnection.open, SshConnection._await_number):
        made = line(tmp_path, monkeypatch, 'exec sh -c "exec $words"')
        ready(made)
        began = time.monotonic()
        made.await_end(100)
        assert time.monotonic() - began < 50


def test_a_key_that_ssh_cannot_use_is_told_and_not_blamed_on_the_machine(tmp_path: Path) -> None:
    def made(name: str, phrase: str) -> Path:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-f", str(tmp_path / name)], check=True)
        return tmp_path / name

    locked, shown, broken = made("locked", "a secret"), made("shown", ""), tmp_path / "broken"
    shown.chmod(0o644)
    broken.write_text("no key\n")
    broken.chmod(0o600)
    told = {
        tmp_path / "none": "No such file or directory.*Set ansible_ssh_private_key_file",
        broken: "no key that ssh can use",
        locked: f"has a passphrase.*Run: ssh-add {locked}",
        shown: f"others may read.*Run: chmod 600 {shown}",
        made("good", ""): "it takes none of the keys",
    }
    for key, words in told.items():
        host = replace(HOST, key=str(key))
        found = refusal("client1 (client)", host, ["me@a: Permission denied (publickey)."], "early")
        assert re.search(words, str(found)), found
    assert why_key_unfit("") is None


def test_what_to_type_by_hand_has_all_that_was_given() -> None:
    host = replace(HOST, port=2222, user="me", key="/k", options=("-o", "ProxyJump=gate"))
    assert str(refusal("a", host, ["so what"], "early")).endswith(
        "ssh ended early: so what. By hand: ssh -o ProxyJump=gate -p 2222 -l me -i /k 192.0.2.1"
    )


@pytest.mark.parametrize("file", ["", "a sudo that nobody may execute"])
def test_a_machine_without_sudo_is_told_so(tmp_path: Path, file: str) -> None:
    if file:
        (tmp_path / "sudo").write_text(file)
    program = ssh_line.BECOME_ROOT.format(begin="")
    argv = [PYTHON, "-c", f"import os, signal, sys\n{program}"]
    done = subprocess.run(argv, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.stderr == "sudo: there is no sudo there\n"
