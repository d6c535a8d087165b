"""Two runs of one study side by side."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.sections.compare import comparison_markdown
from lanelab.analysis.results.study.claim_verdicts import StudyVerdict
from lanelab.analysis.results.study.compare import ClaimPair, StudyComparison, compare_studies
from lanelab.analysis.results.study.page import judge_study
from lanelab.analysis.results.study.run import read_study_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from tests.kit.made_run import Made
from tests.kit.made_study import claims, judged, make_study_run, study


def compared(first: Path, other: Path, figures: tuple[int, ...] = ()) -> StudyComparison:
    one, two = read_study_run(first), read_study_run(other)
    return compare_studies((one, judge_study(one)), (two, judge_study(two)), figures=figures)


def test_a_run_agrees_with_itself_in_every_claim_and_cell(tmp_path: Path) -> None:
    folder = make_study_run(tmp_path / "one", made=lambda _: Made(rounds=8))
    made = compared(folder, folder)
    assert made.all_agree
    assert [pair.name for pair in made.claims] == ["h2-faster-1", "connections-1", "h2-faster-2", "connections-2"]
    for figure in made.figures:
        assert figure.against is not None
        assert {row.verdict for row in figure.against.cells} == {"agree"}


def test_a_run_that_is_compared_with_itself_says_so(tmp_path: Path) -> None:
    folder, same = tmp_path / "one", tmp_path / "copy"
    make_study_run(folder, made=lambda number: Made(rounds=3, id=f"run {number}"))
    shutil.copytree(folder, same)
    made = compared(folder, same)
    assert made.caveats()[0].startswith("Both are one run")
    assert made.caveats()[0] in comparison_markdown(made)
    other = make_study_run(tmp_path / "other", made=lambda number: Made(rounds=3, id=f"other {number}"))
    assert not any("one run" in sentence for sentence in compared(folder, other).caveats())


def test_two_inconclusive_verdicts_agree_on_nothing() -> None:
    verdict = StudyVerdict(1, judged(claims(1)[0], Verdict.INCONCLUSIVE), None)
    pair = ClaimPair("made", "", 1, verdict, verdict)
    assert (pair.words, pair.agree) == ("inconclusive in both", False)


def test_a_slower_machine_shows_in_the_medians_and_too_few_trials_agree_with_nothing(tmp_path: Path) -> None:
    first = make_study_run(tmp_path / "one", made=lambda _: Made(rounds=8))
    slow = make_study_run(tmp_path / "two", made=lambda _: Made(rounds=8, pace=1.5, seed=9))
    made = compared(first, slow)
    against = made.figures[0].against
    assert against is not None
    assert {row.verdict for row in against.cells} == {"differ"}
    assert all(1.4 < row.ratio.value < 1.6 for row in against.cells)
    few = make_study_run(tmp_path / "three", made=lambda _: Made(rounds=1))
    pair = next(each for each in compared(first, few).claims if each.name == "h2-faster-1")
    assert pair.words == "not tested"
    assert not pair.agree


def test_what_was_not_measured_is_missing_and_counts_against_agreement(tmp_path: Path) -> None:
    first = make_study_run(tmp_path / "one", made=lambda _: Made(rounds=8))
    part = make_study_run(tmp_path / "two", begun=[1], made=lambda _: Made(rounds=8))
    made = compared(first, part)
    assert not made.all_agree
    assert made.outcome() == "Verdicts on 4 claims: 2 agree, 2 missing."
    assert made.figures[1].why_not == "not measured in the other run"
    assert compared(first, part, figures=(1,)).all_agree


def test_runs_of_different_studies_are_refused(tmp_path: Path) -> None:
    first = make_study_run(tmp_path / "one", begun=[1])
    other = make_study_run(tmp_path / "two", about=replace(study(), name="another"), begun=[1])
    with pytest.raises(InputError, match=r"is a run of the study made-study, and .* of another"):
        compared(first, other)


def test_the_page_says_that_nothing_is_paired_and_shows_both_sides(tmp_path: Path) -> None:
    first = make_study_run(tmp_path / "one", made=lambda _: Made(rounds=8))
    part = make_study_run(tmp_path / "two", begun=[1], made=lambda _: Made(rounds=8, seed=3))
    page = comparison_markdown(compared(first, part))
    assert "nothing is paired between them" in page
    assert "| 1 | H2 is 33% faster at every round trip |" in page
    assert "Not compared: not measured in the other run." in page


def test_the_command_prints_tables_json_and_markdown(tmp_path: Path) -> None:
    first = make_study_run(tmp_path / "one", made=lambda _: Made(rounds=8))
    other = make_study_run(tmp_path / "two", made=lambda _: Made(rounds=8, seed=3))
    page = tmp_path / "both.md"
    words = ["study", "compare", str(first), str(other)]
    shown = CliRunner().invoke(lanelab, [*words, "--markdown", str(page)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert "Figure 2. Load times, part 2" in shown.output
    assert "two runs compared" in page.read_text()
    data = json.loads(CliRunner().invoke(lanelab, [*words, "--json"], catch_exceptions=False).stdout)
    assert [claim["told"] for claim in data["claims"]] == ["agree"] * 4
    assert data["figures"][0]["compared"]["cells"][0]["ratio"]["value"] > 0
