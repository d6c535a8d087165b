"""Which scripts get a clock and chance of ours, and what they are told."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.browser import Repeatable
from lanelab.driver.arm.browsers.chromium.devtools import DevTools, Message
from lanelab.driver.arm.browsers.chromium.repeatable import Repeating
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.repeatable import script
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.surroundings import repeatable_of

SITE = Site("page", "A page", "page.test", "/", (), Path("/content"), date="2020-09-13T12:26:40Z")


def test_the_script_is_one_expression_with_the_numbers_at_its_end() -> None:
    text = script(Repeatable(7, 1_600_000_000_000))
    assert text.startswith("((seed, now_ms) => {")
    assert text.endswith("})(7, 1600000000000);")
    assert text.count("{") == text.count("}")


def test_only_a_recorded_site_gets_them() -> None:
    arm = Arm.parse("one", {})
    found = repeatable_of(arm, SITE)
    assert found is not None
    assert found.now_ms == 1_600_000_000_000
    assert found == repeatable_of(Arm.parse("two", {"protocol": "h2", "tls": "1.3"}), SITE)
    assert repeatable_of(arm, replace(SITE, date=None)) is None
    assert repeatable_of(Arm.parse("one", {"scripts": "as-is"}), SITE) is None


def test_each_site_has_a_seed_of_its_own() -> None:
    assert SITE.scripts_seed == replace(SITE, title="Another title").scripts_seed
    assert SITE.scripts_seed != replace(SITE, name="other").scripts_seed


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2020-09-13", 1_599_955_200_000),
        ("2020-09-13T12:26:40Z", 1_600_000_000_000),
        ("2020-09-13T12:26:40.5Z", 1_600_000_000_500),
        ("2020-09-13T12:26:40.123456Z", 1_600_000_000_123),
        (None, None),
    ],
)
def test_the_instant_of_a_recording(date: str | None, expected: int | None) -> None:
    assert replace(SITE, date=date).recorded_ms == expected


# --- who is given it


class Tells(DevTools):
    """DevTools that note what is asked, and tell what a test says."""

    def __init__(self, *told: Message) -> None:
        self.told = [*told]
        self.answers: list[Message] = [{"id": 2, "result": {}}, {"id": 3, "result": {}}]  # to who is to tell
        self.asked: list[tuple[str, str]] = []  # session and method
        self.parameters: list[Any] = []

    def post(self, method: str, /, session: str = "", **parameters: object) -> int:
        self.asked.append((session, method))
        self.parameters.append(parameters)
        return len(self.asked)

    def call(self, method: str, /, session: str = "", timeout_s: float | None = None, **parameters: object) -> object:
        assert timeout_s is None, "as for every question"
        self.post(method, session, **parameters)
        if ("", "Target.setAutoAttach") in self.asked:
            self.told.clear()  # nobody hears of what begins while an answer is awaited, and it is held for ever
        return {"sessionId": "page"}

    def receive(self, timeout_s: float | None) -> Message:
        """Tell one thing after the other. The answers to the first questions come at the end, and then nothing more."""
        if self.told:
            return self.told.pop(0)
        if timeout_s is None:
            raise BrowserError("it is gone")
        return self.answers.pop(0)

    def close(self) -> None:
        pass

    def of(self, session: str) -> list[str]:
        return [method for each, method in self.asked if each == session]


def begins(session: str, kind: str, target: str = "", *, by: str = "", waits: bool = True) -> Message:
    """Say that something begins; by: the session that tells of it, the browser's own where there is none. waits: else
    it was there before."""
    info = {"targetId": target or session, "type": kind}
    parameters = {"sessionId": session, "targetInfo": info, "waitingForDebugger": waits}
    message: Message = {"method": "Target.attachedToTarget", "params": parameters}
    if by:
        message["sessionId"] = by
    return message


def test_a_shared_worker_has_the_script_and_the_list_before_it_goes_on() -> None:
    tools = Tells(begins("shared", "shared_worker"))
    Repeating(tools, "target", "script", ["*://cdn.test/a.js"]).close()
    number = tools.asked.index(("", "Target.setAutoAttach"))  # no page tells of it
    assert "shared_worker" in [each["type"] for each in tools.parameters[number]["filter"]]
    given = tools.of("shared")
    assert given[-1] == "Runtime.runIfWaitingForDebugger"
    assert {"Network.setBlockedURLs", "Runtime.evaluate", "Target.setAutoAttach"} <= set(given)


def test_what_both_tell_of_is_prepared_once_and_goes_on_in_both_sessions() -> None:
    told = [begins("one", "service_worker", "sw"), begins("two", "service_worker", "sw", by="page")]
    for first, second in (told, told[::-1]):
        tools = Tells(first, second)
        Repeating(tools, "target", "script").close()
        names = [message["params"]["sessionId"] for message in (first, second)]
        assert "Runtime.evaluate" in tools.of(names[0])
        assert tools.of(names[1]) == ["Runtime.runIfWaitingForDebugger"]


def test_a_worker_that_begins_again_is_prepared_again() -> None:
    ended: Message = {"method": "Target.detachedFromTarget", "params": {"sessionId": "one"}}
    tools = Tells(begins("one", "service_worker", "sw"), ended, begins("two", "service_worker", "sw"))
    Repeating(tools, "target", "script").close()
    assert tools.of("one") == tools.of("two")


def test_a_service_worker_that_was_there_before_is_prepared_for_its_own_page_alone() -> None:
    told = [begins("one", "service_worker", "sw", waits=False)]
    tools = Tells(*told, begins("two", "service_worker", "sw", by="page", waits=False))
    Repeating(tools, "target", "script").close()
    assert tools.of("one") == ["Runtime.runIfWaitingForDebugger"]
    assert "Runtime.evaluate" in tools.of("two")


def test_a_page_that_another_one_opens_just_goes_on() -> None:
    tools = Tells(begins("opened", "page"))
    Repeating(tools, "target", "script", ["*://cdn.test/a.js"]).close()
    assert tools.of("opened") == ["Runtime.runIfWaitingForDebugger"]
