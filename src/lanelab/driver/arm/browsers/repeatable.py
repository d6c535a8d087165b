"""The script that makes clock and random numbers the same in each load."""

from importlib import resources

from lanelab.driver.arm.browsers.browser import Repeatable


def script(repeatable: Repeatable) -> str:
    """Return the text that is evaluated."""
    function = resources.files("lanelab.driver.arm.browsers").joinpath("repeatable.js").read_text()
    body = function[function.index("(seed") :].strip()
    return f"({body})({repeatable.seed}, {repeatable.now_ms});"
