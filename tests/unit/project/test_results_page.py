"""The page of what published works said is that of the kept results, and those of a figure are of its newest run."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from tests.kit.made_study import make_study_run, study
from tools.kept_results import all_results, keep, merged, read_results, results_of
from tools.results_page import PAGE, known_studies, page_text


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study_run(tmp_path_factory.mktemp("runs") / "whole")


@pytest.fixture(scope="module")
def second_figure(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_study_run(tmp_path_factory.mktemp("runs") / "later", begun=[2])


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
    text = page_text([results_of(whole)], [reworded])
    assert "| 1 | H2 makes pages slower |  | not checked | not kept |" in text


def test_the_page_says_what_changed_since(whole: Path) -> None:
    assert "Of figure 1, 2 the experiment was changed since." in page_text([results_of(whole)], [study()])


def test_the_page_says_what_was_measured_and_what_was_not(whole: Path) -> None:
    kept = results_of(whole)
    text = page_text([kept], [study()])
    of_first = next(line for line in text.splitlines() if line.startswith("| 1 | H2 makes pages faster"))
    check = kept["checks"][0]
    assert check["measured"] in of_first
    assert f"**{check['verdict']}**" in of_first
    assert of_first.endswith("| not kept |"), "of the second variant"
    assert "| 3 | Users are happier |  | not checked | not kept |" in text
    assert "figures 1, 2: " in text
