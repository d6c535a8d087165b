"""Predictions are fixed before the run, and a run judges those alone that it knows."""

import json
import shutil
from pathlib import Path
from unittest import mock

import pytest

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.run_folder import read_run
from lanelab.driver.base.clock import shifted, utc_now
from lanelab.driver.base.errors import ChangedError, InputError, StoreError
from lanelab.driver.lab import folder as lab_folder
from lanelab.driver.lab.folder import LabFolder, fix, open_lab
from lanelab.driver.lab.judging import CheckedLab, check_lab
from lanelab.driver.lab.sheet import SHEET, plain, seed_of, stamped, stamps_of
from tests.kit.made_lab import make_lab, store_lab_run, student_folder

ANSWERS = {"load": "1500", "faster": "lower", "share": "-20", "product": "86"}


@pytest.fixture
def described(tmp_path: Path) -> Path:
    make_lab(tmp_path / "described")
    return tmp_path / "described"


@pytest.fixture
def ada(described: Path, tmp_path: Path) -> LabFolder:
    return student_folder(described, tmp_path / "ada", "Ada", ANSWERS)


def run_of(folder: LabFolder, later_s: float = 1.0, rounds: int = 8) -> LabFolder:
    """Store a run that began so long after now."""
    store_lab_run(folder.run, folder.experiment.read_text(), created_utc=shifted(utc_now(), later_s), rounds=rounds)
    return folder


def verdicts(checked: CheckedLab) -> dict[str, Verdict]:
    return {one.question.name: one.verdict for one in checked.outcomes}


def test_a_run_judges_what_was_predicted_before_it(ada: LabFolder) -> None:
    checked = check_lab(run_of(ada))
    assert verdicts(checked)["load"] == Verdict.NOT_REPRODUCED
    assert verdicts(checked)["faster"] == Verdict.REPRODUCED
    assert verdicts(checked)["share"] == Verdict.REPRODUCED
    assert verdicts(checked)["product"] == verdicts(checked)["ping"] == Verdict.NOT_TESTED
    assert checked.doubts == ()
    words = [one.words for one in checked.outcomes]
    assert words[3] == "no run measures this; worked out it is 86 packets, as you said"
    assert words[4] == "nothing was predicted"


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ({"faster": "higher"}, Verdict.NOT_REPRODUCED),
        ({"faster": "same"}, Verdict.NOT_REPRODUCED),
        ({"share": "0"}, Verdict.NOT_REPRODUCED),
        ({"share": "-99%"}, Verdict.DIRECTION_ONLY),
        ({"load": "1 ms"}, Verdict.NOT_REPRODUCED),
    ],
)
def test_a_wrong_prediction_is_refuted(
    described: Path, tmp_path: Path, answers: dict[str, str], verdict: Verdict
) -> None:
    folder = student_folder(described, tmp_path / "ben", "Ben", answers)
    assert verdicts(check_lab(run_of(folder)))[next(iter(answers))] == verdict


def test_a_prediction_near_no_effect_may_reach_to_both_sides(described: Path, tmp_path: Path) -> None:
    folder = student_folder(described, tmp_path / "ben", "Ben", {"share": "-2%"})
    store_lab_run(folder.run, folder.experiment.read_text(), created_utc=shifted(utc_now(), 1), factors=(1.0, 1.0))
    assert verdicts(check_lab(folder))["share"] == Verdict.REPRODUCED


def test_too_few_rounds_judge_nothing(ada: LabFolder) -> None:
    checked = check_lab(run_of(ada, rounds=3))
    assert verdicts(checked)["faster"] == Verdict.NOT_TESTED
    assert "too few rounds: 3" in checked.outcomes[1].words


def test_an_edited_prediction_is_noticed(ada: LabFolder) -> None:
    run_of(ada)
    path = ada.path / SHEET
    path.write_text(path.read_text().replace("1500", "1200"))
    with pytest.raises(ChangedError, match="edited after they were fixed"):
        check_lab(ada)


def test_an_edited_prediction_with_its_digest_made_again_is_noticed(ada: LabFolder) -> None:
    run_of(ada)
    shutil.move(ada.run, ada.path / "aside")
    fix(ada, {**ANSWERS, "load": "1200"})
    shutil.move(ada.path / "aside", ada.run)
    with pytest.raises(ChangedError, match="began with other predictions"):
        check_lab(ada)
    kept = ada.run / "experiment.yaml"
    kept.chmod(0o644)
    kept.write_text(ada.experiment.read_text())
    with pytest.raises(StoreError, match=r"not the experiment that the run began with"):
        check_lab(ada)


def test_a_run_that_began_without_predictions_judges_none(described: Path, tmp_path: Path) -> None:
    folder = run_of(student_folder(described, tmp_path / "ben", "Ben"))
    with pytest.raises(InputError, match="nothing was predicted"):
        check_lab(folder)
    with pytest.raises(InputError, match="has begun"):
        fix(folder, ANSWERS)
    shutil.move(folder.run, folder.path / "aside")
    fix(folder, ANSWERS)
    with pytest.raises(ChangedError, match="began without predictions"):
        check_lab(folder, read_run(folder.path / "aside"))


