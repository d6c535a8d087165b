"""The events of a run as lines in a file, beside whoever else is told."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import lanelab
from lanelab.driver.api.events_file import event_lines
from lanelab.driver.base.errors import InputError, RecordError, StoreError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.cli.runs import run
from lanelab.driver.run.events import Event, Notice, RoundEnded, TrialEnded, read_event
from lanelab.driver.run.missing import MissingCell, TrialsMissing
from lanelab.driver.run.sweep.events import OnWorker, WorkerLeft

SEEN = (Notice("a link is slow"), RoundEnded(1))


def test_each_event_is_a_line_that_is_there_at_once(tmp_path: Path) -> None:
    file, told = tmp_path / "events.jsonl", list[Event]()
    with event_lines(file, told.append) as listen:
        for number, event in enumerate(SEEN, 1):
            listen(event)
            lines = file.read_text().splitlines()
            assert (len(lines), read_event(json.loads(lines[-1]))) == (number, event)
    assert told == list(SEEN)


def test_a_run_that_goes_on_adds_to_its_file(tmp_path: Path) -> None:
    for event in SEEN:
        with event_lines(tmp_path / "events.jsonl") as listen:
            listen(event)
    assert [json.loads(line)["event"] for line in (tmp_path / "events.jsonl").open()] == ["notice", "round-ended"]


def test_a_file_that_cannot_be_written_is_an_error_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot write events to"), event_lines(tmp_path / "absent" / "events"):
        pytest.fail("there is no such folder")


def test_a_disk_that_is_full_is_said_and_nobody_is_told_of_what_is_not_written() -> None:
    told: list[Event] = []
    with event_lines("/dev/full", told.append) as listen, pytest.raises(StoreError, match="the disk is full"):
        listen(SEEN[0])
    assert told == []


def test_run_writes_them_beside_what_a_person_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run whose only event is a notice, and that then ends."""

    def one_event(_file: Path, *, on_event: Callable[[Event], None], **_others: object) -> None:
        on_event(SEEN[0])
        raise InputError("that is all", "Nothing")

    monkeypatch.setattr("lanelab.driver.cli.runs.run_experiment", one_event)
    experiment, file = PROJECT / "experiments" / "quickstart.yaml", tmp_path / "events.jsonl"
    result = CliRunner().invoke(run, [str(experiment), "--events", str(file)])
    assert isinstance(result.exception, InputError)
    assert [read_event(json.loads(line)) for line in file.open()] == [SEEN[0]]
    assert "lanelab: a link is slow" in result.stderr


def test_a_line_that_a_full_disk_has_cut_does_not_take_the_next_one_with_it(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text('{"event": "noti')
    with event_lines(path) as listen:
        listen(Notice("whole"))
    assert [read_event(json.loads(line)) for line in path.read_text().splitlines()[1:]] == [Notice("whole")]


MISSING = TrialsMissing("runs/x", 4, (MissingCell("dummy", "20ms", "HTTP", 1, 3, 0, {"timeout": 2}),))


@pytest.mark.parametrize(
    "event",
    [*SEEN, MISSING, WorkerLeft("w", "bed 1", "stopped", portion_lost=True), OnWorker("w", "bed 1", RoundEnded(2)),
     TrialEnded("dummy", "20ms", "HTTP", 1, 1, 1, "plt_ms", 12.5, 1.0, ())],
)  # fmt: skip
def test_whoever_reads_lines_gets_every_event_and_leaves_out_what_is_new(event: Event) -> None:
    line = {**json.loads(json.dumps(event.to_json())), "new_key": 1}
    assert lanelab.events.read_event(line) == event
    with pytest.raises(RecordError, match="there is no event 'later'"):
        lanelab.events.read_event({"event": "later"})
