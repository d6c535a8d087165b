"""The command line, as a user meets it."""

import contextlib
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.cli.main import main
from tests.kit.handles import LanelabCommand
from tests.kit.processes import command_lines
from tests.kit.wait import wait_until


def test_exec_runs_as_a_command_here_does_and_over_the_link(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """Its input, outputs and status, the user's folder, no signal that it ignores; and pings take their time."""
    folder = tmp_path / "with a space"
    folder.mkdir()
    script = "cat; echo; pwd; cat /proc/self/status; ping -c 2 server; echo err >&2; exit 5"
    done = lanelab.run("bed", "exec", "client", "--rtt", "120ms", "--", "sh", "-c", script, stdin="in", cwd=folder)
    assert done.returncode == 5
    assert "err" in done.stderr
    assert done.stdout.splitlines()[:2] == ["in", str(folder)]
    ignored = int(re.findall(r"SigIgn:\s*(\w+)", done.stdout)[0], 16)
    assert not ignored & (1 << signal.SIGTTOU - 1)
    times = [float(time_ms) for time_ms in re.findall(r"time=([\d.]+)", done.stdout)]
    assert len(times) == 2
    assert min(times) > 119


def test_exec_counts_a_signal_as_a_shell_does(lanelab: LanelabCommand) -> None:
    assert lanelab.run("bed", "exec", "server", "--", "sh", "-c", "kill -9 $$").returncode == 137


def test_a_folder_below_run_makes_beds_but_no_commands(lanelab: LanelabCommand) -> None:
    place = "/run" if os.geteuid() == 0 else f"/run/user/{os.geteuid()}"
    if not os.access(place, os.W_OK):
        pytest.skip(f"this user cannot write in {place}")
    folder = Path(tempfile.mkdtemp(dir=place))
    try:
        assert lanelab.run("bed", "run", "--", "sh", "-c", "cd / && node client pwd", cwd=folder).stdout == "/\n"
        done = lanelab.run("bed", "exec", "client", "--", "true", cwd=folder)
        assert done.returncode == 1
        assert f"the folder {folder} does not exist inside the bed (its /run is its own)" in done.stderr
    finally:
        folder.rmdir()


def test_a_folder_that_was_deleted(lanelab: LanelabCommand, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    command = shlex.join(lanelab.argv("bed", "exec", "client", "--", "true"))
    done = subprocess.run(
        ["sh", "-c", f"cd {tmp_path}/gone; rmdir {tmp_path}/gone; {command}"],
        env=lanelab.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "the folder that you are in no longer exists" in done.stderr


def test_link_test_tells_a_program_what_it_found(lanelab: LanelabCommand) -> None:
    done = lanelab.run("link", "test", "--rtt", "50ms", "--rate", "10mbit", "--json")
    report = json.loads(done.stdout)
    assert report["link"]["rtt"] == "50ms"
    assert {result["name"] for result in report["results"]} >= {"rtt", "rate down", "rate up", "queue down", "queue up"}
    assert done.returncode == (0 if report["passed"] else 1)


def test_link_test_prints_a_table(lanelab: LanelabCommand) -> None:
    done = lanelab.run("link", "test", "--rtt", "50ms")
    assert re.search(r"rtt\s+ms\s+50\.00\s+\d\d\.\d+", done.stdout), done.stdout
    assert "\x1b[" not in done.stdout


def test_link_show_gives_every_line(lanelab: LanelabCommand) -> None:
    shown = json.loads(lanelab.run("link", "show", "3g", "--json").stdout)
    assert any("netem" in entry["line"] for entry in shown["lines"])
    assert all(entry["meaning"] for entry in shown["lines"])
    plain = lanelab.run("link", "show", "3g")
    assert all(entry["line"] in plain.stdout for entry in shown["lines"])
    assert "300ms" in plain.stderr  # a profile always shows its values


def test_doctor_says_what_this_machine_can_do(lanelab: LanelabCommand) -> None:
    done = lanelab.run("doctor", "--json")
    report = json.loads(done.stdout)
    assert report["able"] is True
    assert done.returncode == 0
    assert any(finding["what"] == "bed" and "came up" in finding["found"] for finding in report["findings"])
    assert all(finding["remedy"] for finding in report["findings"] if finding["state"] == "gap")


def test_run_gives_a_script_its_nodes(lanelab: LanelabCommand, tmp_path: Path) -> None:
    script = tmp_path / "measure.sh"
    script.write_text(
        """#!/bin/sh
node client ping -c 1 server > /dev/null && echo reached
node server sh -c 'exit 4'; echo "status $?"
echo word | node router cat
echo "$GREETING" | node client cat
GREETING=changed node client printenv GREETING
node client printenv LANELAB_NODE
node client sh -c 'command -v node' | grep -c helpers
"""
    )
    script.chmod(0o755)
    done = lanelab.run("bed", "run", "--", str(script), env={"GREETING": "hello"})
    assert done.stdout.splitlines() == ["reached", "status 4", "word", "hello", "changed", "client", "0"]


def test_a_script_can_run_servers_on_one_node_and_use_them_from_another(lanelab: LanelabCommand) -> None:
    script = (
        "node server python3 -m http.server 8080 >/dev/null 2>&1 & "
        "ask='import urllib.request as u;print(u.urlopen(\"http://server:8080/\").status)'; "
        'until node client python3 -c "$ask" 2>/dev/null; do sleep 0.1; done; kill %1'
    )
    assert lanelab.run("bed", "run", "--rtt", "20ms", "--", "bash", "-c", script).stdout.strip() == "200"


def test_a_node_takes_no_input_after_its_command(lanelab: LanelabCommand, tmp_path: Path) -> None:
    ended = shlex.quote(str(tmp_path / "ended"))
    feed = f"(until [ -e {ended} ]; do sleep 0.1; done; echo late; sleep 1; echo later)"
    script = f'for name in client router; do node $name true; done; touch {ended}; sleep 1; read word; echo "<$word>"'
    command = shlex.join(lanelab.argv("bed", "run", "--", "sh", "-c", script))
    done = subprocess.run(
        ["sh", "-c", f"{feed} | {command}"], env=lanelab.environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "<late>\n", done.stderr


def test_the_helper_passes_signals_on_and_leaves_ignored_ones(lanelab: LanelabCommand, tmp_path: Path) -> None:
    script = """
node client sh -c 'trap "echo caught; exit 5" TERM; touch ready1; while true; do sleep 0.1; done' & one=$!
(trap '' HUP; exec node router sh -c 'touch ready2; while [ ! -e signalled ]; do sleep 0.1; done') & two=$!
until [ -e ready1 ] && [ -e ready2 ]; do sleep 0.1; done
kill -TERM $one; kill -HUP $two; wait $one; echo $?; touch signalled; wait $two; echo $?
"""
    done = lanelab.run("bed", "run", "--", "sh", "-c", script, cwd=tmp_path)
    assert done.stdout.split() == ["caught", "5", "0"], done.stderr
    assert "Traceback" not in done.stderr


def test_what_a_script_leaves_running_ends_with_it(lanelab: LanelabCommand) -> None:
    marker = f"313{os.getpid()}"
    lanelab.run("bed", "run", "--", "sh", "-c", f"sleep {marker} & node client sleep {marker} & sleep 0.5")
    assert not [command for command in command_lines() if marker in command]


def end_of(pid: int, terminal: int, seconds: float = 120) -> tuple[int, str]:
    """The status of what runs on a terminal, and what it still said; both within a limit."""
    text, deadline = "", time.monotonic() + seconds
    with contextlib.suppress(OSError):  # EIO when the last process has gone
        while (left := deadline - time.monotonic()) > 0:
            if select.select([terminal], [], [], left)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
    os.close(terminal)
    statuses: list[int] = []

    def has_ended() -> bool:
        ended, raw = os.waitpid(pid, os.WNOHANG)
        if ended:
            statuses.append(os.waitstatus_to_exitcode(raw))
        return bool(statuses)

    try:
        wait_until(has_ended, max(0, deadline - time.monotonic()), lambda: f"its end; it said {text!r}")
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    return statuses[0], text


def read_until(fd: int, pattern: str, seconds: float = 120) -> str:
    text, deadline = "", time.monotonic() + seconds
    while not re.search(pattern, text):
        left = deadline - time.monotonic()
        assert left > 0, f"no {pattern!r} in {text!r}"
        if select.select([fd], [], [], left)[0]:
            try:
                text += os.read(fd, 65536).decode(errors="replace")
            except OSError:
                break
    return text


@pytest.mark.parametrize("node", ["client", "router", "server"])
def test_a_shell_is_on_a_terminal_of_its_own(lanelab: LanelabCommand, node: str) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(lanelab.environment, SHELL="/bin/sh", PS1="$ ", ENV="")
        words = lanelab.argv("bed", "shell", node)
        os.execv(words[0], words)
    read_until(terminal, r"\$ |# ")
    # The terminal echoes what is typed, so the word is typed in two pieces: only the program says it in one.
    os.write(terminal, b"hostname; tty; sh -c 'echo be''gun; exec sleep 100'\n")
    read_until(terminal, rf"{node}\r\n(.*\r\n)*begun\r\n")
    os.write(terminal, b"\x03")  # Ctrl-C ends sleep, not the shell
    os.write(terminal, b"echo still $((40 + 2))\n")
    read_until(terminal, r"still 42")
    os.write(terminal, b"exit 3\n")
    assert end_of(pid, terminal)[0] == 3


@pytest.mark.parametrize("node", ["client", "router"])
def test_on_a_terminal_a_redirected_stderr_stays_apart(lanelab: LanelabCommand, node: str, tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(os.open(tmp_path / "err", os.O_WRONLY | os.O_CREAT), 2)
        os.environ.update(lanelab.environment)
        words = lanelab.argv(
            "bed", "exec", node, "--", "sh", "-c", "echo wrong >&2; test -t 0 && test -t 1 && echo right"
        )
        os.execv(words[0], words)
    status, said = end_of(pid, terminal)
    assert (status, said) == (0, "right\r\n")
    assert "wrong\n" in (tmp_path / "err").read_text()


def wait_for(command: str, seconds: float = 120) -> None:
    """Until exactly this command runs."""
    wait_until(lambda: command in command_lines(), seconds, lambda: f"'{command}'")


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """These tests may themselves run where SIGINT is ignored, which what they start would inherit."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ignored_signals_stay_ignored(lanelab: LanelabCommand) -> None:
    marker = f"5.{os.getpid():08d}"
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGINT)}
    try:
        process = lanelab.start("bed", "exec", "client", "--", "sleep", marker)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    wait_for(f"sleep {marker}")
    for number in before:
        process.send_signal(number)
    process.communicate(timeout=120)
    assert process.returncode == 0


@pytest.mark.usefixtures("_interruptible")
def test_ctrl_c_goes_to_the_command(lanelab: LanelabCommand) -> None:
    marker = f"314{os.getpid()}"
    script = f"trap 'echo caught; exit 9' INT; sleep {marker} & wait"
    process = lanelab.start("bed", "exec", "client", "--", "sh", "-c", script)
    wait_for(f"sleep {marker}")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=120)
    assert (process.returncode, out) == (9, b"caught\n")


@pytest.mark.usefixtures("_interruptible")
def test_a_second_ctrl_c_ends_the_bed(lanelab: LanelabCommand) -> None:
    marker = f"315{os.getpid()}"
    script = f"trap 'echo caught' INT; sleep {marker} & until wait $!; do :; done"
    process = lanelab.start("bed", "exec", "client", "--", "sh", "-c", script)
    wait_for(f"sleep {marker}")
    process.send_signal(signal.SIGINT)
    assert process.stdout
    assert process.stdout.readline() == b"caught\n"  # two signals at once are one
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in complained


def test_bad_input_is_one_line_and_status_2(
    lanelab: LanelabCommand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(lanelab.build))
    cases = {
        ("--rtt", "100"): r"--rtt: 100 has no unit\. Write 100ms",
        ("--rate", "-5mbit"): r"--rate: .*negative",
        ("--loss", "120%"): r"--loss: .*above 100%",
        ("--queue", "0p", "--rate", "1mbit"): r"--queue: .*zero",
        ("--profile", "3gg"): r"no profile '3gg'.*Did you mean 3g",
        ("--rtt", "50ms", "--delay-down", "60ms"): r"below what",
        ("--rate", "2gbit"): r"above what the router can carry",
        ("--rate", "5mbps"): r"5mbps",
        ("--pin", "rooter=1"): r"rooter",
        ("--pin", "router=9999"): r"no processor 9999",
        ("--rte", "5"): r"No such option.*--rate",
    }
    for words, pattern in cases.items():
        monkeypatch.setattr(sys, "argv", ["lanelab", "bed", "exec", "client", *words, "--", "true"])
        status, said = main(), capsys.readouterr().err
        assert status == 2, (words, said)
        assert re.search(pattern, said), (words, said)
        assert len(said.strip().splitlines()) == 1, said
    assert not (lanelab.build / "beds").exists()  # no bed was made for any of them


def test_a_missing_program_is_named_with_its_remedy(lanelab: LanelabCommand, tmp_path: Path) -> None:
    done = lanelab.run("bed", "exec", "client", "--", "no-such-program")
    assert done.returncode == 1
    assert "no-such-program" in done.stderr
    script = tmp_path / "plain"
    script.write_text("echo")
    done = lanelab.run("bed", "run", "--", str(script))
    assert done.returncode == 2
    assert "chmod +x" in done.stderr
    script.chmod(0o755)
    done = lanelab.run("bed", "run", "--", "plain", cwd=tmp_path)
    assert done.returncode == 2
    assert "Write ./plain" in done.stderr


def test_a_full_disk_is_told_and_leaves_nothing(lanelab: LanelabCommand) -> None:
    """/dev/full says what a full disk says, as soon as it is written; a folder that is none, at once."""
    lanelab.build.mkdir()
    (lanelab.build / "beds").symlink_to("/dev/full")
    done = lanelab.run("bed", "exec", "client", "--", "true")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "cannot write the bed's logs" in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small file system to fill")
def test_a_really_full_disk(lanelab: LanelabCommand, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    unshare, busybox = shutil.which("unshare"), shutil.which("mount")
    assert unshare
    assert busybox
    words = " ".join(lanelab.argv("bed", "exec", "client", "--", "true"))
    script = (
        f"mount -t tmpfs -o size=64k none {small} && mkdir {small}/build && "
        f"head -c 100000 /dev/zero > {small}/fill; LANELAB_BUILD={small}/build {words}"
    )
    done = subprocess.run(
        [unshare, "--mount", "sh", "-c", script], capture_output=True, text=True, env=lanelab.environment, check=False
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


def test_logs_of_old_beds_go(lanelab: LanelabCommand) -> None:
    beds = lanelab.build / "beds"
    for number in range(30):
        folder = beds / f"20200101T0000{number:02d}Z-1"
        folder.mkdir(parents=True)
        (folder / "in-use").touch()
    assert lanelab.run("bed", "exec", "client", "--", "true").returncode == 0
    assert len(list(beds.iterdir())) == 20


def test_completion_is_printed(lanelab: LanelabCommand) -> None:
    assert "_LANELAB_COMPLETE" in lanelab.run("completion", "bash").stdout
