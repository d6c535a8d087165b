"""What is shown of a sweep while it goes on: each bed, the whole, how long it still takes."""

import io
import json
import threading
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from lanelab.driver.api.sweep_progress import SweepProgress
from lanelab.driver.api.sweeps import ONE_BED, SweepOptions
from lanelab.driver.cli.output import note, notes_to
from lanelab.driver.cli.progress import picture_of, plain, watching
from lanelab.driver.experiment.schedule.time_left import Pace, remaining_s
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.run.events import EVENTS, Event, read_event
from lanelab.driver.run.sweep import events as of_sweeps
from lanelab.driver.run.sweep.events import LinkRefused, OnWorker, WorkerJoined
from tests.kit.experiments import PATIENT

BY_KIND = {each.kind: each for each in of_sweeps.EVENTS}
TRIAL = {
    "event": "trial", "site": "s", "link": "l", "arm": "a", "round": 2, "trial": 3, "attempt": 1, "metric": "plt_ms",
    "plt_ms": 1000.0, "wall_s": 2.0, "status": "ok", "failures": [],
}  # fmt: skip


def made(kind: str, **data: object) -> Event:
    """The event of that name, with what the test does not name left empty."""
    if kind == OnWorker.kind:
        return OnWorker(str(data["worker"]), str(data["name"]), read_event(cast(dict[str, Any], data["told"])))
    if kind not in BY_KIND:
        return read_event({"event": kind, "done": 0, "rounds": 1, "workload": PAGE_LOAD, "version": 1, **data})
    return BY_KIND[kind].from_json({"worker": "", "name": "", **data} if kind in NAMED else data)


NAMED = {kind for kind, each in BY_KIND.items() if "worker" in each.__dataclass_fields__}


class Sweep:
    """A state, a clock that is moved by hand, and events as the controller tells them."""

    def __init__(self, trials: int = 40, done: int = 0) -> None:
        self.now = 0.0
        self.state = SweepProgress(trials, done, rounds=10, clock=lambda: self.now)

    def tell(self, kind: str, worker: str = "", **data: object) -> None:
        named = {"worker": worker, "name": worker} if worker else {}
        self.state.see(made(kind, **{**named, **data}))

    def join(self, worker: str) -> None:
        self.tell("worker-joined", worker)
        self.tell("worker-qualified", worker, machine=worker.partition("/")[0], links_refused=[])

    def start(self, worker: str, number: int = 1, cells: int = 4) -> None:
        self.tell("portion-started", worker, round=number, cells=cells)

    def store(self, worker: str, trials: int = 4, failed: int = 0, seconds: float = 8.0) -> None:
        self.tell("portion-stored", worker, trials=trials, failed=failed, seconds=seconds)

    def on_worker(self, worker: str, **event: object) -> None:
        self.tell("on-worker", worker, told=TRIAL | event if event["event"] == "trial" else event)

    def shown(self, worker: str) -> str:
        return next(" ".join(line) for line in self.state.lines(100) if line[0] == worker)


def test_a_bed_says_what_it_does_for_how_long_and_what_it_did() -> None:
    sweep = Sweep()
    sweep.tell("worker-joined", "lab/1")
    sweep.on_worker("lab/1", event="self-test-started", link="20ms", moment="before")
    sweep.now = 3
    assert "qualifying: measuring the link 20ms, 3 s" in sweep.shown("lab/1")
    sweep.join("lab/1")
    sweep.start("lab/1", 7)
    sweep.on_worker("lab/1", event="trial-started", site="dummy", link="20ms", arm="HTTP", round=7)
    sweep.now = 5
    assert "round 7, 0 of 4 made, dummy · 20ms · HTTP, 2 s" in sweep.shown("lab/1")
    sweep.on_worker("lab/1", event="trial", status="ok")
    assert "1 of 4 made" in sweep.shown("lab/1")
    sweep.tell("fetching", name="lab/1", bytes=100)
    assert "sending its trials" in sweep.shown("lab/1")
    sweep.store("lab/1", trials=5, failed=1)
    assert sweep.shown("lab/1").endswith("4 stored, 1 failed")
    assert sweep.state.whole().startswith("4/40 trials, 1 failed, 1 bed, ETA ")


def test_only_what_is_stored_is_done() -> None:
    sweep = Sweep()
    sweep.join("a/1")
    sweep.start("a/1")
    for _ in range(3):
        sweep.on_worker("a/1", event="trial", status="ok")
    assert sweep.state.whole().startswith("0/40")
    sweep.tell("worker-left", "a/1", why="it was killed", portion_lost=True)
    assert sweep.state.whole().startswith("0/40 trials, 0 failed, 0 beds")
    assert sweep.state.lines(10) == []


