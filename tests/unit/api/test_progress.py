"""What is shown of a run on one bed while it goes on."""

import pytest

from lanelab.driver.api.progress import Progress
from lanelab.driver.cli.progress import watching
from lanelab.driver.record.metrics import PAGE_LOAD, primary_of
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.run.events import Event, LinkTested, RunBegun, class_of_trial

PRIMARY = primary_of(PAGE_LOAD)
WRONG = "rate down is 7.1 Mbit/s instead of 10 Mbit/s; " * 8


def trial(number: int, *reasons: str, wall_s: float = 2.0) -> Event:
    failures = tuple(Failure(Reason(reason), "the link is not what was asked for") for reason in reasons)
    named = ("dummy", "slow", "HTTP", number, number, 1)
    return class_of_trial(reasons)(*named, "plt_ms", 1000.0, wall_s, failures)


def self_test(*, passed: bool, load: float = 13.2, accepted: bool = False, link: str = "slow") -> Event:
    return LinkTested(link, "before", passed, "" if passed else WRONG, (), accepted, load, 2)


def told(capsys: pytest.CaptureFixture[str], *events: Event) -> list[str]:
    with watching(as_json=False) as tell:
        for event in (RunBegun("runs/x", 7, 12, 0, 6, PAGE_LOAD), *events):
            tell(event)
    begun, *lines = capsys.readouterr().err.splitlines()
    assert begun == "lanelab: run folder runs/x, seed 7"
    return lines


def test_a_refused_link_is_one_line_for_all_its_trials_and_rounds(capsys: pytest.CaptureFixture[str]) -> None:
    refused = [trial(number, "link-out-of-tolerance", wall_s=0.01) for number in range(1, 7)]
    (line,) = told(capsys, self_test(passed=False), *refused[:3], self_test(passed=False), *refused[3:])
    assert "this machine is busy: load 13 on 2 processors" in line
    assert "`--accept-links` shows the effect all the same" in line
    assert len(line) < 350


def test_a_link_that_passes_later_is_told_and_one_that_fails_then_too(capsys: pytest.CaptureFixture[str]) -> None:
    lines = told(capsys, *(self_test(passed=passed) for passed in (False, True, False, False)))
    assert ["NOT" in line for line in lines] == [True, False, True]


def test_an_idle_machine_is_not_called_busy_and_an_accepted_link_is_not_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    idle, accepted = told(capsys, self_test(passed=False, load=0.2), self_test(passed=False, accepted=True, link="b"))
    assert "busy" not in idle
    assert "made all the same (--accept-links)" in accepted
    assert "shows the effect" not in accepted


def test_trials_that_fail_for_themselves_are_told_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(told(capsys, trial(1, "timeout"), trial(2, "timeout", "link-out-of-tolerance"))) == 2


def test_refused_trials_say_nothing_of_how_long_the_others_take() -> None:
    counter = Progress(12, 0, PRIMARY)
    for number in range(1, 7):
        counter.see(trial(number, "link-out-of-tolerance", wall_s=0.01))
    assert (counter.eta, counter.refused, counter.failed) == ("?", 6, 0)
    counter.see(trial(7))
    assert counter.eta == "22 s"
    counter.see(trial(8, "link-out-of-tolerance", wall_s=0.01))
    assert counter.eta == "22 s"
