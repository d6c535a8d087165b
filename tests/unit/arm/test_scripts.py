"""A user's own script beside a page: what it is given, its marks, what is refused to it, and how its mistakes are told.
The process is real, the browser is not."""

from typing import Any

import pytest

from lanelab.driver.arm.browsers.browser import ScriptAsked
from lanelab.driver.arm.browsers.chromium.scripted import follow
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.record.reasons import Reason

NO_ELEMENT = {"status": 404, "value": '{"value": {"error": "no such element", "message": "no such element: .gone"}}'}


class Browser:
    """Answers every command, and notes them with the marks."""

    session_id: str | None = "s1"
    caps: dict[str, Any] = {"browserName": "chrome"}  # noqa: RUF012 - as Selenium has it

    def __init__(self) -> None:
        self.noted: list[str] = []

    def carry_out(self, command: str, parameters: dict[str, Any]) -> Any:
        self.noted.append(" ".join([command, *(str(value) for name, value in parameters.items() if name == "url")]))
        return NO_ELEMENT if command == "findElement" else {"value": None}

    def step_begins(self, name: str) -> None:
        self.noted.append(f"begin {name}")

    def step_ends(self) -> None:
        self.noted.append("end")


def play(text: str, *steps: str, timeout_s: float = 20) -> list[str]:
    browser = Browser()
    pages = {"article": "https://a.test/article"}
    follow(ScriptAsked("mine.py", text, "https://a.test/", pages, steps), browser, browser, timeout_s)
    return browser.noted


def test_commands_go_to_the_browser_between_the_marks_of_blocks_and_of_calls() -> None:
    text = (
        "with step('home'):\n    driver.get(url)\nstep('b')\ndriver.get(pages['article'])\nstep('c')\ndriver.back()\n"
    )
    noted = play(text, "home", "b", "c")
    assert noted == [
        *("begin home", "get https://a.test/", "end", "begin b", "get https://a.test/article", "end"),
        *("begin c", "goBack", "end"),
    ]


@pytest.mark.parametrize(
    ("text", "reason", "told"),
    [
        ("step('home')\n\n1 / 0\n", Reason.SCRIPT_FAILED, r"^mine\.py:3: ZeroDivisionError: division by zero"),
        ("def f():\n    raise SystemExit(3)\nstep('home')\nf()", Reason.SCRIPT_FAILED, r"mine\.py:2: SystemExit: 3"),
        ("import os\nstep('home')\nos._exit(0)", Reason.SCRIPT_FAILED, r"its process ended"),
        ("pass", Reason.SCRIPT_FAILED, r"it ended without its step home"),
        ("step('other')", Reason.SCRIPT_FAILED, r"begins the step 'other', and by its text its next step is home"),
        ("step('home')\nstep('home')", Reason.SCRIPT_FAILED, r"it has had all of its steps"),
        ("with step('home'):\n    step('b')", Reason.SCRIPT_FAILED, r"mine\.py:2: RuntimeError: .*has not ended"),
        ("step('home')\ndriver.find_element('id', 'x')", Reason.SCRIPT_FAILED, r"mine\.py:2: NoSuchElement.*\.gone"),
        (
            "step('home')\ndriver.execute('getLog', {'type': 'performance'})",
            Reason.SCRIPT_FAILED,
            r"mine\.py:2: .*the trial's",
        ),
        ("step('home')\ndriver.close()", Reason.SCRIPT_FAILED, r"cannot close its page"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, reason: Reason, told: str) -> None:
    with pytest.raises(BrowserError, match=told) as raised:
        play(text, "home")
    assert raised.value.reason is reason


def test_a_script_that_takes_too_long_ends_and_is_told_where_it_was() -> None:
    with pytest.raises(BrowserError, match=r"mine\.py:3: its step home was not over within 2 s") as raised:
        play("step('home')\nwhile True:\n    sum(range(10_000))\n", "home", timeout_s=2)
    assert raised.value.reason is Reason.TIMEOUT


def test_an_end_of_the_browser_is_left_to_the_trial() -> None:
    assert play("step('home')\ndriver.quit()", "home") == ["begin home", "end"]
