"""What a run lacks at its end: which cells, why, and whether going on helps."""

from pathlib import Path

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.missing import lacking
from lanelab.driver.experiment.schedule.results import Attempt, History
from lanelab.driver.run.missing import MOST_CELLS, Reasons, trials_missing
from tests.kit.experiments import SMALL, read

GOOD, FAILED, TIMED_OUT = Attempt(True, 100.0), Attempt(False), Attempt(False, timed_out=True)
REFUSED = Attempt(False, uses_retry=False)
FOLDER = Path("runs/made")


def sentences(experiment: Experiment, history: History, reasons: Reasons) -> list[str]:
    missing = trials_missing(experiment, history, reasons, FOLDER)
    assert missing is not None
    return missing.sentences


def test_what_retries_have_used_up_is_told_from_what_going_on_makes() -> None:
    experiment = read(f"{SMALL}trials: 2\nretries: 1\n")
    whole, used_up, refused, never = (cell.id for cell in experiment.cells)
    history = {
        (whole, 1): [FAILED, GOOD],
        (whole, 2): [GOOD],
        (used_up, 1): [FAILED, FAILED],
        (used_up, 2): [GOOD],
        (refused, 1): [GOOD],
        (refused, 2): [REFUSED, REFUSED, FAILED],
    }
    short = lacking(experiment, history)
    found = {one.cell.id: (one.counted, one.wanted, one.again) for one in short}
    assert found == {used_up: (1, 2, 0), refused: (1, 2, 1), never: (0, 2, 2)}
    told = sentences(experiment, history, {used_up: {"timeout": 2}})
    assert told[0] == "fewer than 2 trials count in 3 of 4 cells:"
    assert told[1] == f"  {short[0].cell.label}: 1 of 2 (timeout 2)"
    assert told[-2] == "3 trials are made by going on: lanelab run --resume runs/made"
    assert told[-1].startswith("the others are not tried again: lanelab show runs/made says what failed")


def test_a_whole_run_lacks_nothing() -> None:
    experiment = read(f"{SMALL}trials: 1\n")
    history = {(cell.id, 1): [GOOD] for cell in experiment.cells}
    assert lacking(experiment, history) == []
    assert trials_missing(experiment, history, {}, FOLDER) is None


def test_many_cells_are_not_all_listed() -> None:
    rtts = ", ".join(f"{number}ms" for number in range(1, 9))
    experiment = read(SMALL.replace("20ms, 100ms", rtts) + "trials: 1\n")
    told = sentences(experiment, {}, {})
    assert len(told) == 1 + MOST_CELLS + 2
    assert told[MOST_CELLS + 1] == "  and 6 more"
    assert told[-1] == "16 trials are made by going on: lanelab run --resume runs/made"


def test_a_cell_in_which_every_trial_timed_out_lacks_them_and_is_not_tried_again() -> None:
    experiment = read(f"{SMALL}trials: 2\n")
    first, *others = (cell.id for cell in experiment.cells)
    history = {(cell, number): [GOOD] for cell in others for number in (1, 2)}
    whole = {**history, (first, 1): [TIMED_OUT], (first, 2): [TIMED_OUT]}
    short = lacking(experiment, whole)
    assert [(one.cell.id, one.counted, one.again) for one in short] == [(first, 0, 0)]
    assert sentences(experiment, whole, {})[-1].startswith("they are not tried again")
