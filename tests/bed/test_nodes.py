"""What a user relies on at a node: commands, files, names, and that beds do not see each other."""

import os
import re
import time
from pathlib import Path

import pytest

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.commands import set_kernel
from lanelab.driver.bed.node import NODE_NAMES, Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.run.channel.client import Bed
from tests.kit.handles import OpenBed
from tests.kit.scripts import run_script

everywhere = pytest.mark.parametrize("node", NODE_NAMES)


@everywhere
def test_status_and_both_outputs_come_back(bed: OpenBed, node: str) -> None:
    done = bed.run(node, "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.status, done.stdout, done.stderr) == (7, "out\n", "err\n")


@everywhere
def test_a_killed_command_says_which_signal(bed: OpenBed, node: str) -> None:
    assert bed.run(node, "sh", "-c", "kill -TERM $$").status == -15


@everywhere
def test_no_shell_reads_the_arguments(bed: OpenBed, node: str) -> None:
    words = ["a b", "$HOME", "`id`", "'\"", "*", "--", "", "ä\n;"]
    done = bed.run(node, "printf", "%s|", *words)
    assert done.stdout == "".join(word + "|" for word in words)


@everywhere
def test_an_environment_is_passed(bed: OpenBed, node: str) -> None:
    assert bed.run(node, "sh", "-c", 'echo "$GREETING"', env={"GREETING": "hello  there"}).stdout == "hello  there\n"


@everywhere
def test_megabytes_pass_both_ways_unchanged(bed: OpenBed, node: str) -> None:
    data = bytes(range(256)) * 8192
    source, feed = os.pipe()
    out, out_end = os.pipe()
    process = bed.bed.exec(node, Command(["cat"]), Stdio(source, out_end, None))
    os.close(source)
    os.close(out_end)
    if os.fork() == 0:
        os.close(out)
        with os.fdopen(feed, "wb") as writer:
            writer.write(data)
        os._exit(0)
    os.close(feed)
    with os.fdopen(out, "rb") as reader:
        assert reader.read() == data
    assert process.wait() == 0
    os.wait()


@everywhere
def test_a_missing_program_is_named(bed: OpenBed, node: str) -> None:
    with pytest.raises(NodeError, match=r"no-such-program"):
        bed.run(node, "no-such-program")


@everywhere
def test_a_command_can_be_signalled(bed: OpenBed, node: str) -> None:
    process = bed.bed.exec(node, Command(["sleep", "100"]), Stdio())
    process.signal(15)
    assert process.wait() == -15


@everywhere
def test_a_slow_reader_does_not_hold_up_others(bed: OpenBed, node: str) -> None:
    out, out_end = os.pipe()
    slow = bed.bed.exec(node, Command(["cat", "/dev/zero"]), Stdio(None, out_end, None))
    os.close(out_end)
    time.sleep(0.3)  # by now every buffer on the way is full
    assert bed.run(node, "echo", "still here").stdout == "still here\n"
    os.close(out)
    assert slow.wait() in (-13, 1)  # SIGPIPE, or cat's own word for it


@everywhere
def test_only_its_three_descriptors_are_open(bed: OpenBed, node: str) -> None:
    # The fourth is the folder that `ls` reads.
    assert bed.run(node, "ls", "/proc/self/fd").stdout.split() == ["0", "1", "2", "3"]


@everywhere
def test_a_command_ends_when_it_ends_whatever_it_leaves_behind(bed: OpenBed, node: str) -> None:
    out, out_end = os.pipe()
    leaving = ["sh", "-c", "(while [ ! -e /run/go-on ]; do sleep 0.1; done; echo after) & echo done"]
    process = bed.bed.exec(node, Command(leaving), Stdio(None, out_end, None))
    os.close(out_end)
    assert process.wait() == 0
    bed.run(node, "touch", "/run/go-on")
    with os.fdopen(out) as reader:
        assert reader.read() == "done\nafter\n"
    bed.run(node, "rm", "/run/go-on")


@everywhere
def test_a_relative_program_begins_at_the_commands_folder(bed: OpenBed, node: str, tmp_path: Path) -> None:
    program = tmp_path / "sub" / "program"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 6\n")
    program.chmod(0o755)
    assert bed.bed.exec(node, Command(["./program"], cwd=str(program.parent)), Stdio()).wait() == 6
    assert bed.bed.exec(node, Command(["sub/program"], cwd=str(tmp_path)), Stdio()).wait() == 6


@everywhere
def test_a_folder_that_the_bed_does_not_have_is_named(bed: OpenBed, node: str) -> None:
    with pytest.raises(NodeError, match="the folder /run/nowhere does not exist inside the bed"):
        bed.bed.exec(node, Command(["true"], cwd="/run/nowhere"), Stdio())


@everywhere
def test_every_node_knows_every_node(bed: OpenBed, node: str) -> None:
    for name in NODE_NAMES:
        done = bed.run(node, "ping", "-c", "1", "-W", "2", name)
        assert done.status == 0, done.stdout + done.stderr


def test_what_goes_from_client_to_server_passes_the_router(bed: OpenBed) -> None:
    bed.run("router", *set_kernel("net/ipv4/ip_forward", "0"))
    try:
        assert bed.run("client", "ping", "-c", "1", "-W", "1", "server").status != 0
    finally:
        bed.run("router", *set_kernel("net/ipv4/ip_forward", "1"))
    assert bed.run("client", "ping", "-c", "1", "-W", "1", "server").status == 0


def test_the_management_path_never_meets_the_link(bed: OpenBed) -> None:
    bed.set(loss="99.9%")
    try:
        process = bed.bed.script(["ping", "-c", "5", bed.bed.info.addresses["server"]], Stdio(None, None, None))
        assert process.wait() == 0
    finally:
        bed.set()


SET_LINK = """"$LANELAB_PYTHON" -I -c "
import json, os, socket
line = socket.socket(socket.AF_UNIX)
line.connect(os.environ['LANELAB_NODE_SOCKET'])
both = line.makefile('rw')
both.readline()
both.write(json.dumps({'id': 1, 'op': 'do', 'name': 'set_link', 'with': {'link': {'rtt': '99ms'}}}) + chr(10))
both.flush()
print(both.readline())"
"""


def test_a_script_cannot_change_the_link(bed: OpenBed) -> None:
    assert "has no operation 'do'" in run_script(bed, SET_LINK)


@everywhere
def test_the_beds_own_files_are_out_of_a_nodes_reach(bed: OpenBed, node: str) -> None:
    """Whoever reached its socket could run commands on the other nodes."""
    assert "sock" not in bed.run(node, "ls", "/run/lanelab").stdout


def test_nothing_leaves_the_bed(bed: OpenBed) -> None:
    for node in NODE_NAMES:
        routes = bed.run(node, "ip", "route").stdout
        assert "default" not in routes
        assert re.findall(r"^(10\.\d+)\.", routes, re.MULTILINE), routes


def test_the_first_packet_waits_for_no_neighbour(bed: OpenBed) -> None:
    """An ARP answer that crosses the link would double the first round trip."""
    bed.set(rtt="200ms")
    try:
        done = bed.run("client", "ping", "-c", "1", "server")
        assert 195 < float(re.findall(r"time=([\d.]+)", done.stdout)[0]) < 390  # two round trips are 400
        assert "PERMANENT" in bed.run("client", "ip", "neigh").stdout
    finally:
        bed.set()


SEND_AND_FETCH = """
set -e
head -c 3000000 /dev/urandom > "$1/original"
for node in client router server; do
    node $node sh -c 'cat > /run/copy' < "$1/original"
    node $node cat /run/copy > "$1/$node"
    cmp "$1/original" "$1/$node"
done
"""


def test_a_script_beside_the_bed_carries_files_to_every_node_and_back(bed: OpenBed, tmp_path: Path) -> None:
    with (tmp_path / "said").open("wb") as said:
        stdio = Stdio(None, said.fileno(), said.fileno())
        status = bed.bed.script(["sh", "-c", SEND_AND_FETCH, "sh", str(tmp_path)], stdio).wait()
    assert status == 0, (tmp_path / "said").read_text()


def test_beds_do_not_see_each_other(bed: OpenBed, tmp_path: Path) -> None:
    bed.set(rtt="300ms")
    try:
        with Bed(BedSettings(folder=tmp_path)) as other:
            second = OpenBed(other)
            listener = second.bed.exec("server", Command(["sleep", "30"]), Stdio())
            times = re.findall(r"time=([\d.]+)", second.run("client", "ping", "-c", "3", "server").stdout)
            assert all(float(time_ms) < 100 for time_ms in times), "the other bed's link is in the way"
            commands = bed.run("server", "sh", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '").stdout
            assert "nsenter" in commands or "python" in commands
            assert "sleep 30" not in commands
            listener.signal(15)
    finally:
        bed.set()


def test_a_pinned_node_stays_on_its_processor(tmp_path: Path) -> None:
    cpu = str(max(os.sched_getaffinity(0)))
    with Bed(BedSettings(folder=tmp_path, cpus={"server": cpu, "router": cpu})) as made:
        status = OpenBed(made).run("server", "cat", "/proc/self/status").stdout
        assert re.findall(r"Cpus_allowed_list:\s*(\S+)", status) == [cpu]
        assert OpenBed(made).run("client", "ping", "-c", "1", "server").status == 0


def test_the_routers_console_is_kept(bed: OpenBed) -> None:
    if bed.bed.info.router == "uml":
        assert "Linux version" in (bed.bed.folder / "router-console.log").read_text(errors="replace")
    assert bed.bed.info.kernel == bed.run("router", "uname", "-r").stdout.strip()
