"""The library, by the run that comes with lanelab."""

import asyncio
import gzip
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import lanelab
from lanelab.analysis.results.medians import measure_named
from lanelab.analysis.results.tables import rows
from lanelab.driver.api.captures import packets_table
from lanelab.driver.api.sample import PACKED
from lanelab.driver.base.errors import CaptureError, InputError, MissingProgram
from lanelab.driver.base.paths import SOURCES
from lanelab.driver.trial.packets.key_log import key_log
from tests.kit import packet_tools

MOST_BYTES = 5_000_000
LOADED, HTTP2, FAILED = 2, 3, 10  # trials of the sample: of HTTP with its pictures, of HTTP/2, and one that failed
needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")


@pytest.fixture(scope="module")
def run() -> lanelab.Run:
    return lanelab.sample_run()


def test_it_is_small_real_and_has_what_pages_show(run: lanelab.Run) -> None:
    assert len(resources.files("lanelab.driver.api").joinpath(PACKED).read_bytes()) < MOST_BYTES
    assert (len(run.links), len(run.arms), run.state, run.missing) == (2, 3, "finished", ())
    assert all("client.pcapng.gz" in run.trial(trial.number).files() for trial in run.data.ok)


def test_trials_that_failed_are_in_the_table_with_their_reasons(run: lanelab.Run) -> None:
    table = {row["trial"]: row for row in run.trials().to_pylist()}
    assert len(table) == len(run.data.trials)
    assert (table[FAILED]["status"], table[FAILED]["failures"]) == ("failed", "browser-crashed")
    assert (table[LOADED]["status"], table[LOADED]["failures"], table[LOADED]["refused"]) == ("ok", "", "")
    assert (table[LOADED]["link.rtt"], table[LOADED]["arm.protocol"]) == ("100ms", "http/1.1")
    assert run.trial(FAILED).failures[0][0] == "browser-crashed"


def test_medians_are_those_of_show_and_say_what_they_leave_out(run: lanelab.Run) -> None:
    medians = run.median("plt").to_pylist()
    shown = rows(run.data)
    assert [row["plt_ms"] for row in medians] == [row.summary.median for row in shown if row.summary]
    assert [(row["trials"], row["left_out"]) for row in medians] == [(row.ok, row.failed) for row in shown]
    by_arm = run.median("plt_ms", by="arm").to_pylist()
    assert sum(row["left_out"] for row in by_arm) == len(run.data.failed) > 0


@pytest.mark.parametrize("metric", ["bytes_down", "retransmissions", "connections", "fcp", "lcp_settled"])
def test_medians_of_any_metric_are_those_of_show(run: lanelab.Run, metric: str) -> None:
    """Also of whole numbers, whose median may lie between two."""
    name = measure_named(run.data, metric)
    values: dict[int, list[float]] = {cell.number: [] for cell in run.cells}
    for trial in run.data.ok:
        values[trial.cell.number] += [trial.measures[name]] if name in trial.measures else []
    expected = [statistics.median(each) if each else None for each in values.values()]
    assert [row[name] for row in run.median(metric).to_pylist()] == expected


@needs_tshark
def test_what_tshark_does_not_take_is_named_in_its_words(run: lanelab.Run) -> None:
    trial = run.trial(LOADED)
    for wrong in ("foo.bar==1", "tcp.port=="):
        with pytest.raises(lanelab.InputError, match="tshark does not take '") as raised:
            trial.dissected(wrong)
        assert raised.value.key == "filter"
        assert "expression" in raised.value.what
        assert "^" not in raised.value.what
    with pytest.raises(lanelab.InputError, match=r"no such field: no\.such") as raised:
        trial.dissected(fields=["tcp.port", "no.such"])
    assert raised.value.key == "fields"
    assert trial.dissected("tcp", fields="tcp.port").column_names == ["number", "at_ms", "tcp.port"]


