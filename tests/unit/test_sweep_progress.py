"""What is shown of a sweep while it goes on: each bed, the whole, how long it still takes."""

from __future__ import annotations

import io
import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from lanelab.driver.cli import sweep_progress
from lanelab.driver.cli.output import note, notes_to
from lanelab.driver.cli.sweep_options import ONE_BED, SweepOptions
from lanelab.driver.cli.sweep_progress import event_words, plain, watching_sweep
from lanelab.driver.cli.sweep_state import SweepState
from lanelab.driver.experiment.schedule.remaining import Pace, remaining_s
from lanelab.driver.record.metrics import PAGE_LOAD, primary_of
from lanelab.driver.run.events import Event
from tests.unit.experiments import PATIENT

PRIMARY = primary_of(PAGE_LOAD)


class Sweep:
    """A state, a clock that is moved by hand, and events as the controller tells them."""

    def __init__(self, trials: int = 40, done: int = 0) -> None:
        self.now = 0.0
        self.state = SweepState(trials, done, PRIMARY, rounds=10, clock=lambda: self.now)

    def tell(self, kind: str, worker: str = "", **data: object) -> None:
        named = {"worker": worker, "name": worker} if worker else {}
        self.state.see(Event(kind, {**named, **data}))

    def join(self, worker: str) -> None:
        self.tell("worker-joined", worker)
        self.tell("worker-qualified", worker, machine=worker.partition("/")[0], links_refused=[], versions_differ="")

    def start(self, worker: str, number: int = 1, cells: int = 4) -> None:
        self.tell("portion-started", worker, round=number, cells=cells)

    def store(self, worker: str, trials: int = 4, failed: int = 0, seconds: float = 8.0) -> None:
        self.tell("portion-stored", worker, trials=trials, failed=failed, seconds=seconds)

    def on_worker(self, worker: str, **event: object) -> None:
        self.tell("on-worker", worker, told=event)

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
    assert words in event_words(Event(kind, data))


def test_of_a_worker_only_what_went_wrong_has_words() -> None:
    trial = {"event": "trial", "site": "s", "link": "l", "arm": "a", "round": 2, "attempt": 1}
    failed = {**trial, "status": "failed", "failures": [{"reason": "time-out", "detail": "60 s"}]}
    told = {"worker": "w", "name": "lab/1"}
    assert event_words(Event("on-worker", {**told, "told": {**trial, "status": "ok"}})) == ""
    words = event_words(Event("on-worker", {**told, "told": failed}))
    assert words == "lab/1: s, l, a, round 2, attempt 1 failed: time-out: 60 s"


def test_a_refused_link_is_told_once_and_not_by_each_of_its_trials() -> None:
    failures = [{"reason": "link-out-of-tolerance", "detail": "rtt"}]
    trial = {"event": "trial", "site": "s", "link": "l", "arm": "a", "round": 2, "attempt": 1, "status": "failed"}
    told = {"worker": "w", "name": "lab/1", "told": {**trial, "failures": failures}}
    assert event_words(Event("on-worker", told)) == ""
    other = {**trial, "failures": [*failures, {"reason": "time-out", "detail": "60 s"}]}
    assert "time-out" in event_words(Event("on-worker", {**told, "told": other}))


def test_a_long_reason_is_told_once_and_a_bed_line_stays_short() -> None:
    sweep = Sweep()
    sweep.join("a/1")
    why = "cannot have the link: " + "rate down is 9.4 Mbit/s, wanted 10; " * 10
    sweep.tell("portion-undone", "a/1", why=why)
    assert "could not do it: cannot have the link" in sweep.shown("a/1")
    assert len(sweep.shown("a/1")) < 120
    assert why[:-2] in event_words(Event("link-refused", {"name": "a/1", "link": "l", "why": why}))


def test_json_is_the_events_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    event = Event("on-worker", {"worker": "w", "name": "lab/1", "told": {"event": "trial", "status": "ok"}})
    with watching_sweep(as_json=True, trials=1, done=0, primary=PRIMARY) as tell:
        tell(event)
    assert json.loads(capsys.readouterr().out) == event.to_json()


def test_plain_lines_come_at_events_and_in_between() -> None:
    said: list[str] = []
    enough = threading.Event()

    def say(words: str) -> None:
        said.append(words)
        if sum("ETA" in line for line in said) >= 2:
            enough.set()

    with plain(SweepState(8, 0, PRIMARY), say, every_s=0.01) as tell:
        tell(Event("worker-joined", {"worker": "w", "name": "lab/1"}))
        assert enough.wait(60)
    assert "lab/1 has joined" in said
    assert any(line.startswith("  lab/1: joining") for line in said)
    assert said[-1].startswith("0/8 trials")


def test_what_is_shown_live_fits_the_terminal() -> None:
    sweep = Sweep()
    for number in range(30):
        sweep.join(f"lab/{number}")
    out = io.StringIO()
    Console(file=out, width=60, height=10).print(sweep_progress._picture(sweep.state, 10))
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
