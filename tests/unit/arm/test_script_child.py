"""The end of a journey's script."""

import pytest

from lanelab.driver.arm.browsers.chromium.script_child import run_text


@pytest.mark.parametrize(
    "text", ["done.append(1)", "import sys\ndone.append(1)\nsys.exit()", "done.append(1)\nexit(0)"]
)
def test_a_script_may_end_by_leaving(text: str) -> None:
    done: list[int] = []
    run_text(text, "journey.py", {"done": done})
    assert done == [1]


@pytest.mark.parametrize("text", ["import sys\nsys.exit(3)", "raise SystemExit('no such page')"])
def test_what_it_leaves_with_fails_it(text: str) -> None:
    with pytest.raises(SystemExit):
        run_text(text, "journey.py", {})