def test_a_filter_of_wiresharks_is_no_filter_of_packets(run: lanelab.Run) -> None:
    wrong: tuple[Any, ...] = ("tcp.port==80", pc.field("no_such") > 0, pc.field("payload") > "x")
    for each in wrong:
        with pytest.raises(lanelab.InputError) as raised:
            run.trial(LOADED).packets(filter=each)
        assert raised.value.key == "filter"


@needs_tshark
def test_fields_of_tshark_are_text_whatever_they_are_called(run: lanelab.Run) -> None:
    field = "tls.handshake.random_bytes"
    table = run.trial(HTTP2).dissected("tls.handshake.type == 1", fields=[field])
    assert all(isinstance(value, str) for value in table.column(field).to_pylist())
    assert run.trial(HTTP2).dissected("tcp.port == 1", fields=[field]).column_names == ["number", "at_ms", field]


@pytest.mark.parametrize("name", ["/etc/passwd", "../../run.sqlite", "../000002/page.har.gz", "none"])
def test_a_file_of_a_trial_is_one_of_its_own(run: lanelab.Run, name: str) -> None:
    with pytest.raises(InputError, match="has no file"):
        run.trial(HTTP2).file(name)


def test_packets_have_no_time_where_nobody_knows_when_the_page_was_asked_for(run: lanelab.Run) -> None:
    record = replace(run.trial(HTTP2).record(), evidence=None)
    capture = run.trial(HTTP2).file("client.pcapng.gz")
    assert set(packets_table(capture, record, None).column("at_ms").to_pylist()) == {None}


def test_a_cut_capture_is_not_one_without_keys(run: lanelab.Run) -> None:
    whole = gzip.decompress(run.trial(HTTP2).file("client.pcapng.gz").read_bytes())
    assert "CLIENT_TRAFFIC_SECRET_0" in key_log(whole)
    for broken in (whole[:60], whole[:-3], b"nothing at all"):
        with pytest.raises(CaptureError):
            key_log(broken)


def test_no_speed_index_is_nothing(run: lanelab.Run) -> None:
    values = run.trials().column("speed_index_ms").to_pylist()
    assert any(values)
    assert 0 not in values


def test_nothing_of_it_was_lost_and_nothing_says_where_on_a_machine_it_was_made(run: lanelab.Run) -> None:
    (verification,) = lanelab.verify(run.folder)
    assert not verification.wrong
    (session,) = run.data.sessions
    assert json.loads(json.dumps(session.provenance))["python"]["program"] == "build/env/bin/python"


def test_requests_and_series_are_tables(run: lanelab.Run) -> None:
    requests = run.requests()
    assert {"url", "wait_ms", "trial"} <= set(requests.column_names)
    assert len(requests.filter(pc.field("trial") == LOADED)) == len(run.trial(LOADED).record().requests)
    assert set(run.series("cpu_busy").column("series").to_pylist()) == {"cpu_busy"}


def test_comparisons_are_those_of_show(run: lanelab.Run) -> None:
    shown = [row for row in run.results()["comparisons"] if row["arm"] == "HTTP/2"]  # type: ignore[union-attr,index,call-overload]
    compared = run.compare("HTTP/2", "HTTP")
    assert compared.to_json() == shown
    assert [row["verdict"] for row in compared.table().to_pylist()] == ["slower", "slower"]
    assert "HTTP/2" in str(compared)
    assert "| HTTP/2 |" in compared.markdown()


def test_claims_have_verdicts(run: lanelab.Run) -> None:
    claims = run.claims()
    assert [str(judged.verdict) for judged in claims.judged] == ["reproduced", "not reproduced"]
    assert claims.table().column("claim").to_pylist() == ["keepalive-helps-far", "h2-helps-far"]
    assert "keepalive-helps-far" in str(claims)


def test_it_explains_one_arm_against_another(run: lanelab.Run) -> None:
    explanation = run.explain("HTTP", against="HTTP without keepalive")
    assert len(explanation.explained.differences) == 2
    assert "HTTP without keepalive" in str(explanation)
    assert run.explain(trial=LOADED).explained.outliers[0].trial.number == LOADED


