"""The agent and the node that speaks with it, over a real connection to a real process."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import CommandFailed, NodeError
from lanelab.driver.base.paths import SOURCES
from lanelab.driver.base.writing import write_all
from lanelab.driver.bed.agent_connection import AgentConnection
from lanelab.driver.bed.agent_node import AgentNode
from lanelab.driver.bed.local import copy_whole
from lanelab.driver.bed.node import Command, Stdio, Terminal
from lanelab.driver.bed.remote.agent_protocol import CHUNK, WINDOW, Lines, encode
from tests.kit.processes import command_lines
from tests.kit.wait import wait_until

START = (
    "import sys; sys.path.insert(0, sys.argv[1]); from lanelab.driver.bed.remote.agent import Agent;"
    "fd = int(sys.argv[2]); Agent(fd, fd).serve()"
)


@pytest.fixture
def agent() -> Iterator[tuple[AgentNode, subprocess.Popen[bytes]]]:
    ours, theirs = socket.socketpair()
    argv = [sys.executable, "-I", "-S", "-c", START, str(SOURCES), str(theirs.fileno())]
    process = subprocess.Popen(argv, pass_fds=[theirs.fileno()])
    theirs.close()
    link = AgentConnection("node", ours)
    link.await_hello(10)
    yield AgentNode("node", link), process
    link.close()
    process.wait(60)


Agent = tuple[AgentNode, subprocess.Popen[bytes]]


def test_a_commands_words_and_status(agent: Agent) -> None:
    done = agent[0].run(["sh", "-c", "cat; echo err >&2; exit 3"], stdin=b"in", check=False)
    assert (done.status, done.stdout, done.stderr) == (3, "in", "err\n")


def test_a_failure_names_node_command_and_words(agent: Agent) -> None:
    with pytest.raises(CommandFailed, match=r"on node, 'sh -c .*' ended with status 3: some words"):
        agent[0].run(["sh", "-c", "echo some words >&2; exit 3"])


def test_a_command_that_takes_too_long_is_ended(agent: Agent) -> None:
    with pytest.raises(NodeError, match=r"'sleep 100' did not end within 0.2 s"):
        agent[0].run(["sleep", "100"], timeout_s=0.2)


def test_more_than_a_window_passes_both_ways(agent: Agent) -> None:
    data = os.urandom(WINDOW * 5 + 1)
    assert agent[0].run(["sha256sum"], stdin=data).stdout[:8]
    assert len(agent[0].run(["base64", "-w0"], stdin=data).stdout) == -(-len(data) // 3) * 4


def test_input_that_nobody_reads_is_no_harm(agent: Agent) -> None:
    assert agent[0].run(["true"], stdin=bytes(WINDOW * 3)).status == 0
    assert agent[0].run(["echo", "on"]).stdout == "on\n"


def test_files_arrive_whole_with_their_mode(agent: Agent, tmp_path: Path) -> None:
    source, there, back = tmp_path / "source", tmp_path / "there", tmp_path / "back"
    source.write_bytes(os.urandom(300_000))
    agent[0].put(source, str(there), 0o640)
    assert there.read_bytes() == source.read_bytes()
    assert there.stat().st_mode & 0o777 == 0o640
    agent[0].get(str(there), back)
    assert back.read_bytes() == source.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "source", "there"]


def test_an_empty_file_is_a_file(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "source").touch()
    agent[0].put(tmp_path / "source", str(tmp_path / "there"))
    assert (tmp_path / "there").read_bytes() == b""


def test_what_cannot_be_copied_is_told_and_leaves_no_part(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("x")
    with pytest.raises(NodeError, match="No such file"):
        agent[0].put(tmp_path / "source", str(tmp_path / "nowhere" / "x"))
    with pytest.raises(NodeError, match="cannot read"):
        agent[0].get(str(tmp_path / "nothing"), tmp_path / "copy")
    with pytest.raises(NodeError, match="cannot read"):
        agent[0].put(tmp_path / "nothing", str(tmp_path / "x"))
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_a_full_disk_on_the_node_is_told(agent: Agent, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(bytes(100_000))
    (tmp_path / "there.part").symlink_to("/dev/full")
    with pytest.raises(NodeError, match="No space left"):
        agent[0].put(tmp_path / "source", str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()


def test_a_file_that_a_full_disk_cuts_is_not_accepted(agent: Agent, tmp_path: Path) -> None:
    """Less than a pipe holds: whoever reads it over there ends well, and hears of nothing."""
    source, copy = tmp_path / "source", tmp_path / "copy"
    source.write_bytes(bytes(40_000))
    (tmp_path / "copy.part").symlink_to("/dev/full")
    with pytest.raises(NodeError, match=r"cannot write .*copy: No space left"):
        agent[0].get(str(source), copy)
    assert not copy.exists()
    assert agent[0].read(str(source)) == bytes(40_000)


def test_a_file_that_cannot_be_read_to_its_end_is_not_put_there(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, there = tmp_path / "source", tmp_path / "there"
    source.write_bytes(bytes(60_000))
    read = os.read
    pieces: list[int] = []

    def failing(fd: int, size: int) -> bytes:
        if size != CHUNK:
            return read(fd, size)
        if pieces:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        pieces.append(size)
        return read(fd, size)

    monkeypatch.setattr(os, "read", failing)
    with pytest.raises(NodeError, match=r"cannot read .*source: Input/output error"):
        agent[0].put(source, str(there))
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
    agent[0].put(source, str(there))


def test_what_does_not_end_where_the_line_is_silent_is_told_too(agent: Agent) -> None:
    node, process = agent
    threading.Timer(0.1, process.send_signal, [signal.SIGSTOP]).start()
    try:
        with pytest.raises(NodeError, match=r"'sleep 100' did not end within 0.3 s"):
            node.run(["sleep", "100"], timeout_s=0.3)
    finally:
        process.send_signal(signal.SIGCONT)


def test_whatever_comes_shows_that_the_other_side_is_there() -> None:
    """A beat may have to wait behind the data of a slow line."""
    ours, theirs = socket.socketpair()
    code = (
        "import sys, os; sys.path.insert(0, sys.argv[1]); from lanelab.driver.bed.remote.agent import Agent;"
        "fd = int(sys.argv[2]); Agent(fd, fd, lambda: os.write(1, b'.')).serve()"
    )
    argv = [sys.executable, "-I", "-S", "-c", code, str(SOURCES), str(theirs.fileno())]
    with subprocess.Popen(argv, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE) as process, ours:
        theirs.close()
        ours.sendall(b'{"op": "in", "id": 9, "da')
        assert process.stdout
        assert process.stdout.read(1) == b"."
        ours.shutdown(socket.SHUT_RDWR)


def test_a_terminal_has_a_size_and_can_change_it(agent: Agent) -> None:
    out, out_end = os.pipe()
    command = Command(["sh", "-c", "stty size; read line; stty size"])
    source, feed = os.pipe()
    process = agent[0].spawn(command, Stdio(source, out_end, None), Terminal(30, 90))
    os.close(out_end)
    with os.fdopen(out) as reader:
        assert reader.readline().split() == ["30", "90"]
        process.resize(Terminal(40, 120))
        os.write(feed, b"\n")
        assert "40 120" in reader.read()
    assert process.wait(60) == 0


def test_a_signal_reaches_what_the_command_started(agent: Agent) -> None:
    seconds = f"6543.{os.getpid()}"  # no other test run's
    process = agent[0].spawn(Command(["sh", "-c", f"sleep {seconds} & sleep {seconds}; wait"]), Stdio())
    wait_until(lambda: command_lines().count(f"sleep {seconds}") == 2)
    process.signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM


def test_when_the_line_closes_its_commands_end_with_the_agent(agent: Agent) -> None:
    node, process = agent
    seconds = f"7654.{os.getpid()}"  # no other test run's
    node.spawn(Command(["sleep", seconds]), Stdio())
    node.close()
    assert process.wait(60) == 0
    assert f"sleep {seconds}" not in command_lines()


def test_when_the_agent_dies_whoever_waits_is_told(agent: Agent) -> None:
    node, process = agent
    sleeping = node.spawn(Command(["sleep", "600"]), Stdio())
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(NodeError, match=r"went away during 'sleep 600'"):
        sleeping.wait(60)
    with pytest.raises(NodeError, match="went away"):
        node.run(["true"])


def test_a_command_that_has_ended_takes_no_more_input_and_leaves_nothing(agent: Agent) -> None:
    def held() -> tuple[int, int]:
        return threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))

    source, feed = os.pipe()
    before = held()
    for _ in range(5):
        assert agent[0].spawn(Command(["true"]), Stdio(stdin=source)).wait(60) == 0
        with pytest.raises(NodeError):
            agent[0].spawn(Command(["no-such-program"]), Stdio(stdin=source))
    wait_until(lambda: held() == before, what=lambda: (held(), before))
    os.write(feed, b"late")
    assert os.read(source, 10) == b"late"
    os.close(source)
    os.close(feed)


def test_what_a_command_leaves_behind_is_carried_on_but_not_waited_for(agent: Agent, tmp_path: Path) -> None:
    out, out_end = os.pipe()
    os.mkfifo(tmp_path / "go")
    script = f"head -c 400000 /dev/zero; (cat {tmp_path}/go; echo after) & exit 3"
    process = agent[0].spawn(Command(["sh", "-c", script]), Stdio(stdout=out_end))
    os.close(out_end)
    with os.fdopen(out, "rb") as reader:
        assert len(reader.read(400_000)) == 400_000  # all that came before the end
        assert process.wait(60) == 3
        (tmp_path / "go").write_text("")  # only now may what it left end
        assert reader.read() == b"after\n"


def test_a_reader_that_goes_away_is_learnt_as_from_a_pipe(agent: Agent) -> None:
    out, out_end = os.pipe()
    process = agent[0].spawn(Command(["sh", "-c", "trap '' TERM; yes; exit 4"]), Stdio(stdout=out_end))
    os.close(out_end)
    os.read(out, 10)
    os.close(out)
    assert process.wait(60) == 4
    assert agent[0].run(["echo", "on"]).stdout == "on\n"


def test_on_a_terminal_a_redirected_stderr_stays_apart(agent: Agent, tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        command = Command(["sh", "-c", "tty >&2; test -t 1 && echo out"])
        assert agent[0].spawn(command, Stdio(None, out.fileno(), err.fileno()), Terminal()).wait(60) == 0
    assert (tmp_path / "out").read_bytes() == b"out\r\n"
    assert (tmp_path / "err").read_text().startswith("/dev/pts/")


def test_a_folder_that_is_not_there_is_named(agent: Agent) -> None:
    with pytest.raises(NodeError, match=r"the folder /run/nowhere does not exist inside the bed \(its /run is its own"):
        agent[0].spawn(Command(["true"], cwd="/run/nowhere"))
    with pytest.raises(NodeError, match=r"the folder /nowhere does not exist inside the bed$"):
        agent[0].spawn(Command(["true"], cwd="/nowhere"))


def test_a_terminal_that_cannot_be_made_does_not_end_the_agent(agent: Agent) -> None:
    with pytest.raises(NodeError):
        agent[0].spawn(Command(["no-such-program"]), Stdio(), Terminal())
    with pytest.raises(NodeError):
        agent[0].spawn(Command(["true"]), Stdio(), Terminal(-1, -1))
    assert agent[0].run(["echo", "on"]).stdout == "on\n"


def test_a_full_pipe_that_does_not_block_is_waited_for() -> None:
    out, out_end = os.pipe()
    os.set_blocking(out_end, False)
    data, read = os.urandom(300_000), bytearray()

    def slowly() -> None:
        while piece := os.read(out, 65536):
            time.sleep(0.01)  # as a reader that is slow
            read.extend(piece)

    reader = threading.Thread(target=slowly)
    reader.start()
    write_all(out_end, data)
    os.close(out_end)
    reader.join(60)
    os.close(out)
    assert read == data


def test_a_copy_has_its_mode_before_its_name(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_text("x")
    copy_whole(source, target, 0o640)
    assert target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(OSError, match="No such file"):
        copy_whole(source, tmp_path / "nowhere" / "x")
    with pytest.raises(IsADirectoryError):
        copy_whole(tmp_path, target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


messages = st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5)


@given(messages, st.lists(st.integers(1, 20)))
def test_lines_do_not_care_how_they_are_cut(sent: list[dict[str, object]], cuts: list[int]) -> None:
    data, lines, received = b"".join(map(encode, sent)), Lines(), []
    for cut in [*cuts, len(data) or 1]:
        received += lines.feed(data[:cut])
        data = data[cut:]
    received += lines.feed(data)
    assert received == sent
