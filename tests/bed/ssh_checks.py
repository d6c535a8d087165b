"""What a bed's nodes have to do, over ssh. Run by test_ssh.py inside a bed whose machines are those of ssh_lab.py."""

import hashlib
import os
import time
from pathlib import Path

import pytest

from lanelab.driver.base.errors import NodeError
from lanelab.driver.bed.commands import set_kernel
from lanelab.driver.bed.node import NODE_NAMES, Command, Node, Stdio
from lanelab.driver.bed.remote import sampler
from lanelab.driver.bed.ssh.router import settle_cable
from lanelab.driver.link import Link
from lanelab.driver.link.hosts.host import USUAL_KERNEL
from lanelab.driver.record.evidence.machine import MachineEvidence
from lanelab.driver.record.evidence.server_series import ServerSeriesEvidence
from lanelab.driver.trial.page_load.router_watch import RouterWatch
from lanelab.driver.trial.recorders.machine import Machine, MachineOptions
from lanelab.driver.trial.recorders.recorder import Context, Role
from lanelab.driver.trial.recorders.server_series import ServerSeries, ServerSeriesOptions
from lanelab.driver.trial.recorders.tcpdump import Capture
from tests.kit.inside import InsideBed, main
from tests.kit.wait import wait_until

WORDS = ("a b", "$HOME", "`id`", "'\"", "*", "--", "", "ä\n;", "\\", "!x", "line\nline", "%s")


def each_machine_is_watched(bed: InsideBed) -> None:
    recorder = Machine(MachineOptions())
    nodes = {name: bed.substrate.node(name) for name in NODE_NAMES}
    try:
        recorder.start(Context(nodes, bed.substrate.machines(), bed.memory, bed.memory))
        recorder.load_begins()
        bed.client.run(["sh", "-c", "for i in 1 2 3; do ip link > /dev/null; done"])
        recorder.load_ended()
        evidence = recorder.stop().evidence
    finally:
        recorder.close()
    assert isinstance(evidence, MachineEvidence)
    assert [use.nodes for use in evidence.machines] == [("client",), ("router",), ("server",)]
    for use in evidence.machines:
        assert use.seconds > 0
        assert "harness" in use.cpu_s, "the agent there is ours"
    assert "router" in evidence.machines[1].cpu_s or bed.substrate.router.kind != "uml"


def the_server_is_looked_at(bed: InsideBed) -> None:
    recorder, folder = ServerSeries(ServerSeriesOptions()), f"{bed.memory}/looked-at"
    bed.server.run(["mkdir", "-p", folder])
    serving = bed.server.spawn(Command(["sleep", "60"], cwd=folder))
    nodes = {name: bed.substrate.node(name) for name in NODE_NAMES}
    roles = {"server": Role(folder, (80,))}
    try:
        recorder.start(Context(nodes, bed.substrate.machines(), bed.memory, bed.memory, roles=roles))
        recorder.load_begins()
        time.sleep(1.5)  # a load: one look of the recorder at least is in it
        recorder.load_ended()
        found = recorder.stop()
    finally:
        recorder.close()
        serving.signal(9)
    assert not found.failures, found.failures
    assert [value for _, value in found.series["server_processes"].points][:1] == [1]
    assert found.series["server_memory_bytes"].points[0][1] > 0
    assert "connections" in found.series
    assert isinstance(found.evidence, ServerSeriesEvidence)
    assert found.evidence.absent == {}


def programs_of_ours_are_brought(bed: InsideBed) -> None:
    """Machines that share their files with this one would find them without, and others would not."""
    for name in NODE_NAMES:
        node = bed.substrate.node(name)
        path = node.program_of_ours(Path(sampler.__file__))
        assert path.startswith("/run/"), name
        assert node.read(path) == Path(sampler.__file__).read_bytes()


def arguments_are_nobody_elses(bed: InsideBed) -> None:
    for name in NODE_NAMES:
        node = bed.substrate.node(name)
        done = node.run(["printf", "%s|", *WORDS])
        assert done.stdout == "".join(word + "|" for word in WORDS), name


