"""The script that makes clock and random numbers the same in each load."""

from __future__ import annotations

from importlib import resources

from driver.browser.browser import Repeatable


def script(repeatable: Repeatable) -> str:
    """The text that is evaluated."""
    function = resources.files("driver.browser").joinpath("repeatable.js").read_text()
    body = function[function.index("(seed") :].strip()
    return f"({body})({repeatable.seed}, {repeatable.now_ms});"
