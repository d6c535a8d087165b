"""Tables, export and report of runs that were made up."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from lanelab.analysis.results import export, export_tables, numbers, tables
from lanelab.analysis.results.charts import chart
from lanelab.analysis.results.drawing import draw
from lanelab.analysis.results.export_files import write_files
from lanelab.analysis.results.layout.model import Words
from lanelab.analysis.results.model import Figure
from lanelab.analysis.results.pooled_places import pooled
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.cells import columns
from lanelab.analysis.results.sections.findings import findings, warnings
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.analysis.results.sections.seen import Seen
from lanelab.analysis.results.trial_table import trial_section
from lanelab.driver.base.errors import StoreError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import artifact_path, each_series
from lanelab.driver.run.folder.trial_records import read_record
from tests.kit.changed_run import changing
from tests.kit.made_run import ARMS, Made, make_run
from tests.kit.report_pages import EVIL, Parsed

MADE: dict[str, Callable[[], Made]] = {
    "quick": lambda: Made(rounds=8),
    "one cell": lambda: Made(links=[{"rtt": "40ms"}], arms={"h2": ARMS["h2"]}, rounds=1, figures=()),
    "failures": lambda: Made(fails=lambda _trial, _attempt: True, rounds=1, retries=0),
    "nothing": lambda: Made(rounds=0, state="running"),
    "evil": lambda: Made(
        name=EVIL, description=EVIL, arms={EVIL: {}, "b": {}}, text=EVIL, detail=EVIL, rounds=2,
        figures=[{"title": EVIL, "x": "rtt", "y": "plt", "series": "arm", "kind": "line"}],
    ),
    "no requests": lambda: Made(rounds=1, with_requests=False),
    "sites": lambda: Made(sites=("a", "b"), rounds=2, figures=()),
}  # fmt: skip


@pytest.fixture(scope="module", params=MADE)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", MADE[request.param]())


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "quick", Made(rounds=8))


def test_the_page_is_whole_and_asks_nothing_of_anyone(folder: Path) -> None:
    text = page(read_run(folder))
    found = Parsed(text)
    assert found.open == []
    assert not {"link", "img", "iframe", "object"} & set(found.tags)
    assert found.tags.count("script") == 1
    assert "script-src 'sha256-" in text.replace("&#x27;", "'")
    assert all(link.startswith("#") for link in found.links)
    assert found.styles == []
    assert "default-src 'none'" in text.replace("&#x27;", "'")
    assert "@import" not in text
    assert "url(http" not in text
    assert text.isprintable() or not re.search(r"[\x00-\x08\x0b-\x1f]", text)
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_the_same_run_gives_the_same_page(quick: Path) -> None:
    assert page(read_run(quick)) == page(read_run(quick))


def test_the_page_tells_what_matters(quick: Path) -> None:
    text = page(read_run(quick))
    for words in ("h2 was faster than http in both comparisons", "router-stopped", "AMD EPYC 7B13", "links: {rate"):
        assert words in text
    assert "<title>dummy, 10mbit 20ms, http: median" in text.replace("\u200b", "")


def test_a_run_without_trials_that_count_says_so(tmp_path: Path) -> None:
    failures = make_run(tmp_path / "f", MADE["failures"]())
    assert "every one failed" in page(read_run(failures))
    assert "No trial has been made yet" in page(read_run(make_run(tmp_path / "n", MADE["nothing"]())))


@pytest.mark.parametrize(
    ("links", "rounds", "said"),
    [
        (1, 1, "Too few rounds to compare h2 with http: 1 round."),
        (1, 2, "Too few rounds to compare h2 with http: 2 rounds."),
        (2, 2, "Too few rounds to compare h2 with http, in any of 2 comparisons."),
    ],
)
def test_too_few_rounds_are_not_called_no_difference(tmp_path: Path, links: int, rounds: int, said: str) -> None:
    made = Made(links=Made().links[:links], rounds=rounds, fails=lambda _trial, _attempt: False)
    run = read_run(make_run(tmp_path / "run", made))
    rows, compared = tables.rows(run), tables.comparisons(run)
    assert said in findings(run, rows, compared, pooled(run))
    assert not any(
        "no difference" in each
        for each in [*findings(run, rows, compared, pooled(run)), *warnings(run, rows, compared)]
    )


def test_the_terminal_shows_every_run(folder: Path) -> None:
    out = Console(file=io.StringIO(), width=200)
    out.print(results_on_terminal(read_run(folder)))


def test_the_table_has_each_cell(quick: Path) -> None:
    rows = tables.rows(read_run(quick))
    assert len(rows) == 8
    assert {row.ok for row in rows} == {8}
    http, h2 = rows[4], rows[7]
    assert http.summary is not None
    assert h2.summary is not None
    assert http.summary.median > h2.summary.median
    assert (http.medians["connections"], h2.medians["connections"]) == (24, 1)
    bound = http.medians["bound_ms"]
    assert bound is not None
    assert http.ratio == http.summary.median / bound
    compared = [row for row in tables.comparisons(read_run(quick)) if row.cell.arm.name == "h2"]
    assert [row.comparison.verdict for row in compared if row.comparison] == ["faster", "faster"]


def test_the_median_trial_is_the_middle_one(quick: Path) -> None:
    trials = next(iter(read_run(quick).by_cell().values()))
    found = tables.median_trial(trials)
    assert found is not None
    ordered = sorted(trial.value or 0 for trial in trials if trial.ok)
    assert found.value == ordered[3]
    assert tables.median_trial([]) is None


def test_csv_has_a_row_for_each_trial_and_each_request(quick: Path) -> None:
    run, file = read_run(quick), io.StringIO()
    assert export_tables.write_csv(export.trial_rows(run), file) == len(run.trials)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert rows[0]["rtt_ms"] == "20.0"
    assert rows[0]["arm.keepalive"] == "false"
    assert {row["status"] for row in rows} == {"ok", "failed"}
    assert sum(1 for _ in export.request_rows(run)) == 24 * len(run.trials)


def test_series_are_exported_point_by_point(quick: Path) -> None:
    run, file = read_run(quick), io.StringIO()
    assert export_tables.write_csv(export.series_rows(run), file) == 2 * len(run.trials)
    first, second, *_ = csv.DictReader(io.StringIO(file.getvalue()))
    assert [(row["trial"], row["series"], row["t_ms"], row["value"]) for row in (first, second)] == [
        ("1", "load", "0.0", "0.5"),
        ("1", "load", "100.0", "0.5"),
    ]
    (trial, *_) = export.everything(run)["trials"]
    assert trial["record"]["series"] == {"load": {"unit": "processes", "points": [[0.0, 0.5], [100.0, 0.5]]}}


def test_a_trial_that_is_stored_during_an_export_is_left_out(quick: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, whole = read_run(quick), each_series
    monkeypatch.setattr(export, "each_series", lambda folder: [*whole(folder), (10_000, "load", 0.0, 0.5)])
    assert len(export.everything(run)["trials"]) == len(run.trials)


@pytest.mark.parametrize(
    "words",
    [
        "run --resume {}",
        "show {}",
        "show {} --trial 1",
        "report {}",
        "export {} --format csv",
        "export {} --format har",
    ],
)
def test_every_command_says_the_same_of_a_run_of_another_format(tmp_path: Path, words: str) -> None:
    folder = make_run(tmp_path / "run", Made(rounds=1))
    with changing(folder) as database:
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
    with pytest.raises(StoreError) as refused:
        CliRunner().invoke(lanelab, words.format(folder).split(), catch_exceptions=False, standalone_mode=False)
    assert str(refused.value) == (
        f"the run in {folder} has format 1, and this lanelab reads format 6. "
        "Use the lanelab that made it, or make the run again"
    )


def test_parquet_has_types(quick: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    export_tables.write_parquet(export.trial_rows(read_run(quick)), tmp_path / "t.parquet")
    schema = pq.read_schema(tmp_path / "t.parquet")
    kinds = {name: str(schema.field(name).type) for name in ("started", "plt_ms", "bytes_down", "arm.keepalive", "arm")}
    assert kinds == {
        "started": "timestamp[ms, tz=UTC]", "plt_ms": "double", "bytes_down": "int64", "arm.keepalive": "bool",
        "arm": "string",
    }  # fmt: skip


def test_every_run_can_be_exported(folder: Path, tmp_path: Path) -> None:
    run = read_run(folder)
    export_tables.write_parquet(export.trial_rows(run), tmp_path / "t.parquet")
    export_tables.write_parquet(export.request_rows(run), tmp_path / "r.parquet")
    data = json.loads(json.dumps(export.everything(run, requests=True)))
    assert len(data["trials"]) == len(run.trials)
    exported = write_files(run, "har", tmp_path / "har", median=True)
    assert (len(exported.files), exported.lacking) == (sum(1 for row in tables.rows(run) if row.summary), 0)


@pytest.mark.parametrize(
    "words",
    ["show {}", "show {} --json", "show {} --trial 7", "show {} --trial 7 --json", "export {} --format csv",
     "export {} --format json", "export {} --format csv --requests",
     "export {} --format csv --series", "runs {}/..", "runs {}/.. --json",
     "report {} --output {}/out/r.html"],
)  # fmt: skip
def test_commands(quick: Path, words: str) -> None:
    found = CliRunner().invoke(lanelab, words.format(quick, quick).split(), catch_exceptions=False)
    assert found.exit_code == 0
    assert found.output
    if "json" in words:
        assert json.loads(found.stdout)


def test_the_record_of_a_trial_is_the_one_stored(quick: Path) -> None:
    found = CliRunner().invoke(lanelab, ["show", str(quick), "--trial", "7", "--json"], catch_exceptions=False)
    assert TrialRecord.from_json(json.loads(found.stdout)) == read_record(quick, 7)


def test_what_the_gateway_costs_comes_after_the_tables_and_where_there_is_something_to_say(tmp_path: Path) -> None:
    arms = {"a": {"via": "gateway"}, "b": {"via": "gateway"}}
    out = Console(file=io.StringIO(), width=200)
    with out.capture() as some:
        out.print(results_on_terminal(read_run(make_run(tmp_path / "some", Made(rounds=3, arms=arms)))))
    text = some.get()
    assert text.index("n = 3: the interval") < text.index("All arms go through the gateway")
    with out.capture() as none:
        out.print(results_on_terminal(read_run(make_run(tmp_path / "none", Made(rounds=0, arms=arms)))))
    assert "gateway" not in none.get()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("nothing", "No trial has been made yet."),
        ("failures", "None of 8 trials counts: every one failed. Nothing can be said about page load times."),
    ],
)
def test_a_run_of_which_nothing_counts_has_no_empty_tables(tmp_path: Path, kind: str, said: str) -> None:
    folder = make_run(tmp_path / "run", MADE[kind]())
    shown = CliRunner().invoke(lanelab, ["show", str(folder)], catch_exceptions=False).stdout
    assert said in " ".join(shown.split())
    assert not {"median", "against", "pseudo-median"} & set(shown.split())
    assert ("router-stopped 8" in shown) == (kind == "failures")
    text = page(read_run(folder))
    assert '<table class="results">' not in text
    assert 'id="comparisons"' not in text
    assert 'id="figures"' not in text


def test_a_trial_is_shown_with_what_it_is_and_what_is_missing_of_it(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", Made(rounds=1, arms={"clear": {"via": "gateway", "tls": "off"}}))
    (artifact_path(folder, 1, "page.har.gz")).unlink()
    found = CliRunner().invoke(lanelab, ["show", str(folder), "--trial", "1"], catch_exceptions=False)
    assert "trial 1: dummy, 10mbit 20ms, clear, round 1: ok" in found.stderr
    assert "the link had none" in " ".join(found.stdout.split())
    assert re.search(r"page\.har\.gz +missing", found.stdout)
    run = read_run(folder)
    bare = replace(run.trials[0], measures={})
    lost = trial_section(bare, TrialRecord.not_started("page_load", "", Reason.BED_LOST, "gone"), [])
    assert lost.parts == (Words("failed: bed-lost: gone", "warn"),)


def test_next_to_nothing_is_shown_as_such(tmp_path: Path) -> None:
    """A warm load may ask the link for a few bytes, or for none; then its bound is 0, and there is no ratio to it."""
    assert [numbers.kilobytes(value) for value in (None, 0, 12, 340, 9_960, 1_174_000)] == [
        "-", "0", "0.1", "0.3", "10.0", "1,174",
    ]  # fmt: skip
    assert [numbers.ratio(value) for value in (None, 1.084, 241.3)] == ["-", "1.08", "241"]
    assert [numbers.difference(value) for value in (-0.4, 3, -1230)] == ["-0.4", "+3.0", "-1,230"]
    folder = make_run(tmp_path / "run", Made(rounds=6, fails=lambda _trial, _attempt: False))
    with changing(folder) as database:
        names, own = "'bytes_down', 'connections', 'bound_ms'", "SELECT trial FROM trials WHERE cell = 2"
        database.execute(f"UPDATE measures SET value = 0 WHERE name IN ({names}) AND trial IN ({own})")  # noqa: S608
    run = read_run(folder)
    row = tables.rows(run)[1]
    assert (row.medians["bytes_down"], row.medians["connections"], row.ratio) == (0, 0, None)
    assert [column.of(row) for column in columns(Seen(run))[-3:]] == ["0", "0", "-"]
    assert chart(draw(run, Figure("T", "rtt", "bytes_down", "arm", "", "line"))) is not None
    assert "<td" in page(run)
