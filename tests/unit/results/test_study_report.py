"""The report of a study's run: the page, its tables for other programs."""

import csv
import html
import io
import re
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from rich.console import Console

from lanelab.analysis.results.claims.verdict import Verdict
from lanelab.analysis.results.layout.markdown import section_markdown, table_markdown
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Figure
from lanelab.analysis.results.sections.study import verdicts_section
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, judged_study
from lanelab.analysis.results.study.closing_sections import links_of, methods_section
from lanelab.analysis.results.study.data import write_data
from lanelab.analysis.results.study.figure_section import numbers_table
from lanelab.analysis.results.study.markdown import markdown, write_markdown
from lanelab.analysis.results.study.numbers import cell_numbers, figure_rows
from lanelab.analysis.results.study.page import study_page, write_study_report
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.study.study import Difference, PublishedClaim
from tests.kit.changed_run import change
from tests.kit.made_claims import LATE, made_run
from tests.kit.made_run import Made
from tests.kit.made_study import judged, make_study_run, study
from tests.kit.report_pages import EVIL, Parsed

EXPECTED = "On average at most 0.2 of these 4 verdicts are wrong by chance."


def verdicts(read: ReadStudyRun, verdict: Verdict = Verdict.REPRODUCED, *, changed: bool = False) -> JudgedStudy:
    found = {
        number: [judged(claim, verdict, changed=changed) for claim in run.claims]
        for number, run in read.runs.items()
        if run
    }
    return judged_study(read.about.study, found)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> ReadStudyRun:
    return read_study_run(make_study_run(tmp_path_factory.mktemp("study") / "run", about=study(3), begun=[1, 2]))


@pytest.fixture(scope="module")
def text(read: ReadStudyRun) -> str:
    return study_page(read, verdicts(read))


def test_the_page_is_whole_and_asks_nothing_of_anyone(text: str) -> None:
    found = Parsed(text)
    assert found.open == []
    assert not {"link", "img", "iframe", "object"} & set(found.tags)
    assert found.tags.count("script") == 1
    assert all(link.startswith("#") for link in found.links)
    assert found.styles == []
    assert "default-src 'none'" in html.unescape(text)
    assert "url(http" not in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {link.removeprefix("#") for link in found.links} <= {*ids}


def test_verdicts_come_first_and_provenance_last(text: str) -> None:
    order = re.findall(r'<section id="([\w-]+)">', text)
    first = ["verdicts", "figure-1", "figure-2", "figure-3"]
    assert order == [*first, "differences", "methods", "links", "failures", "provenance"]


def test_every_published_claim_is_there_with_its_verdicts_or_without_any(read: ReadStudyRun, text: str) -> None:
    for claim in read.about.study.claims:
        assert f"<b>{claim.number}. {claim.says}</b>" in text
        assert claim.note in text
    table = text[text.index('id="verdicts"') : text.index('id="figure-1"')]
    assert table.count("reproduced</b>") == 4
    assert table.count("not checked by what was measured so far") == 2
    assert "-33.0%, margin 10pp" in table
    assert "Slow start took most of it." in table
    assert EXPECTED in table
    assert "1 of 3 published claims checked, by 4 tests: 4 reproduced." in text


def test_p_values_hold_for_all_claims_together(read: ReadStudyRun) -> None:
    assert [each.adjusted_p for each in verdicts(read).all] == [pytest.approx(4 * 0.012)] * 4


def test_a_claim_that_was_edited_after_the_run_is_called_that(read: ReadStudyRun) -> None:
    table = study_page(read, verdicts(read, Verdict.INCONCLUSIVE, changed=True))
    assert "Changed after the run began" in table
    assert table.count("changed after the run</b>") == 4


def test_every_point_leads_to_its_trials(read: ReadStudyRun, text: str) -> None:
    for number in (1, 2):
        run = read.runs[number]
        assert run is not None
        for cell in run.cells:
            address = f"figure-{number}-cell-{cell.number}"
            assert f'<a href="#{address}"><path' in text
            body = text[text.index(f'<details id="{address}"') :]
            body = body[: body.index("</noscript>")]
            values = [trial.measures["plt_ms"] for trial in run.trials if trial.cell == cell]
            assert body.count('<td class="good">ok</td>') == 5
            assert len(re.findall(r'<td class="num">[\d,.]+ ms</td>', body)) == len(values)
            assert "the nearest to the median" in body
            assert "requests by time" in body  # the waterfall


def test_published_points_are_beside_what_was_measured(text: str) -> None:
    for words in ("http, 20ms: published as 1,600 ms", "h2, 100ms: published as 1,900 ms"):
        assert text.count(f"<title>{words}</title>") == 2  # once in each figure
    assert '<td class="num">1,600 ms</td>' in text