def test_a_moved_clock_is_noticed(ada: LabFolder) -> None:
    run_of(ada, later_s=-60)
    with pytest.raises(ChangedError, match="A clock was moved"):
        check_lab(ada)


def test_predictions_of_the_future_are_noticed(described: Path, tmp_path: Path) -> None:
    with mock.patch.object(lab_folder, "utc_now", return_value=shifted(utc_now(), 3600)):
        folder = student_folder(described, tmp_path / "ben", "Ben", ANSWERS)
    run_of(folder, later_s=7200)
    with pytest.raises(ChangedError, match="which is still to come"):
        check_lab(folder)


def test_another_students_sheet_is_refused(ada: LabFolder, described: Path, tmp_path: Path) -> None:
    ben = student_folder(described, tmp_path / "ben", "Ben", {"load": "900"})
    shutil.copy(ada.path / SHEET, ben.path / SHEET)
    run_of(ben)
    with pytest.raises(ChangedError, match="are those of Ada, and the lab is Ben's"):
        check_lab(ben)


def test_a_copied_run_is_refused(ada: LabFolder, described: Path, tmp_path: Path) -> None:
    ben = student_folder(described, tmp_path / "ben", "Ben", {"load": "900"})
    shutil.copytree(run_of(ada).run, ben.run)
    with pytest.raises(ChangedError, match="the run is somebody else's"):
        check_lab(ben)


def test_one_run_may_judge_a_class(ada: LabFolder, described: Path, tmp_path: Path) -> None:
    ben = student_folder(described, tmp_path / "ben", "Ben", {"faster": "higher"})
    sheets = [sheet for folder in (ada, ben) if (sheet := folder.sheet())]
    text = stamped(ada.experiment.read_text(), 7, sheets)
    shared = store_lab_run(tmp_path / "shared", text, created_utc=shifted(utc_now(), 1))
    assert [verdicts(check_lab(folder, read_run(shared)))["faster"] for folder in (ada, ben)] == [
        Verdict.REPRODUCED,
        Verdict.NOT_REPRODUCED,
    ]
    assert check_lab(ada, read_run(shared)).doubts == ()


def test_another_seed_and_another_experiment_are_named(ada: LabFolder) -> None:
    sheet = ada.sheet()
    assert sheet
    text = stamped(ada.experiment.read_text().replace("trials: 8", "trials: 9"), 8, [sheet])
    store_lab_run(ada.run, text, created_utc=shifted(utc_now(), 1))
    doubts = " ".join(check_lab(ada).doubts)
    assert "somebody changed it" in doubts
    assert f"the seed 8, and not {sheet.seed}" in doubts


def test_students_have_seeds_of_their_own_and_predictions_may_be_fixed_again_before_the_run(
    ada: LabFolder, described: Path, tmp_path: Path
) -> None:
    ben = student_folder(described, tmp_path / "ben", "Ben")
    assert ada.enrolment.seed != ben.enrolment.seed
    assert seed_of(ada.experiment.read_text()) == ada.enrolment.seed
    first = ada.sheet()
    second = fix(ada, {"load": "1 s"})
    assert first
    assert first.digest != second.digest
    assert [stamp.digest for stamp in stamps_of(ada.experiment.read_text())] == [second.digest]
    assert plain(ada.experiment.read_text()) == plain((described / "experiment.yaml").read_text())


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({"load": "fast"}, "load: 'fast' is no number"),
        ({"load": "1,500"}, "may be read in two ways"),
        ({"load": "-5"}, "below 0. Write a number of 0 or more"),
        ({"load": "1 500 ms"}, "'1 500 ms' is no such number. Write a number, in ms / s"),
        ({"faster": "lowwer"}, "Did you mean lower"),
        ({"share": "-150"}, "Write it in percent, like -20%, and above -100%"),
        ({"product": "86 ms"}, "Write a number, in packets"),
        ({"laod": "5"}, "asks no 'laod'. Did you mean load"),
        ({"load": "  "}, "nothing is predicted"),
    ],
)
def test_what_is_no_answer_is_refused_in_words(ada: LabFolder, answers: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        fix(ada, answers)


def test_answers_are_kept_with_their_unit(ada: LabFolder) -> None:
    sheet = fix(
        ada, {"load": "1,5 s", "share": "\N{MINUS SIGN}8", "faster": "Longer", "product": "86", "ping": "0.05 s"}
    )
    assert sheet.answers == {
        "load": "1.5 s", "share": "-8%", "faster": "higher", "product": "86 packets", "ping": "0.05 s",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["lab.json", SHEET])
def test_a_damaged_file_is_an_error_in_words(ada: LabFolder, name: str) -> None:
    (ada.path / name).write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        check_lab(open_lab(ada.path))


def test_a_sheet_has_everything_that_its_digest_is_of(ada: LabFolder) -> None:
    data = json.loads((ada.path / SHEET).read_text())
    assert set(data) == {"format", "lab", "lab_sha256", "student", "seed", "answers", "fixed_utc", "sha256"}