@pytest.mark.parametrize(
    ("y", "kind"), [("change", None), *(("plt", kind) for kind in ("line", "bar", "box", "cdf", "heatmap", "parts"))]
)
def test_charts_are_what_the_schema_of_vega_lite_says(run: lanelab.Run, y: str, kind: str | None) -> None:
    """Altair holds them against it."""
    whole = run.chart(y=y, kind=kind).to_dict(validate=True)
    assert whole["$schema"].startswith("https://vega.github.io/schema/vega-lite")
    below: list[dict[str, object]] = next(
        (whole[key] for key in ("layer", "concat", "hconcat", "vconcat") if key in whole), []
    )
    assert any("mark" in each or "layer" in each or "spec" in each for each in (whole, *below))


def test_a_chart_says_what_it_shows(run: lanelab.Run) -> None:
    changes = run.chart(y="change", kind="line").to_dict()["title"]
    assert changes["text"] == "Change of page load time (%)"
    assert "HTTP/2 against HTTP" in changes["subtitle"][0]
    assert "HTTP against HTTP without keepalive" in changes["subtitle"][0]
    assert changes["subtitle"][1].endswith("n = 8 rounds")
    medians = run.chart(y="plt", kind="heatmap", title="Mine").to_dict()["title"]
    assert medians["text"] == "Mine"
    assert medians["subtitle"] == ["sample: Page load time (ms)", "medians, n = 8 trials a cell"]


def test_everything_shows_itself_in_notebooks(run: lanelab.Run) -> None:
    trial = run.trial(LOADED)
    shown = (run, trial, trial.page(), trial.filmstrip(), run.compare("HTTP/2", "HTTP"), run.claims())
    for each in shown:
        html = each._repr_html_()
        assert html.startswith("<iframe srcdoc=")
        assert "cricinfo" in html or each in shown[-2:]


def test_a_trial_has_its_har_and_its_pictures(run: lanelab.Run) -> None:
    trial = run.trial(LOADED)
    har = json.loads(json.dumps(trial.har()))
    assert len(har["log"]["entries"]) == len(trial.record().requests)
    assert len(trial.filmstrip().frames) > 1


def test_packets_are_those_that_the_trial_counted(run: lanelab.Run) -> None:
    packets = run.trial(LOADED).packets()
    page = run.trial(LOADED).record().page_load
    assert page
    assert len(packets) == page.packets["client"].packets
    up = run.trial(LOADED).packets(filter=pc.field("up"))
    assert 0 < len(up) < len(packets)
    assert set(up.column("up").to_pylist()) == {True}


def test_packets_of_all_trials_are_one_table(run: lanelab.Run) -> None:
    table = run.packets(filter=pc.field("payload") > 0)
    assert set(table.column("trial").to_pylist()) == {trial.number for trial in run.data.trials}
    of_one = table.filter(pc.field("trial") == LOADED)
    alone = run.trial(LOADED).packets(filter=pc.field("payload") > 0)
    assert of_one.select(alone.column_names).to_pylist() == alone.to_pylist()
    assert set(table.filter(pc.field("trial") == FAILED).column("status").to_pylist()) == {"failed"}


@needs_tshark
def test_dissected_packets_are_decrypted_also_within_a_running_loop(run: lanelab.Run) -> None:
    async def within() -> list[str]:
        table = run.trial(HTTP2).dissected("http2.headers.path", ["http2.headers.path"])
        return [path for paths in table.column("http2.headers.path").to_pylist() for path in paths.split(",")]

    paths = asyncio.run(within())
    assert sorted(paths) == sorted("/" + r.url.split("/", 3)[3] for r in run.trial(HTTP2).record().requests)


