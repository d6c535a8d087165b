"""Claims and comparisons as checks: what holds, what does not, what nobody can tell; for programs to decide by."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner, Result

import lanelab
from lanelab.analysis.results.claims.judge import judge
from lanelab.analysis.results.claims.rules import OPEN, REFUTED
from lanelab.analysis.results.claims.verdict import Judged, Verdict
from lanelab.driver.api.checks import Case, Check, Outcome, check_of_claims, outcome_of
from lanelab.driver.api.opened_run import open_runs
from lanelab.driver.cli.claims import claims
from lanelab.driver.cli.compare import compare
from tests.kit.made_claims import made_claim, made_run, with_effect
from tests.kit.made_run import Made, make_run

FAILING = "h2-helps-far"
KINDS = ("failure", "error", "skipped")


@pytest.fixture(scope="module")
def run() -> lanelab.Run:
    return lanelab.sample_run()


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., str]:
    arms = {"http": {"protocol": "http/1.1"}, "h2": {"protocol": "h2", "tls": "1.3"}}

    def make(name: str, **options: float) -> str:
        given = {"with_requests": False, "arms": arms, "rounds": 8, "fails": lambda _trial, _attempt: False, **options}
        return str(make_run(tmp_path / name, Made(**given)))  # type: ignore[arg-type]

    return make


def called(command: object, *words: object) -> tuple[int, Result]:
    result = CliRunner().invoke(command, [str(word) for word in words], standalone_mode=False)  # type: ignore[arg-type]
    if isinstance(result.exception, SystemExit):
        return int(str(result.exception.code)), result
    assert result.exception is None
    return 0, result


def counted(junit: str) -> dict[str, int]:
    """Count as a reader of JUnit XML does, and hold the counts against those that the file says."""
    (suite,) = Xml.fromstring(junit)  # noqa: S314 - written here
    tests = suite.findall("testcase")
    assert all(test.get("name") and test.get("classname") for test in tests)
    counts = {kind: sum(test.find(kind) is not None for test in tests) for kind in KINDS}
    said = {kind: int(suite.attrib[name]) for kind, name in zip(KINDS, ("failures", "errors", "skipped"), strict=True)}
    assert (counts, len(tests)) == (said, int(suite.attrib["tests"]))
    return counts


def judged_as(run: lanelab.Run, *verdicts: tuple[Verdict, str]) -> list[Judged]:
    one = run.claims().judged[0]
    return [replace(one, verdict=verdict, detail=detail) for verdict, detail in verdicts]


def test_claims_that_do_not_hold_have_a_status_of_their_own(run: lanelab.Run, tmp_path: Path) -> None:
    junit, page = tmp_path / "claims.xml", tmp_path / "claims.md"
    assert called(claims, run.folder)[0] == 0
    status, result = called(claims, run.folder, "--check", "--junit", junit, "--markdown", page)
    assert (status, counted(junit.read_text())) == (4, {"failure": 1, "error": 0, "skipped": 0})
    assert f"1 does not hold ({FAILING})" in result.stderr
    assert page.read_text().startswith("# claims of sample: does not hold\n")
    assert "it is 3.0 times too narrow" in page.read_text()  # what takes meaning from it
    assert "| verdict |" in page.read_text()


def test_files_alone_change_no_status(run: lanelab.Run, tmp_path: Path) -> None:
    assert called(claims, run.folder, "--junit", tmp_path / "claims.xml", "--json")[0] == 0
    assert counted((tmp_path / "claims.xml").read_text())["failure"] == 1


def test_what_allows_nothing_is_refused(run: lanelab.Run) -> None:
    with pytest.raises(lanelab.InputError, match="means nothing alone"):
        claims.main([str(run.folder), "--allow-inconclusive"], standalone_mode=False)


@pytest.mark.parametrize(
    ("verdict", "detail", "outcome"),
    [
        (Verdict.REPRODUCED, "", Outcome.HOLDS),
        (Verdict.DIRECTION_ONLY, REFUTED, Outcome.FAILS),
        (Verdict.DIRECTION_ONLY, OPEN, Outcome.INCONCLUSIVE),
        (Verdict.NOT_REPRODUCED, "", Outcome.FAILS),
        (Verdict.INCONCLUSIVE, "", Outcome.INCONCLUSIVE),
        (Verdict.NOT_TESTED, "too few trials", Outcome.UNTESTED),
    ],
)
def test_each_verdict_has_an_outcome(run: lanelab.Run, verdict: Verdict, detail: str, outcome: Outcome) -> None:
    assert outcome_of(judged_as(run, (verdict, detail))[0]) == outcome


def test_what_is_inconclusive_neither_holds_nor_fails(run: lanelab.Run) -> None:
    verdicts = judged_as(run, (Verdict.REPRODUCED, ""), (Verdict.INCONCLUSIVE, ""))
    check = check_of_claims(run.data, verdicts, ())
    assert (check.outcome, check.exit_status(), check.exit_status(allow_inconclusive=True)) == ("inconclusive", 3, 0)
    assert counted(check.junit()) == {"failure": 0, "error": 1, "skipped": 0}
    assert counted(check.junit(allow_inconclusive=True)) == {"failure": 0, "error": 0, "skipped": 1}


def test_a_failure_is_a_failure_whatever_else_is_open(run: lanelab.Run) -> None:
    verdicts = judged_as(run, (Verdict.INCONCLUSIVE, ""), (Verdict.NOT_REPRODUCED, ""))
    assert check_of_claims(run.data, verdicts, ()).exit_status(allow_inconclusive=True) == 4


def test_a_run_that_was_stopped_holds_nothing_for_good(run: lanelab.Run) -> None:
    stopped = replace(run.data, state="stopped")
    check = check_of_claims(stopped, judged_as(run, (Verdict.REPRODUCED, "")), ())
    assert (check.outcome, check.exit_status()) == ("not tested", 3)
    assert check.exit_status(allow_inconclusive=True) == 3, "nobody measured the rest"
    assert "the run has come to its end" in check.sentence()


def test_runs_that_agree_are_a_check_too(made: Callable[..., str], tmp_path: Path) -> None:
    same, slower = (made("a", noise=0.005), made("b", seed=8, noise=0.005)), made("c", seed=8, pace=1.2)
    assert called(compare, *same, "--check")[0] == 0
    junit = tmp_path / "compared.xml"
    status, result = called(compare, same[0], slower, "--check", "--junit", junit, "--markdown", tmp_path / "page.md")
    assert (status, counted(junit.read_text())["failure"] > 0) == (4, True)
    assert "do not hold" in result.stderr
    assert "differ by more than 5%" in junit.read_text()


def test_a_cell_without_trials_in_one_run_keeps_runs_from_agreeing(made: Callable[..., str]) -> None:
    first, other = open_runs([made("a", noise=0.005), made("b", seed=8, noise=0.005)])
    assert first.against(other).check().outcome == "holds"
    gone = {trial.cell.number for trial in other.data.trials[:1]}
    rest = tuple(trial for trial in other.data.trials if trial.cell.number not in gone)
    agreement = first.against(lanelab.Run(replace(other.data, trials=rest)))
    assert (agreement.verdict, agreement.check().exit_status()) == ("not told", 3)


def test_nothing_that_was_checked_is_not_a_success() -> None:
    assert Check("nothing", (), ()).exit_status() == 3


def test_any_name_can_be_written_as_xml() -> None:
    case = Case("a<b", "\x00 & \"'", Outcome.FAILS, "\x1b[31m]]>", "\ud800")
    assert counted(Check("<&>", (case,), ()).junit()) == {"failure": 1, "error": 0, "skipped": 0}


@pytest.mark.parametrize(
    ("effect", "sd", "status"), [(0.5, 0.01, 0), (0.95, 0.01, 0), (1.2, 0.01, 4), (1.0, 0.05, 3), (5.0, 0.01, 4)]
)
def test_a_budget_is_a_value_from_nothing_to_the_most(effect: float, sd: float, status: int) -> None:
    """As experiments/load-time-guard.yaml has them."""
    run = made_run(with_effect("value", effect, sd), claims=[made_claim("value", low=0.0, high=1.0, published=(0, 1))])
    assert check_of_claims(run, judge(run), ()).exit_status() == status


def test_a_run_whose_links_were_out_of_tolerance_passes_no_check_and_says_so_everywhere(run: lanelab.Run) -> None:
    tests = tuple(replace(test, passed=False) for test in run.data.self_tests)
    wrong = lanelab.Run(replace(run.data, self_tests=tests))
    check = check_of_claims(wrong.data, judged_as(run, (Verdict.REPRODUCED, "")), ())
    assert (check.outcome, check.exit_status(allow_inconclusive=True)) == ("not tested", 3)
    assert counted(check.junit(allow_inconclusive=True))["error"] >= 1
    assert "the run measured what was asked for" in check.sentence()
    for shown in (wrong.compare("HTTP/2", "HTTP"), wrong.claims()):
        for text in (str(shown), shown.markdown(), shown._repr_html_()):
            assert "out of tolerance" in text
    assert "out of tolerance" not in str(run.claims())


def test_what_one_run_lacks_or_has_otherwise_is_not_agreement(made: Callable[..., str]) -> None:
    first, other = open_runs([made("a", noise=0.005), made("b", seed=8, noise=0.005)])
    cells = other.data.cells[:-1]
    kept = tuple(trial for trial in other.data.trials if trial.cell in cells)
    pairs = tuple(pair for pair in other.data.plan.compared if all(cell in cells for cell in pair))
    fewer = lanelab.Run(replace(other.data, cells=cells, trials=kept, plan=replace(other.data.plan, compared=pairs)))
    renamed = [replace(cell, id=f"other {cell.id}") for cell in other.data.cells]
    unlike = lanelab.Run(replace(other.data, cells=tuple(renamed)))
    sequential = lanelab.Run(replace(other.data, plan=replace(other.data.plan, order="sequential")))
    for one, two, words in (
        (first, fewer, "only one of the runs has it"), (fewer, first, "only one of the runs has it"),
        (first, unlike, "settings are the same"), (first, sequential, "has no such comparison"),
    ):  # fmt: skip
        agreement = one.against(two)
        check = agreement.check()
        assert (agreement.verdict, check.exit_status(allow_inconclusive=True)) == ("not told", 3)
        assert words in check.junit()