def test_what_an_earlier_session_made_is_done() -> None:
    sweep = Sweep(done=36)
    sweep.join("a/1")
    sweep.start("a/1")
    sweep.store("a/1")
    assert sweep.state.whole().startswith("40/40 trials, 0 failed, 1 bed, ETA 0 s")


def test_rounds_that_are_under_way_are_told() -> None:
    sweep = Sweep()
    for worker, number in (("a/1", 3), ("a/2", 4), ("b/1", 4)):
        sweep.join(worker)
        sweep.start(worker, number)
    assert "rounds 3 to 4 of 10, 3 beds" in sweep.state.whole()
    sweep.tell("worker-refused", "b/1", why="no browser", remedy="install it")
    assert "2 beds of 3" in sweep.state.whole()
    assert "refused: no browser" in sweep.shown("b/1")


def test_many_beds_are_shown_by_machine() -> None:
    sweep = Sweep(1000)
    for machine in range(3):
        for bed in range(20):
            sweep.join(f"m{machine}/{bed}")
    sweep.start("m0/1")
    sweep.store("m1/0")
    lines = sweep.state.lines(16)
    assert [line[0] for line in lines] == ["m0", "m1", "m2"]
    assert lines[0][1] == "1 of 20 beds at work"
    assert lines[1][2] == "4 stored"
    assert [line[0] for line in sweep.state.lines(2)] == ["m0", "… 2 more machines"]


# --- how long it still takes


def test_remaining_is_what_is_left_by_the_pace_of_all() -> None:
    assert remaining_s(100, [Pace(0, 1.0)]) == 100
    assert remaining_s(100, [Pace(0, 1.0), Pace(0, 1.0)]) == 50
    assert remaining_s(100, [Pace(0, 1.0), Pace(0, 3.0)]) == 25
    assert remaining_s(0, [Pace(0, 1.0)]) == 0


def test_a_bed_of_which_nothing_is_known_is_taken_to_be_like_the_others() -> None:
    assert remaining_s(100, [Pace(0, 1.0), Pace(0, None)]) == 50
    assert remaining_s(100, [Pace(0, None)], 2.0) == 50
    assert remaining_s(100, [Pace(0, None)]) is None
    assert remaining_s(100, []) is None
    assert remaining_s(100, [], 2.0) is None


def test_no_bed_ends_before_its_own_portion() -> None:
    assert remaining_s(12, [Pace(10, 0.1), Pace(2, 10.0)]) == 100


@PATIENT
@given(
    st.integers(1, 10**6),
    st.lists(st.builds(Pace, st.integers(0, 100), st.floats(0.01, 100)), min_size=1, max_size=70),
    st.builds(Pace, st.just(0), st.floats(0.01, 100)),
)
def test_another_bed_never_makes_it_longer(trials: int, beds: list[Pace], another: Pace) -> None:
    alone, together = remaining_s(trials, beds), remaining_s(trials, [*beds, another])
    assert alone is not None
    assert together is not None
    assert 0 < together <= alone


def test_eta_follows_beds_that_come_and_go() -> None:
    sweep = Sweep(44)
    sweep.join("a/1")
    assert sweep.state.eta == "?"
    sweep.start("a/1")
    sweep.store("a/1", seconds=40.0)
    assert sweep.state.eta == "6 min 40 s"  # 40 trials, 10 s each
    sweep.join("b/1")
    assert sweep.state.eta == "3 min 20 s"
    sweep.start("b/1")
    sweep.store("b/1", seconds=10.0)
    assert sweep.state.eta == "1 min 12 s"  # 36 trials by 0.1 and 0.4 a second
    sweep.tell("worker-left", "a/1", why="killed", portion_lost=False)
    assert sweep.state.eta == "1 min 30 s"
    sweep.tell("worker-left", "b/1", why="killed", portion_lost=False)
    assert sweep.state.eta == "?"
    sweep.join("c/1")
    assert sweep.state.eta == "1 min 30 s"  # as those that were there before


def test_eta_of_the_first_portion_comes_from_its_trials() -> None:
    sweep = Sweep(12)
    sweep.join("a/1")
    sweep.start("a/1", cells=12)
    sweep.now = 20
    for _ in range(2):
        sweep.on_worker("a/1", event="trial", status="ok")
    assert sweep.state.eta == "1 min 40 s"