@needs_tshark
def test_a_capture_that_was_exported_opens_decrypted_without_a_setting(run: lanelab.Run, tmp_path: Path) -> None:
    exported = run.export_files("pcapng", tmp_path, median=True)
    assert exported.lacking == 0
    captures = [
        path for path in exported.files if path.suffix == ".pcapng" and path.with_suffix(".key_log.txt").exists()
    ]
    assert len(captures) == 2, "of HTTP/2 over each link"
    for capture in captures:
        command = ["tshark", "-r", str(capture), "-Y", "http2.headers.path", "-T", "fields", "-e", "http2.headers.path"]
        assert "/index.html" in subprocess.run(command, capture_output=True, text=True, check=True).stdout
        keys = capture.with_suffix(".key_log.txt").read_text()
        assert "CLIENT_TRAFFIC_SECRET_0" in keys
        assert keys == run.trial(int(capture.stem)).key_log()


def test_traces_are_exported_and_missing_ones_counted(run: lanelab.Run, tmp_path: Path) -> None:
    exported = run.export_files("trace", tmp_path)
    assert (len(exported.files), exported.lacking) == (1, len(run.data.ok) - 1)
    assert json.loads(exported.files[0].read_text())["traceEvents"]


@needs_tshark
def test_pyshark_works_within_a_running_loop() -> None:
    program = f"""
import asyncio, lanelab
async def within():
    packets = lanelab.sample_run().trial({HTTP2}).pyshark("http2.headers.path")
    print(len(packets), packets[0].http2.headers_path)
asyncio.run(within())
"""
    done = packet_tools.run(program)
    assert done.returncode == 0, done.stderr
    many, path = done.stdout.split()
    assert int(many) > 1
    assert path == "/index.html"


@needs_tshark
def test_without_pyshark_the_error_names_the_way_to_have_it(run: lanelab.Run) -> None:
    with pytest.raises(MissingProgram, match=r"requirements-packets\.lock"):
        run.trial(HTTP2).pyshark()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda run: run.median("ptl"), "metric: trials of this run have no 'ptl'. Did you mean plt?"),
        (lambda run: run.median("plt", by=["link.rt"]), "by: there is no column 'link.rt'"),
        (lambda run: run.compare("HTTP", "HTTP/3"), "to: the run has no arm 'HTTP/3'"),
        (lambda run: run.compare("HTTP", "HTTP/2"), "of: the experiment does not compare HTTP to HTTP/2"),
        (lambda run: run.series("cpu"), "name: no trial of this run has a series 'cpu'"),
        (lambda run: run.chart(x="loss"), "x: cells of this run do not differ in 'loss'"),
        (lambda run: run.chart(kind="pie"), "kind: there is no kind 'pie'"),
        (lambda run: run.trial(1000), "has no trial 1000"),
        (lambda run: run.trial(FAILED).file("x"), f"name: trial {FAILED} has no file x"),
        (lambda run: run.against(run), "other: "),
        (lambda run: run.explain(against="HTTP"), "arm: there is too much, or too little, to explain"),
        (lambda _: lanelab.grid(sites="dummy", rtt="20 minutes", arms={"a": {}}), "rtt: 'minutes'"),
        (lambda _: lanelab.grid(sites="dummy", rttt="20ms", arms={"a": {}}), "Did you mean rtt?"),
    ],
)
def test_errors_name_what_is_wrong(run: lanelab.Run, call: Callable[[lanelab.Run], object], says: str) -> None:
    with pytest.raises(lanelab.InputError) as refused:
        call(run)
    assert says in str(refused.value)


def test_a_run_that_is_copied_agrees_with_the_sample(run: lanelab.Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "copy")
    agreement = run.against(lanelab.open_run(tmp_path / "copy"), within="20%")
    assert agreement.verdict == "agree"
    assert json.dumps(agreement.to_json())


def test_reading_it_imports_nothing_that_makes_a_run() -> None:
    program = (
        "import sys, lanelab; lanelab.sample_run().trials(); "
        "print(*(name for name in sys.modules if name.startswith(('lanelab.driver.bed.n', 'selenium', 'distributed'))))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=SOURCES, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_pandas_reads_tables_where_it_is(run: lanelab.Run) -> None:
    pandas = pytest.importorskip("pandas")
    assert isinstance(run.trials().to_pandas(), pandas.DataFrame)
