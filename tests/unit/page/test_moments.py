"""Nothing is drawn between a trial's beginning and its end: pages and news wait, and of many who ask one draws."""

import fcntl
import json
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import lanelab
from lanelab.driver.api.run_now import FollowedRun, live_events
from lanelab.driver.page import moments, run_view
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.run.events import (
    BedReplaced,
    Event,
    LinkTestBegun,
    LinkTested,
    RunBegun,
    SessionEnded,
    TrialBegun,
    TrialEnded,
)
from tests.kit.changed_run import changing
from tests.kit.pages import Visitor, served
from tests.kit.wait import wait_until

RUN = "/runs/sample/"
BEGIN = TrialBegun("dummy", "20ms", "HTTP", 2)
END = TrialEnded("dummy", "20ms", "HTTP", 2, 9, 1, "plt", 700.0, 1.5, ())
FAILED = TrialEnded("dummy", "20ms", "HTTP", 2, 10, 1, "plt", None, 1.5, (Failure(Reason.TIMEOUT, "after 60 s"),))
TEST = LinkTestBegun("20ms", "before")
TESTED = LinkTested("20ms", "before", True, "", (), False, 0.1, 4)


class Teller:
    """The writer of a run: it has the lock, and tells events."""

    def __init__(self, folder: Path) -> None:
        self.path = live_events(folder)
        self.path.parent.mkdir(exist_ok=True)
        self.path.write_bytes(b"")
        self.tell(RunBegun(str(folder), 1, 12, 3, 3, "page_load"))

    def tell(self, *events: Event) -> None:
        with self.path.open("a") as file:
            file.write("".join(f"{json.dumps(event.to_json())}\n" for event in events))


@contextmanager
def writing(folder: Path) -> Iterator[Teller]:
    with (folder / "in-use").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with changing(folder) as database:
            database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
        yield Teller(folder)
        shutil.rmtree(folder / "unfinished", ignore_errors=True)
    with changing(folder) as database:
        database.execute("UPDATE meta SET value = 'finished' WHERE key = 'state'")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(lanelab.sample_run().folder, tmp_path / "runs" / "sample")
    return tmp_path / "runs"


@pytest.fixture
def owner(folder: Path) -> Iterator[Visitor]:
    with served(folder) as visitor:
        visitor.enter(visitor.access.owner)
        yield visitor