def an_environment_is_passed(bed: InsideBed) -> None:
    out, sink = os.pipe()
    process = bed.client.spawn(
        Command(["sh", "-c", 'printf %s "$GREETING"'], {"GREETING": "it's\n$HOME"}), Stdio(None, sink)
    )
    os.close(sink)
    assert process.wait(60) == 0
    with os.fdopen(out) as said:
        assert said.read() == "it's\n$HOME"


def files_come_back_whole(bed: InsideBed) -> None:
    data = os.urandom(5_000_001)
    source, back = bed.memory / "there", bed.memory / "back"
    source.write_bytes(data)
    for node in (bed.client, bed.server):
        node.put(source, "/run/a file'$x", 0o640)
        said = node.run(["sha256sum", "--", "/run/a file'$x"]).stdout
        assert said.lstrip("\\").startswith(hashlib.sha256(data).hexdigest())
        node.get("/run/a file'$x", back)
        assert back.read_bytes() == data
        assert node.read("/run/a file'$x") == data


def what_is_not_there_is_told(bed: InsideBed) -> None:
    for attempt in (
        lambda: bed.client.run(["no-such-program"]),
        lambda: bed.client.get("/run/nothing", bed.memory / "nothing"),
    ):
        with pytest.raises(NodeError, match="client"):
            attempt()


def nodes_know_each_other_by_name(bed: InsideBed) -> None:
    for name in NODE_NAMES:
        for other in NODE_NAMES:
            done = bed.substrate.node(name).run(["ping", "-c", "1", "-W", "3", other], check=False)
            assert done.status == 0, f"{name} to {other}: {done.stdout}{done.stderr}"


def all_crosses_the_router(bed: InsideBed) -> None:
    bed.substrate.node("router").run(set_kernel("net/ipv4/ip_forward", "0"))
    try:
        assert bed.client.run(["ping", "-c", "1", "-W", "1", "server"], check=False).status != 0
    finally:
        bed.substrate.router.forward(on=True)


def ports_are_reached_beside_the_link(bed: InsideBed) -> None:
    bed.substrate.router.forward(on=False)
    echo = "import socket; s = socket.create_server(('127.0.0.1', 7100)); l, _ = s.accept(); l.sendall(l.recv(9)[::-1])"
    process = bed.server.spawn(Command([*bed.server.python, "-c", echo]))
    answers: list[bytes] = []  # none before it listens

    def has_answered() -> bytes:
        answers.append(bed.server.exchange("127.0.0.1", 7100, b"abc"))
        return answers[-1]

    wait_until(has_answered)
    assert answers[-1] == b"cba"
    assert process.wait(60) == 0
    assert bed.server.exchange("127.0.0.1", 7100, b"abc") == b""
    bed.substrate.router.forward(on=True)


def a_file_of_the_systems_is_covered_here_alone(bed: InsideBed) -> None:
    bed.client.cover("/etc/nsswitch.conf", "hosts: files\n")
    assert bed.client.read("/etc/nsswitch.conf") == b"hosts: files\n"
    assert bed.server.read("/etc/nsswitch.conf") == Path("/etc/nsswitch.conf").read_bytes()


def nobody_in_it_is_root(bed: InsideBed) -> None:
    """As in every bed: programs treat root in special ways."""
    for node in (bed.client, bed.server):
        assert node.run(["id", "-u"]).stdout.strip() != "0"


def its_link_is_shaped_and_measured(bed: InsideBed) -> None:
    bed.link.set(Link.parse({"rtt": "60ms", "rate": "2mbit", "queue": "64kB"}))
    found = {result.name: result for result in bed.link.test().results}
    assert 0 < (found["rtt without link"].achieved or 0) < 20, found["rtt without link"]
    assert abs((found["rtt"].achieved or 0) - 60) < 8, (found["rtt"], found["rtt without link"])
    assert found["delay down"].verdict == "not measured"  # whose clock would tell?
    assert found["mtu"].achieved == 1500
    for way in ("down", "up"):
        assert abs((found[f"rate {way}"].achieved or 0) - 2) < 0.2
        assert abs((found[f"queue {way}"].achieved or 0) / (found[f"queue {way}"].target or 0) - 1) < 0.3