def test_a_figure_that_has_not_begun_says_so(text: str) -> None:
    part = text[text.index('id="figure-3"') : text.index('id="differences"')]
    assert "This figure has not been measured yet." in part
    assert "not finished: more will come" in text


def test_a_hostile_name_stays_text(tmp_path: Path) -> None:
    about = replace(
        study(), title=EVIL, source=EVIL, description=EVIL, claims=(PublishedClaim(1, EVIL, EVIL),),
        differences=(Difference(EVIL, EVIL, EVIL, EVIL),),
    )  # fmt: skip
    made = Made(name=EVIL, detail=EVIL, text=EVIL + "</noscript>", rounds=2)
    folder = make_study_run(tmp_path / "run", about=about, made=lambda _: made)
    for figure in study().figures:
        change(folder / f"figure-{figure.number}", "UPDATE failures SET reason = ?", EVIL + "</noscript>")
    read = read_study_run(folder)
    text = study_page(read, verdicts(read))
    found = Parsed(text)
    assert found.open == []
    assert found.tags.count("script") == 1
    assert "img" not in found.tags
    assert text.count("</noscript>") == found.tags.count("noscript")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_have_a_row_for_each_cell_and_each_place_of_a_claim(
    read: ReadStudyRun, tmp_path: Path, kind: str
) -> None:
    written = write_data(read, verdicts(read), tmp_path, "csv" if kind == "csv" else "parquet")
    assert [path.name for path in written] == [f"figure-1.{kind}", f"figure-2.{kind}", f"claims.{kind}"]
    figure, claims = (
        list(csv.DictReader(path.open())) if kind == "csv" else pq.read_table(path).to_pylist()
        for path in (written[0], written[-1])
    )
    assert len(figure) == 8
    first = figure[0]
    assert (first["arm"], float(first["published"]), int(first["n"])) == ("http", 1600, 5)
    assert float(first["low"]) <= float(first["median"]) <= float(first["high"])
    assert float(first["of_published"]) == pytest.approx(float(first["median"]) / 1600)
    assert float(figure[3]["change_percent"]) < 0  # h2 against http
    assert len(claims) == 8  # two of two places and two of one, and two that nobody checks
    assert [row["verdict"] for row in claims[-2:]] == ["not checked by what was measured so far"] * 2


def test_links_of_one_label_and_other_settings_are_told_apart(read: ReadStudyRun) -> None:
    """A label says what the links of one figure differ in: with 20 ms of two figures may go two rates."""
    assert [name for name, _ in links_of({number: run for number, run in read.runs.items() if run})] == [
        "10mbit 20ms",
        "10mbit 100ms",
    ]
    other = read.runs[2]
    assert other is not None
    slower = tuple(replace(link, settings={**link.settings, "rate": "2mbit"}) for link in other.links)
    both = replace(read, runs={**read.runs, 2: replace(other, links=slower)})
    said = " ".join(section_markdown(methods_section(both)))
    for name in ("10mbit 20ms (figure 1)", "10mbit 20ms (figure 2)", "2mbit"):
        assert name in said.replace("\\", "")


def test_what_timed_out_is_no_measured_time() -> None:
    """Its mark is drawn at the time that it had, and it took longer: nothing is said of how it compares."""
    run = made_run(lambda arm, rtt, number: LATE if arm == "a" and rtt == 20 and number <= 8 else 1000.0 + number)
    point = (("a", "20ms", 1600.0), ("b", "20ms", 1600.0))
    run = replace(run, figures=(Figure("", "rtt", "plt", published=point),))
    numbers = {each.cell.id: each for each in cell_numbers(run)}
    assert [numbers[cell].timed_out for cell in ("a20", "b20")] == [8, 0]
    assert numbers["a20"].of_published is None
    assert numbers["b20"].of_published == pytest.approx(1006.5 / 1600)
    lines = table_markdown(numbers_table([numbers["a20"], numbers["b20"]])).splitlines()
    assert "> 60,000 ms" in html.unescape(lines[-2].replace("\\", ""))
    assert "60,000" not in lines[-1]
    rows = {row["cell"]: row for row in figure_rows(1, run)}
    assert (rows["a20"]["timed_out"], rows["a20"]["of_published"], rows["a20"]["median"]) == (8, None, 60_000)
    mark = numbers["a20"].mark
    assert mark is not None
    assert "median > 60,000.0 ms" in mark.words


