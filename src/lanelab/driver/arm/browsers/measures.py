"""The script that asks a page what it says of its load: one for all browsers."""

from importlib import resources

# What was painted by the time of `load` is told a frame or two later; a page that paints nothing must not hold us up.
PAINTED_WITHIN_MS = 250


def measures_script(done: str) -> str:
    """Return a statement that calls `done`, an expression for a function, with what the page says."""
    function = resources.files("lanelab.driver.arm.browsers").joinpath("measures.js").read_text().rstrip()
    return f"({function}\n)({PAINTED_WITHIN_MS}, {done})"
