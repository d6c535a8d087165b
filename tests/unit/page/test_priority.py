"""Where pages are drawn, and when: off the processors of beds as far as there are others, and after what measures."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from lanelab.driver.page import priority
from lanelab.driver.page.priority import THREADS, Aside, drawers, ordinary, processors_to_draw
from lanelab.driver.run.sweep import processors
from tests.kit.begun_runs import begun, writer
from tests.kit.pages import Visitor, served


@pytest.mark.parametrize(
    ("ours", "of_beds", "expected"),
    [
        ({0, 1}, set(), {0, 1}),
        ({0, 1}, {0, 1}, {0, 1}),  # it has no others: then it is drawn where nobody wants the processor
        ({0, 1}, {0}, {1}),
        ({0, 1, 2, 3}, {0, 1}, {2, 3}),
        ({2, 3}, {0, 1}, {2, 3}),
        ({2, 3}, {0, 1, 2, 3}, {2, 3}),
    ],
)
def test_pages_are_drawn_where_no_bed_is(ours: set[int], of_beds: set[int], expected: set[int]) -> None:
    assert processors_to_draw(frozenset(ours), frozenset(of_beds)) == expected


def test_a_thread_moves_off_a_bed_and_back_when_it_has_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = os.sched_getaffinity(0)
    if len(ours) < 2:
        pytest.skip("this machine has one processor")
    beds = [frozenset({min(ours)}), frozenset[int]()]
    monkeypatch.setattr(priority, "processors_of_beds_here", lambda: beds.pop(0))
    monkeypatch.setattr(priority, "LOOKS_EVERY_S", 0.0)
    aside = Aside()

    def where() -> set[int]:
        aside.step()
        return os.sched_getaffinity(0)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(where).result() == ours - {min(ours)}
        assert pool.submit(where).result() == ours
    assert os.sched_getaffinity(0) == ours, "of others nothing changes"


def test_a_page_is_drawn_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stepped: list[int] = []
    monkeypatch.setattr(Aside, "step", lambda _: stepped.append(1))
    with served(tmp_path) as visitor:
        visitor.enter(visitor.access.owner)
        assert visitor.ask("/").status == 200
    assert stepped


def test_the_processors_of_beds_are_those_of_their_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "_beds_here", lambda: iter([os.getpid(), 1 << 30]))
    assert processors.processors_of_beds_here() == os.sched_getaffinity(0)
    assert processors.other_beds_here() == 2


def test_what_draws_yields_to_all_others_and_what_measures_to_none(owner: Visitor, place: Path) -> None:
    assert drawers().submit(os.sched_getscheduler, 0).result() == os.SCHED_IDLE
    assert os.sched_getscheduler(writer(begun(owner, place))) == os.SCHED_OTHER


def test_threads_for_what_others_wait_for_are_there_before_one_that_yields_asks() -> None:
    pool, together = ordinary(), Barrier(THREADS)

    def kind() -> int:
        together.wait(10)
        return os.sched_getscheduler(0)

    asked = drawers().submit(lambda: [pool.submit(kind) for _ in range(THREADS)]).result()
    assert [each.result() for each in asked] == [os.SCHED_OTHER] * THREADS