def test_pictures_lie_beside_the_text(read: ReadStudyRun, tmp_path: Path) -> None:
    written = write_markdown(read, verdicts(read), tmp_path, "svg")
    assert [path.name for path in written] == ["report.md", "figure-1.svg", "figure-2.svg"]
    assert "![Figure 1](figure-1.svg)" in written[0].read_text()
    assert written[1].read_text().startswith("<svg")


def test_the_report_judges_what_the_run_has(tmp_path: Path) -> None:
    """From the folder alone: claims that hold in made data, and one that was edited since."""
    folder = make_study_run(tmp_path / "run", begun=[1], made=lambda _: Made(rounds=8, beds=4))
    run = read_study_run(folder).runs[1]
    assert run is not None
    edited = [replace(run.claims[0], margin="20pp", low=0.47, high=0.87), run.claims[1]]
    as_it_was, since = (write_study_report(folder, tmp_path / name, against) for name, against in
                        (("was.html", None), ("since.html", {1: edited})))  # fmt: skip
    assert as_it_was.read_text().count("changed after the run</b>") == 0
    assert since.read_text().count("changed after the run</b>") == 1
    rows = re.findall(r'<td data-label="verdict"><b class="[a-z]+">([^<]+)</b>', as_it_was.read_text())
    assert rows[1] == "reproduced"  # one connection in every trial
    assert rows[0].startswith(("not reproduced", "direction only"))  # the made gain is far less than 33% at 20 ms


def test_the_command_writes_page_text_pictures_and_tables(tmp_path: Path) -> None:
    folder = make_study_run(tmp_path / "run", begun=[1])
    words = ["study", "report", str(folder), "--markdown", str(tmp_path / "paper"), "--data", "csv"]
    done = CliRunner().invoke(lanelab, words, catch_exceptions=False)
    assert done.exit_code == 0
    assert (folder / "report.html").read_text().startswith("<!doctype html>")
    names = {path.name for path in (tmp_path / "paper").iterdir()}
    assert names == {"report.md", "figure-1.svg", "figure-1.csv", "claims.csv"}
    assert "cannot be read" in done.stderr  # no study of that name is there to compare claims with


def test_figures_without_markdown_are_refused(tmp_path: Path) -> None:
    folder = make_study_run(tmp_path / "run", begun=[])
    done = CliRunner().invoke(lanelab, ["study", "report", str(folder), "--figures", "png"])
    assert isinstance(done.exception, InputError)
    assert "nothing without --markdown" in str(done.exception)


def test_links_that_were_out_of_tolerance_are_told_beside_the_verdicts(tmp_path: Path) -> None:
    """On a terminal, at the head of the page and in the text for a paper: a verdict rests on them."""
    folder = make_study_run(tmp_path / "run", about=study(2), begun=[1, 2])
    change(folder / "figure-2", "UPDATE self_tests SET passed = 0 WHERE link = 1")
    read = read_study_run(folder)
    judged = verdicts(read)
    (told,) = read.caveats()
    assert told.startswith("Figure 2: These links were out of tolerance and used all the same")
    assert told in html.unescape(study_page(read, judged)).partition("</header>")[0]
    assert "out of tolerance and used all the same" in markdown(read, judged, []).partition("## Published claims")[0]
    out = Console(width=200, record=True, file=io.StringIO())
    out.print(on_terminal([verdicts_section(judged, read.caveats())]))
    assert told[:100] in out.export_text()


def test_the_text_for_a_paper_has_margins_with_their_reasons_methods_and_self_tests(read: ReadStudyRun) -> None:
    """What the guide asks to be written beside a verdict."""
    said = markdown(read, verdicts(read), [])
    margins = said.partition("### What counts as reproduced")[2].partition("\n## ")[0]
    assert "H2 is 33% faster at every round trip | -33.0%, margin 10pp | read off by eye |" in margins
    for number in (1, 2):
        run = read.runs[number]
        assert run is not None
        assert f"figure {number} {run.claims_digest}" in margins
    methods = said.partition("\n## Methods\n")[2].partition("\n## ")[0]
    assert read.about.study.description in methods
    assert "| arm | " in methods
    assert "| keepalive |" in methods or "keepalive" in methods
    links = said.partition("\n## The links, measured\n")[2]
    assert "Figure 1: 2 of 2 self-tests within tolerance" in links
    assert "| link | property | target | measured | tolerated | unit | verdict |" in links


def test_a_margin_without_a_reason_is_said_to_have_none(read: ReadStudyRun) -> None:
    run = read.runs[1]
    assert run is not None
    bare = [judged(replace(claim, because="")) for claim in run.claims]
    assert "no reason is given" in markdown(read, judged_study(read.about.study, {1: bare}), [])
