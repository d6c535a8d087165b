"""What befalls the machines of tests/kit/sweep_machines.py does befall them, and leaves nothing behind."""

import json
import shutil
import time
from collections.abc import Iterator

import pytest

from tests.kit import sweep_machines
from tests.kit.sweep_machines import PYTHON, Lab, Machine
from tests.kit.wait import wait_until

pytestmark = pytest.mark.skipif(bool(sweep_machines.why_not()), reason=sweep_machines.why_not())
LIMIT_S = 120.0
SERVE = "import socket,time; s=socket.create_server(('', 5000)); print('up', flush=True); time.sleep(1000)"
REACH = "import socket; socket.create_connection(('{address}', 5000), 1); print('reached')"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as lab:
        lab.machine("desk")
        lab.machine("one", disk_mib=40)
        yield lab


@pytest.fixture
def one(lab: Lab) -> Iterator[Machine]:
    yield lab.machines["one"]
    assert lab.left() == []


def test_a_bed_comes_up_there_and_nothing_of_it_is_left(one: Machine) -> None:
    test = one.lanelab("bed", "exec", "client", "--rtt", "20ms", "--", "echo", "a bed")
    assert test.await_end(LIMIT_S) == 0, test.said()
    assert "a bed" in test.said()


def test_machines_are_machines(lab: Lab, one: Machine) -> None:
    """Name, identity and processes of their own."""
    programs = [machine.run("sh", "-c", "hostname; cat /etc/machine-id") for machine in (lab.machines["desk"], one)]
    assert [program.await_end(LIMIT_S) for program in programs] == [0, 0]
    (desk, desk_id), (here, here_id) = (program.said().split() for program in programs)
    assert (desk, here) == ("desk", "one")
    assert desk_id != here_id


@pytest.mark.parametrize("how", ["down", "silent"])
def test_the_network_is_cut_and_mended(lab: Lab, one: Machine, how: str) -> None:
    server = one.run(PYTHON, "-c", SERVE)
    server.await_word("up", LIMIT_S)

    def reaches() -> bool:
        return lab.machines["desk"].run(PYTHON, "-c", REACH.format(address=one.address)).await_end(LIMIT_S) == 0

    assert reaches()
    one.cut(how)
    assert not reaches()
    one.mend()
    wait_until(reaches, LIMIT_S, server.said)
    server.entered.kill()


def test_a_machine_dies_with_all_its_processes_and_comes_up_again_with_its_disk(one: Machine) -> None:
    program = one.run("sh", "-c", "echo kept >$TMPDIR/file; setsid sleep 1000 & echo up; sleep 1000")
    program.await_word("up", LIMIT_S)
    assert len(one.processes()) >= 2
    address = one.address
    one.kill()
    assert program.await_end(LIMIT_S) == 137
    one.boot()
    assert (one.processes(), one.address) == ([], address)
    file = one.disk / "tmp" / "file"
    assert file.read_text() == "kept\n"
    file.unlink()


def test_a_disk_is_full_until_there_is_room(one: Machine) -> None:
    one.fill()
    assert shutil.disk_usage(one.disk).free < 1 << 20
    with pytest.raises(OSError, match="No space"):
        (one.disk / "more").write_bytes(bytes(2 << 20))
    (one.disk / "more").unlink()
    one.make_room()
    assert shutil.disk_usage(one.disk).free > 1 << 20


def test_a_clock_is_an_hour_off_and_only_the_one_that_people_read(one: Machine) -> None:
    one.set_clock(3600)
    asked = one.run(PYTHON, "-c", "import time, json; print(json.dumps([time.time(), time.monotonic()]))")
    asked.await_end(LIMIT_S)
    wall, steady = json.loads(asked.said())
    assert abs(wall - time.time() - 3600) < LIMIT_S
    assert abs(steady - time.monotonic()) < LIMIT_S
    one.preload = ""


def test_what_is_left_is_found(lab: Lab, one: Machine) -> None:
    """It must be able to fail."""
    program = one.run("sh", "-c", "ip link add to-client type bridge; echo up; exec sleep 1000")
    server = one.run(PYTHON, "-c", SERVE)
    for each in (program, server):
        each.await_word("up", LIMIT_S)
    (one.disk / "tmp" / "scratch").mkdir()
    found = " ".join(one.left(0))
    for what in ("sleep 1000", "interface to-client", "port 5000 of tcp", "file scratch"):
        assert what in found, found
    (one.disk / "tmp" / "scratch").rmdir()
    one.run("ip", "link", "delete", "to-client").await_end(LIMIT_S)
    for each in (program, server):
        each.entered.kill()
    assert lab.machines["desk"].left() == []
