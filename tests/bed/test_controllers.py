"""A bed belongs to a process: any of its threads may start it, and it ends with the process at the latest."""

import multiprocessing
import os
import secrets
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path

from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.run.channel.client import Bed
from tools.bench.leftovers import Watch

ANSWER_WITHIN_S = 120.0
processes = multiprocessing.get_context("spawn")


def bed_folder(above: Path) -> Path:
    """With a name that no other test's bed has, of this checkout or another: by it leftovers are looked for."""
    return above / f"bed-{secrets.token_hex(8)}"


def open_bed(folder: Path) -> Bed:
    folder.mkdir()
    bed = Bed(BedSettings(folder=folder))
    bed.set_link(Link.parse({"rtt": "20ms"}))
    return bed


def works(bed: Bed) -> bool:
    return bed.exec("client", Command(["ping", "-c", "1", "-W", "5", "server"]), Stdio()).wait() == 0


def test_beds_of_two_threads_outlive_them(tmp_path: Path) -> None:
    watch = Watch()
    folders = [bed_folder(tmp_path), bed_folder(tmp_path)]
    with ExitStack() as beds:
        with ThreadPoolExecutor(2) as pool:
            made = [beds.enter_context(bed) for bed in pool.map(open_bed, folders)]
        # The threads have ended here.
        for bed in made:
            watch.see(bed.pid)
        assert all(works(bed) for bed in made)
        with ThreadPoolExecutor(2) as pool:
            assert all(pool.map(works, made))
    for folder in folders:
        assert watch.left(folder.name) == []


def _use(folder: Path, line: Connection) -> None:
    with open_bed(folder) as bed:
        line.send(works(bed))


def _hold(folder: Path, line: Connection) -> None:
    """A controller whose thread has started the bed and has ended, and that has forked: its child holds the channel."""
    with ThreadPoolExecutor(1) as pool:
        bed = pool.submit(open_bed, folder).result()
    sibling = os.fork()
    if sibling == 0:
        signal.pause()
    line.send((bed.pid, sibling))
    signal.pause()


def test_a_process_of_multiprocessing_has_a_bed_of_its_own(tmp_path: Path) -> None:
    watch, folder = Watch(), bed_folder(tmp_path)
    ours, theirs = processes.Pipe()
    child = processes.Process(target=_use, args=(folder, theirs))
    child.start()
    assert ours.poll(ANSWER_WITHIN_S)
    assert ours.recv() is True
    child.join(ANSWER_WITHIN_S)
    assert child.exitcode == 0
    assert watch.left(folder.name) == []


def test_a_bed_ends_with_its_controller_although_another_process_holds_the_channel(tmp_path: Path) -> None:
    watch, folder = Watch(), bed_folder(tmp_path)
    ours, theirs = processes.Pipe()
    child = processes.Process(target=_hold, args=(folder, theirs))
    child.start()
    assert ours.poll(ANSWER_WITHIN_S)
    bed, sibling = ours.recv()
    try:
        assert len(watch.see(bed)) > 3
        child.kill()
        assert watch.left(folder.name) == []
    finally:
        os.kill(sibling, signal.SIGKILL)
    child.join(ANSWER_WITHIN_S)  # which the sibling would hold up