# --- in words


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("worker-left", {"name": "a/1", "why": "killed", "portion_lost": True}, "begun anew on another bed"),
        ("worker-refused", {"name": "a/1", "why": "too old", "remedy": "Update it"}, "not used: too old. Update it"),
        ("worker-qualified", {"name": "a/1", "machine": "a", "links_refused": ["1gbit: too slow"]}, "1gbit: too slow"),
        ("link-refused", {"name": "a/1", "link": "20ms", "why": "rtt"}, "no work on link 20ms: rtt"),
        ("machine-differs", {"name": "b", "what": "browser: 2 (not 1)"}, "browser: 2 (not 1)"),
        ("cluster-away", {"why": "connection refused"}, "connection refused"),
        ("portion-undone", {"name": "a/1", "why": "disk is full"}, "disk is full"),
        ("scheduler-restarted", {"why": "its process died"}, "started again: its process died"),
        ("run", {"folder": "runs/x", "seed": 7, "trials": 9}, "runs/x"),
    ],
)
def test_what_a_person_wants_to_know_has_words(kind: str, data: dict[str, object], words: str) -> None:
    assert words in made(kind, **data).words


def test_of_a_worker_only_what_went_wrong_has_words() -> None:
    failed = {**TRIAL, "status": "failed", "failures": [{"reason": "timeout", "detail": "60 s"}]}
    assert OnWorker("w", "lab/1", read_event(TRIAL)).words == ""
    words = OnWorker("w", "lab/1", read_event(failed)).words
    assert words == "lab/1: s, l, a, round 2, attempt 1 failed: timeout: 60 s"


def test_a_refused_link_is_told_once_and_not_by_each_of_its_trials() -> None:
    failures = [{"reason": "link-out-of-tolerance", "detail": "rtt"}]
    assert OnWorker("w", "lab/1", read_event({**TRIAL, "failures": failures})).words == ""
    other = {**TRIAL, "failures": [*failures, {"reason": "timeout", "detail": "60 s"}]}
    assert "timeout" in OnWorker("w", "lab/1", read_event(other)).words


def test_a_long_reason_is_told_once_and_a_bed_line_stays_short() -> None:
    sweep = Sweep()
    sweep.join("a/1")
    why = "cannot have the link: " + "rate down is 9.4 Mbit/s, wanted 10; " * 10
    sweep.tell("portion-undone", "a/1", why=why)
    assert "could not do it: cannot have the link" in sweep.shown("a/1")
    assert len(sweep.shown("a/1")) < 120
    assert why[:-2] in LinkRefused("w", "a/1", "l", why).words


def test_json_is_the_events_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    event = OnWorker("w", "lab/1", read_event(TRIAL))
    with watching(as_json=True, many_beds=True) as tell:
        tell(event)
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"event": "on-worker", "worker": "w", "name": "lab/1", "told": TRIAL}
    assert read_event(shown["told"]) == event.told


def test_every_event_has_a_name_of_its_own() -> None:
    kinds = [each.kind for each in (*EVENTS, *of_sweeps.EVENTS)]
    assert len(set(kinds)) == len(kinds) - 1  # a trial that ended and one that was refused are both "trial"


def test_plain_lines_come_at_events_and_in_between() -> None:
    said: list[str] = []
    enough = threading.Event()

    def say(words: str) -> None:
        said.append(words)
        if sum("ETA" in line for line in said) >= 2:
            enough.set()

    with plain(SweepProgress(8, 0), say, every_s=0.01) as tell:
        tell(WorkerJoined("w", "lab/1"))
        assert enough.wait(60)
    assert "lab/1 has joined" in said
    assert any(line.startswith("  lab/1: joining") for line in said)
    assert said[-1].startswith("0/8 trials")


def test_what_is_shown_live_fits_the_terminal() -> None:
    sweep = Sweep()
    for number in range(30):
        sweep.join(f"lab/{number}")
    out = io.StringIO()
    Console(file=out, width=60, height=10).print(picture_of(sweep.state, 10))
    lines = out.getvalue().rstrip("\n").split("\n")
    assert len(lines) < 10
    assert all(len(line) <= 60 for line in lines)
    assert lines[-1].startswith("0/40 trials")


def test_notes_go_above_what_is_drawn_while_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    with notes_to(said.append):
        note("in between")
    note("afterwards")
    assert said == ["lanelab: in between"]
    assert capsys.readouterr().err == "lanelab: afterwards\n"


def test_what_was_asked_for_can_be_asked_for_again() -> None:
    """The line after Ctrl-C."""
    asked = SweepOptions(workers=2, listen="10.0.0.5:8786", accept_disturbance=True)
    assert asked.words == " --workers 2 --listen 10.0.0.5:8786 --accept-disturbance"
    assert SweepOptions(cluster="my file.json").words == " --cluster 'my file.json'"
    assert ONE_BED.words == ""
