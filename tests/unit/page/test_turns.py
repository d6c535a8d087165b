"""Browsers have their turns: one that asks for very much waits for itself."""

import asyncio
import contextvars
import threading
from pathlib import Path

import pytest

from lanelab.driver.page import priority, server
from lanelab.driver.page.pages import AT_ONCE, Pages
from lanelab.driver.page.screens import Reader, read_by
from lanelab.driver.page.shelf import Shelf

MANY = 60


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    monkeypatch.setattr(priority, "_yield_processors", lambda: None)
    return Pages(Shelf(tmp_path), server.access_at(server.HERE, 8000))


def test_who_asks_for_much_lets_others_in_between(pages: Pages) -> None:
    drawn: list[str] = []
    go_on = threading.Event()

    def page_of(session: str) -> str:
        go_on.wait(10)
        drawn.append(session)
        return session

    async def draw(session: str) -> None:
        with read_by(Reader("/", begins=False, session=session)):
            await pages.beside(lambda: page_of(session))

    async def all_at_once() -> None:
        tasks = []
        for session in ["greedy"] * MANY + ["other"]:
            tasks.append(asyncio.get_running_loop().create_task(draw(session), context=contextvars.copy_context()))
            await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(*tasks)

    asyncio.run(all_at_once())
    assert len(drawn) == MANY + 1
    assert drawn.index("other") <= 2 * AT_ONCE


def test_a_turn_is_given_back_by_what_fails(pages: Pages) -> None:
    async def fail() -> None:
        for _ in range(3 * AT_ONCE):
            with pytest.raises(ZeroDivisionError):
                await pages.beside(lambda: 1 // 0)
        assert await pages.beside(lambda: 1) == 1

    asyncio.run(fail())