@pytest.fixture
def teller(owner: Visitor, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Teller]:
    monkeypatch.setattr(moments, "FIND_EVERY_S", 0.05)
    with writing(folder / "sample") as teller:
        wait_until(lambda: "of 12 trials" in owner.ask(RUN).text, 10)
        yield teller


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When a run's page was drawn."""
    times, draw = list[float](), run_view.run_page

    def run_page(*given: object, **named: object) -> str:
        times.append(time.monotonic())
        return draw(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(run_view, "run_page", run_page)
    return times


def test_a_page_waits_for_the_end_of_the_trial(owner: Visitor, teller: Teller, monkeypatch: pytest.MonkeyPatch) -> None:
    times = drawn(monkeypatch)
    teller.tell(BEGIN)
    time.sleep(2 * moments.LOOK_EVERY_S)  # what was looked at just now still counts as quiet
    with ThreadPoolExecutor(30) as class_room:
        answers = [class_room.submit(owner.ask, f"{RUN}?first") for _ in range(30)]
        time.sleep(1)
        assert times == []
        ended = time.monotonic()
        teller.tell(END)
        texts = {answer.result().text for answer in answers}
    assert len(times) == 1, "one draws, for all"
    assert 0 <= times[0] - ended < 1
    assert len(texts) == 1
    assert "4 of 12 trials" in texts.pop()


def test_what_was_drawn_since_the_last_trial_is_sent_during_the_next(
    owner: Visitor, teller: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    teller.tell(BEGIN, END)
    before = wait_for(owner, "4 of 12 trials")
    times = drawn(monkeypatch)
    teller.tell(BEGIN)
    answer = owner.ask(RUN)
    assert answer.text == before
    assert times == []


def wait_for(owner: Visitor, words: str) -> str:
    wait_until(lambda: words in owner.ask(RUN).text, 10)
    return owner.ask(RUN).text


def test_headers_of_a_kept_page_do_not_grow(owner: Visitor, teller: Teller) -> None:
    first = [owner.ask(f"{RUN}?lang=de").headers for _ in range(3)]
    assert first[0].keys() == first[2].keys()
    assert first[2]["set-cookie"].count("lanelab-lang") == 1
    teller.tell(END)


def test_a_page_of_one_role_is_not_sent_to_another(owner: Visitor, teller: Teller) -> None:
    assert "Stop after this trial" in owner.ask(RUN).text
    watcher = Visitor(owner.port, owner.access)
    watcher.enter(owner.access.watcher)
    text = watcher.ask(RUN).text
    assert "3 of 12 trials" in text
    assert "<form" not in text
    teller.tell(END)


def test_a_trial_that_takes_minutes_is_not_waited_for(
    owner: Visitor, teller: Teller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moments, "LONGEST_WAIT_S", 0.5)
    teller.tell(BEGIN)
    assert owner.ask(f"{RUN}?x=1").status == 200


def test_a_run_that_was_killed_in_a_trial_holds_nobody_up(owner: Visitor, folder: Path) -> None:
    Teller(folder / "sample").tell(BEGIN)
    begin = time.monotonic()
    assert owner.ask(RUN).status == 200
    assert time.monotonic() - begin < 10


def test_news_come_between_trials_alone(owner: Visitor, teller: Teller) -> None:
    heard = list[tuple[float, str]]()
    connection, answer = owner.news(f"{RUN}changes")

    def hear() -> None:
        with suppress(AttributeError, OSError, ValueError):  # it is closed at the end
            for line in answer:
                if line.startswith((b"event", b"data")):
                    heard.append((time.monotonic(), line.decode().strip()))

    threading.Thread(target=hear, daemon=True).start()
    teller.tell(TEST)
    wait_until(lambda: any("measuring the link 20ms" in words for _, words in heard), 10)
    teller.tell(TESTED)
    wait_until(lambda: "event: changed" in [words for _, words in heard], 10)
    teller.tell(BEGIN)
    time.sleep(0.5)
    count = len(heard)
    with changing(teller.path.parents[1]) as database:
        database.execute("UPDATE meta SET value = 'x' WHERE key = 'description'")
    time.sleep(1)
    assert heard[count:] == []
    teller.tell(FAILED)
    wait_until(lambda: len(heard) > count, 5)
    connection.close()


@pytest.mark.parametrize("path", [f"{RUN}changes", "/bench/changes", "/labs/4-tls-round-trips/changes"])
def test_news_have_no_end_so_nobody_is_given_their_head_alone(owner: Visitor, path: str) -> None:
    assert owner.ask(path, "HEAD").status == 404
    connection, answer = owner.news(path)
    assert (answer.status, answer.readline()) == (200, b": watching\n")
    connection.close()


def test_a_run_says_what_it_does(owner: Visitor, teller: Teller) -> None:
    teller.tell(TEST, TESTED, BEGIN, FAILED, BEGIN, END)
    text = wait_for(owner, "4 of 12 trials")
    for words in ("Round 2 of 3", "1 has failed", "ends in about 12 s", "link 20ms is what was asked for",
                  "attempt 1 failed: timeout: after 60 s"):  # fmt: skip
        assert words in text


def test_events_are_read_as_they_come(tmp_path: Path) -> None:
    run = FollowedRun(tmp_path)
    assert run.look().progress is None
    teller = Teller(tmp_path)
    teller.tell(BEGIN)
    assert run.look().is_measuring
    whole = json.dumps(END.to_json())
    with teller.path.open("a") as file:
        file.write(whole[:20])
        file.flush()
        assert run.look().is_measuring
        file.write(f"{whole[20:]}\nno json\n[]\n{{}}\n" + '{"event": "of tomorrow"}\n')
    assert not run.look().is_measuring
    assert run.now.steps == 1
    for begin, end in ((BEGIN, BedReplaced("gone")), (TEST, SessionEnded("failed", "x"))):
        teller.tell(begin)
        assert run.look().is_measuring
        teller.tell(end)
        assert not run.look().is_measuring
    Teller(tmp_path)  # another session
    assert run.look().steps == 0
    shutil.rmtree(teller.path.parent)
    assert run.look().progress is None
