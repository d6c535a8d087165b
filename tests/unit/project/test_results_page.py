"""The page of what published works said is that of the kept results, and those of a figure are of its newest run."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.run.study.read import StudyFolder
from lanelab.driver.run.study.study import Study
from tests.kit.made_study import OF_STUDY, make_study_run, study, with_copies
from tools.kept_results import KeptResults, all_results, keep, merged, read_results, results_of
from tools.results_page import PAGE, known_studies, page_text


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_copies(make_study_run(tmp_path_factory.mktemp("runs") / "whole"))


@pytest.fixture(scope="module")
def second_figure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_copies(make_study_run(tmp_path_factory.mktemp("runs") / "later", begun=[2]))


def as_it_is(about: Study | None = None, text: str = OF_STUDY) -> StudyFolder:
    """The study as its folder has it: each figure's experiment with that text."""
    about = about or study()
    return StudyFolder(about, Path("made-study"), {figure.number: text for figure in about.figures}, {})


def line_of_run(kept: KeptResults, now: StudyFolder) -> str:
    return next(line for line in page_text([kept], [now]).splitlines() if line.startswith("Run period"))


def test_the_page_is_that_of_the_kept_results() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert written == page_text(all_results(), known_studies()), "python -m tools.results_page writes it again"


def test_what_is_kept_has_each_check_of_each_figure(whole: Path) -> None:
    kept = results_of(whole)
    assert set(kept["figures"]) == {"1", "2"}
    assert {(check["figure"], check["statement"]) for check in kept["checks"]} == {(1, 1), (2, 1)}
    assert all(figure["trials"] > 0 and figure["run"] == "whole" for figure in kept["figures"].values())


def test_a_run_without_a_finished_figure_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no figure of .*nothing is finished"):
        results_of(make_study_run(tmp_path / "nothing", begun=[]))


def test_a_run_of_one_figure_replaces_what_is_kept_of_it_alone(
    whole: Path, second_figure: Path, tmp_path: Path
) -> None:
    (tmp_path / study().name).mkdir()
    keep(results_of(whole), tmp_path)
    kept = read_results(keep(results_of(second_figure), tmp_path))
    assert {number: figure["run"] for number, figure in kept["figures"].items()} == {"1": "whole", "2": "later"}
    assert kept["checks"] == merged(None, results_of(whole))["checks"]
    assert all_results(tmp_path) == [kept]


def test_an_older_run_replaces_nothing(whole: Path, second_figure: Path) -> None:
    new, old = results_of(second_figure), results_of(whole)
    new["figures"]["2"]["begun_utc"] = "2026-06-01T00:00:00+00:00"
    old["figures"]["2"]["begun_utc"] = "2026-01-01T00:00:00+00:00"
    for kept in (merged(new, old), merged(old, new)):
        assert kept["figures"]["2"]["run"] == "later"
        assert len(kept["checks"]) == 4, "two of each figure, once"


def test_a_verdict_is_of_the_words_that_it_was_given_for(whole: Path) -> None:
    about = study()
    reworded = replace(about, claims=(replace(about.claims[0], says="H2 makes pages slower"), *about.claims[1:]))
    text = page_text([results_of(whole)], [as_it_is(reworded)])
    assert "| 1 | H2 makes pages slower |  | not checked | not kept |" in text


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", "", ""),
        ("trials: 8", "trials: 8  # as then", ""),
        ("H2 is faster", "HTTP/2 makes pages faster", ""),
        ("sites: [dummy]", "name: another\ndescription: of a later day\nsites: dummy", ""),
        ("rate: 10mbit", "rate: 10000kbit", ""),
        ("trials: 8", "trials: 20", " Figures 1, 2: measured with fewer rounds, 8 instead of 20."),
        ("trials: 8", "trials: 6", " Figures 1, 2: measured with more rounds, 8 instead of 6."),
        ("rtt: 20ms", "rtt: 30ms", " Figures 1, 2: measured with other settings."),
        ("trials: 8", "trials: 8\ntimeout: 50s", " Figures 1, 2: measured with other settings."),
        ("expect: lower", "expect: higher", " Figures 1, 2: judged by other claims."),
    ],
)
def test_the_page_says_how_experiments_were_changed_since(whole: Path, before: str, after: str, said: str) -> None:
    """By what decides the numbers and the verdicts, and not by the words of the file."""
    line = line_of_run(results_of(whole), as_it_is(text=OF_STUDY.replace(before, after)))
    assert line.partition("flagged.")[2] == said


def test_of_results_that_were_kept_before_the_page_says_what_is_known(whole: Path) -> None:
    kept = results_of(whole)
    for figure in kept["figures"].values():
        del figure["decisive"]
    assert line_of_run(kept, as_it_is()).endswith("flagged.")
    told = "Figures 1, 2: the file was changed since, and nothing was kept that says whether in more than words."
    assert line_of_run(kept, as_it_is(text=f"{OF_STUDY}# more\n")).endswith(told)


def test_the_page_says_which_figure_is_not_there_any_more(whole: Path) -> None:
    now = as_it_is()
    now = replace(now, texts={1: OF_STUDY})
    assert line_of_run(results_of(whole), now).endswith(" Figure 2: the study does not have it any more.")


def test_the_page_says_what_was_measured_and_what_was_not(whole: Path) -> None:
    kept = results_of(whole)
    text = page_text([kept], [as_it_is()])
    of_first = next(line for line in text.splitlines() if line.startswith("| 1 | H2 makes pages faster"))
    check = kept["checks"][0]
    assert check["measured"] in of_first
    assert f"**{check['verdict']}**" in of_first
    assert of_first.endswith("| not kept |"), "of the second variant"
    assert "| 3 | Users are happier |  | not checked | not kept |" in text
    assert "figures 1, 2: " in text