def its_router_is_watched(bed: InsideBed) -> None:
    watch = RouterWatch(bed.substrate.router)
    watch.prepare()
    try:
        watch.begin(moves=False)
        assert watch.queues_changed() == ()
        bed.link.set(Link.parse({"rtt": "30ms"}))
        assert watch.queues_changed()
    finally:
        watch.drop()


def its_link_moves(bed: InsideBed) -> None:
    bed.link.set(Link.parse({"rtt": "20ms", "rate": "10mbit", "outage": "100ms every 1s"}))
    player = bed.link.mover()
    assert player
    player.begin()
    time.sleep(2.2)  # two outages, one a second
    played = player.end()
    assert played
    assert len(played.steps) >= 4, played
    bed.link.set(Link.parse({}))


def tcp_of_the_hosts_is_set_and_taken_back(bed: InsideBed) -> None:
    def found(node: Node) -> tuple[list[str], bool]:
        files = [f"/proc/sys/{name.replace('.', '/')}" for name in USUAL_KERNEL]
        routes = node.run(["ip", "route", "show", "dev", "eth0"]).stdout
        return node.run(["cat", *files]).stdout.split(), "quickack 1" in routes

    usual = list(USUAL_KERNEL.values())[2:]
    bed.link.set(Link.parse({"timestamps": "false", "tail_loss_probe_server": "false", "delayed_ack_client": "false"}))
    assert found(bed.client) == (["0", "3", *usual], True)
    assert found(bed.server) == (["0", "0", *usual], False)
    bed.link.set(Link.parse({"rtt": "20ms"}))
    assert found(bed.client) == found(bed.server) == (list(USUAL_KERNEL.values()), False)


def packets_are_as_on_the_wire(bed: InsideBed) -> None:
    """Captures on both ends show none longer than a frame; one where packets are longer would show it."""
    bed.link.set(Link.parse({}))
    for node in (bed.server, bed.client):
        all_of_them, too_long = captured(bed, node)
        assert all_of_them > 100, node.name
        assert too_long == 0, node.name
    bed.server.run(["ip", "link", "set", "dev", "eth0", "gso_max_segs", "40"])
    bed.server.run(["ethtool", "-K", "eth0", "tso", "on", "gso", "on"])
    try:
        assert captured(bed, bed.server)[1] > 0
    finally:
        settle_cable(bed.server, "eth0")


def captured(bed: InsideBed, node: Node) -> tuple[int, int]:
    """How many packets a bulk transfer takes as a capture there shows it, and how many of them are longer than a
    frame."""
    capture = Capture(node, "/run/long.pcap", 100).start()
    bed.link.transfer("down", 0.5)
    capture.stop()
    words = ("tcpdump", "-nr", "/run/long.pcap")
    counts = [len(node.run([*words, *which]).stdout.splitlines()) for which in ((), ("greater", "1515"))]
    return counts[0], counts[1]


if __name__ == "__main__":
    main(
        arguments_are_nobody_elses,
        programs_of_ours_are_brought,
        each_machine_is_watched,
        the_server_is_looked_at,
        an_environment_is_passed,
        files_come_back_whole,
        what_is_not_there_is_told,
        nodes_know_each_other_by_name,
        all_crosses_the_router,
        ports_are_reached_beside_the_link,
        a_file_of_the_systems_is_covered_here_alone,
        nobody_in_it_is_root,
        its_link_is_shaped_and_measured,
        its_router_is_watched,
        its_link_moves,
        tcp_of_the_hosts_is_set_and_taken_back,
        packets_are_as_on_the_wire,
    )
