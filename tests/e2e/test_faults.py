"""Faults that nobody is told of: the link has passed its self-test and a sound trial has counted, then something is
broken, and the next trial's own evidence has to name it. tests/kit/faults.py has the list, docs/reference/faults.md the
table."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.statistics import KNOWN
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.channel.client import Bed
from tests.kit import bench as benches
from tests.kit.bench import Bench, Wanted
from tests.kit.faults import CELL_FAULTS, CLOCK, FAULTS, LINK, MEANWHILE_FAULTS, Fault
from tests.kit.http3_faults import FORCED, HTTP3_FAULTS, RECORD, SITE, TOLD
from tests.kit.spoiled_run import play_spoiled

# What a machine with other work to do does to a sound trial; all else is a false alarm.
LATE_ATTEMPTS = 3  # on a starved machine the router's shell may come when the load is over
STARVED = {"processors-contended", "router-waited", "processors-stolen", "link-late", "emulation-late", "server-slow"}
CELL = """\
sites: [dummy]
links: {{{link}}}
arms: {{http: {{}}}}
trials: 4
retries: 0
"""
EVERY = (*FAULTS, *HTTP3_FAULTS)
SOURCE = Path(benches.__file__).with_name("clock.c")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("faults")
    with Bed(BedSettings(folder=folder)) as bed:
        yield Bench(bed, folder / "trials")


def names(record: TrialRecord) -> set[str]:
    return {str(each.reason) for each in record.failures} | {str(each.name) for each in record.flags}


def test_a_sound_trial_counts(bench: Bench) -> None:
    record = bench.trial(Wanted({}, LINK))
    wrong = [f"{each.reason}: {each.detail}" for each in record.failures if str(each.reason) not in LINK_JUDGED]
    assert wrong == []
    assert names(record) - STARVED <= LINK_JUDGED


# A busy machine may send a burst through its own router faster than the link: such a trial is refused by right.
LINK_JUDGED = {str(Reason.LINK_RATE), str(Reason.LINK_RTT), str(Reason.INITIAL_WINDOW), str(Reason.ROUTER_LOST_PACKETS)}


def needs_server(arm: Mapping[str, object]) -> None:
    name = str(arm.get("server", ""))
    if name and not find(name):
        pytest.skip(f"{name} is not installed here")
    if arm.get("browser") == "firefox" and not find("firefox-esr"):
        pytest.skip("Firefox is not installed here")


def is_found(bench: Bench, fault: Fault) -> None:
    needs_server(fault.arm)
    for _ in range(LATE_ATTEMPTS if fault in MEANWHILE_FAULTS else 1):
        try:
            fault.before(bench)
            found = names(bench.trial(fault.asked, fault.made, fault.spoil))
        finally:
            for node, command in fault.undo:
                bench.run(node, command)
        if found & set(fault.found_as):
            return
    raise AssertionError(found)


@pytest.mark.parametrize("arm", [FORCED, TOLD, RECORD, {**FORCED, "early_data": True}], ids=str)
def test_a_sound_trial_with_http3_counts(bench: Bench, arm: dict[str, object]) -> None:
    """Or every fault of HTTP/3 below would be found."""
    needs_server(arm)
    record = bench.trial(Wanted(arm, LINK, name=SITE))
    assert {str(each.reason) for each in record.failures} <= LINK_JUDGED, record.failures
    spoken = [each.protocol for each in record.requests]
    assert "h3" in spoken
    assert arm is TOLD or set(spoken) == {"h3"}


@pytest.mark.parametrize("fault", [each for each in EVERY if each.quick], ids=lambda fault: str(fault.name))
def test_some_faults_are_found(bench: Bench, fault: Fault) -> None:
    is_found(bench, fault)


@pytest.mark.long
@pytest.mark.measures
def test_the_link_of_all_faults_passes_its_self_test(bench: Bench) -> None:
    """A busy machine may need several attempts: the self-test makes three."""
    bench.open.bed.end_trial()
    bench.open.bed.set_link(Link.parse(LINK))
    assert bench.open.bed.test_link().passed


@pytest.mark.long
@pytest.mark.parametrize("fault", [each for each in EVERY if not each.quick], ids=lambda fault: str(fault.name))
def test_every_fault_is_found(bench: Bench, fault: Fault) -> None:
    is_found(bench, fault)


@pytest.mark.long
@pytest.mark.parametrize("fault", CELL_FAULTS, ids=lambda fault: str(fault.name))
def test_what_one_trial_cannot_tell_its_cell_does(tmp_path: Path, fault: Fault) -> None:
    link = ", ".join(f"{name}: {value}" for name, value in fault.asked.link.items())
    run = play_spoiled(tmp_path, CELL.format(link=link), fault.spoil, KNOWN)
    assert {each.reason for found in refusals(run).values() for each in found} >= set(fault.found_as)


@pytest.mark.long
def test_a_clock_that_is_set_during_the_load_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock of the bed's own process: this machine's is nobody's to set."""
    library, ahead = tmp_path / "clock.so", tmp_path / "ahead"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(SOURCE)], check=True)
    ahead.write_text("0")
    with monkeypatch.context() as changed:
        changed.setenv("LD_PRELOAD", str(library))
        changed.setenv("LANELAB_CLOCK", str(ahead))
        bed = Bed(BedSettings(folder=tmp_path))
    with bed:
        bench = Bench(bed, tmp_path / "trials")
        assert not names(bench.trial(Wanted({}, LINK))) & set(CLOCK.found_as)
        found = names(bench.trial(Wanted({}, LINK), spoil=lambda _bench: set_later(ahead)))
        assert found & set(CLOCK.found_as), found


def set_later(ahead: Path) -> None:
    subprocess.Popen(["sh", "-c", f"sleep 0.5; echo 30000000 > {ahead}"])
