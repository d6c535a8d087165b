"""What k6 says of a script that it cannot run, in one line."""

import pytest

from lanelab.driver.trial.server_load.bed_side import problem

SHARE = "with 5 users, the scenario 'b' has none. It takes 6 users"
SYNTAX = "script.js: Line 1:27 Unexpected end of input (and 4 more errors)"
LOADING = "could not initialize 'main.js': could not load JS test 'file:///run/main.js': file:///run/bed/"


CALLED = (
    "ReferenceError: nothing is not defined\n\tat file:///run/bed/script.js:2:4(5)\n\tat file:///run/main.js:1:1(9)\n"
)


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        (f"Error: {SHARE}\n\tat belonging (file:///x/a.js:1:2(96))\n", SHARE),
        (f"{LOADING}{SYNTAX}\n", SYNTAX),
        ("", "it says no reason"),
        (CALLED, "ReferenceError: nothing is not defined (script.js:2:4)"),
        ("Error: first line\nsecond line\n\tat a (file:///x/main.js:3:1(2))\n", "first line second line"),
    ],
)
def test_the_reason_is_told_without_the_way_to_it(stderr: str, reason: str) -> None:
    assert problem(stderr) == reason
