"""What results say of themselves in one line, and how a stop reaches a program."""

from pathlib import Path

import pytest

import lanelab
from lanelab.analysis.results.verification import Verification
from lanelab.driver.api.session import STOPPED
from lanelab.driver.base.errors import Interrupted, RunInterrupted, interruption
from lanelab.driver.cli.interrupts import stopping

MOST_LETTERS = 160


def test_results_say_what_they_are_in_one_line() -> None:
    run = lanelab.sample_run()
    assert repr(run.compare("HTTP/2", "HTTP")) == "<Comparison: HTTP/2 against HTTP: 2 slower>"
    assert repr(run.claims()) == "<Claims: sample: 1 reproduced, 1 not reproduced>"
    assert repr(Verification(run.folder, wrong=["one"])).endswith("/sample: 1 differs>")
    for each in (run.explain(), run.explain("HTTP"), run.result()):
        assert len(repr(each)) < MOST_LETTERS


def test_a_plan_and_a_verification_show_themselves() -> None:
    plan = lanelab.grid(sites="dummy", rtt=["20ms", "100ms"], trials=3, arms={"a<b": {}}).plan()
    assert repr(plan).startswith("<plan of grid: grid: 2 cells x 3 trials = 6 trials")
    assert str(plan).splitlines()[0] == plan.words()[0]
    assert plan.warnings[0] in str(plan)
    assert plan._repr_html_().startswith("<pre>grid: 2 cells")
    verification = Verification(Path("a&b"), wrong=["trial 2: its record was changed"])
    assert str(verification) == "a&b\n1 differs:\n  trial 2: its record was changed"
    assert verification._repr_html_().startswith("<pre>a&amp;b")


def test_ctrl_c_is_no_error_that_a_loop_goes_on_after_and_a_stop_is() -> None:
    after_ctrl_c = interruption(KeyboardInterrupt(), STOPPED, "Go on")
    assert isinstance(after_ctrl_c, KeyboardInterrupt)
    assert not isinstance(after_ctrl_c, Exception)
    assert str(after_ctrl_c) == f"{STOPPED}. Go on"
    assert isinstance(interruption(Interrupted("asked"), STOPPED, "Go on"), lanelab.LanelabError)
    with pytest.raises(Interrupted, match="Go on") as raised, stopping():
        raise RunInterrupted(STOPPED, "Go on")
    assert raised.value.exit_status == 130
