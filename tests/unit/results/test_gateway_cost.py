"""What the gateway costs: from pairs of arms that differ in `via` alone, told with its interval, and never guessed."""

import io
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lanelab.analysis.results import export
from lanelab.analysis.results.gateway_cost import Cost, CostRow, cost
from lanelab.analysis.results.gateway_terms import terms
from lanelab.analysis.results.model import Arm, Cell, Failure, LinkCase, Run
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.analysis.statistics import MadeOn, compare
from lanelab.analysis.statistics.looks import looks
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.record.reasons import Reason
from tests.kit.made_run import Made, make_run
from tools.gateway_table import cost_table

NATIVE: JsonObject = {"protocol": "http/1.1", "tls": "off", "keepalive": True, "via": "browser"}
GATEWAY: JsonObject = {**NATIVE, "via": "gateway"}
SPDY = {**GATEWAY, "protocol": "spdy/3.1"}


def made(tmp_path: Path, arms: Mapping[str, Mapping[str, Any]], rounds: int = 7) -> Run:
    fails = lambda _trial, _attempt: False  # noqa: E731
    return read_run(make_run(tmp_path / "run", Made(arms=arms, rounds=rounds, fails=fails, noise=0.001)))


def shown(run: Run) -> str:
    out = Console(file=io.StringIO(), width=200)
    out.print(results_on_terminal(run))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


def test_each_pair_is_compared_round_by_round(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "spdy": SPDY, "by gateway": GATEWAY})
    rows = cost(run).rows
    assert [(row.cell.arm.name, row.native.name, row.cell.link.label) for row in rows] == [
        ("by gateway", "http", "10mbit 20ms"),
        ("by gateway", "http", "10mbit 100ms"),
    ]
    values = run.values()
    for row in rows:
        assert row.comparison
        assert row.comparison.n == 7
        native = next(cell for cell in run.cells if cell.group == row.cell.group and cell.arm.name == "http")
        differences = sorted(
            values[row.cell.number][number] - values[native.number][number] for number in values[native.number]
        )
        low, high = row.comparison.difference.low, row.comparison.difference.high
        assert low is not None
        assert high is not None
        assert differences[0] <= low <= row.comparison.difference.value <= high <= differences[-1]


def test_the_cost_is_told_with_its_interval(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    (first, _) = cost(run).sentences()
    assert first.startswith("by gateway (dummy, 10mbit 20ms): loads took less through the gateway: -")
    assert " ms (95% interval -" in first
    assert first.endswith("%) against http; n = 7.")
    assert "what the gateway costs" in shown(run)
    text = page(run)
    assert "<h2>What the gateway costs</h2>" in text
    assert ">by gateway<" in text
    (found, _) = export.results(run)["gateway_cost"]
    assert (found["arm"], found["native"], found["rounds"]) == ("by gateway", "http", 7)
    assert (found["left_out"], found["shown"]) == (0, True)
    assert found["difference_ms"]["low"] <= found["difference_ms"]["value"] <= found["difference_ms"]["high"]


def test_no_more_is_claimed_than_the_interval_carries() -> None:
    base = dict.fromkeys(range(7), 1000.0)
    told = {
        "costs": {n: 1010.0 + n for n in base},
        "no": {n: 1000.0 + (-1) ** n * (n + 1) for n in base},
        "less": {n: 990.0 - n for n in base},
    }
    assert sentence_of(base, told["costs"]) == (
        "one (dummy, lan): the gateway costs +13 ms (95% interval +11 to +15), +1.3% (95% interval +1.1% to +1.5%) "
        "against native; n = 7."
    )
    assert sentence_of(base, told["no"]).startswith("one (dummy, lan): no cost of the gateway is shown: +0.5 ms (95% ")
    assert sentence_of(base, told["less"]).startswith("one (dummy, lan): loads took less through the gateway: -13 ms (")


def test_few_rounds_say_so() -> None:
    five, one = dict.fromkeys(range(5), 1000.0), {0: 1000.0}
    said = sentence_of(five, {n: 1010.0 + n for n in five})
    assert "so far the gateway costs +12 ms (93.7% interval +10 to +14)" in said
    assert sentence_of(one, {0: 1010.0}) == (
        "one (dummy, lan): what the gateway costs is not known from one round: +10 ms, +1.0% against native; n = 1."
    )


def test_a_run_that_may_go_on_says_so_far(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    assert "so far" not in cost(run).sentences()[0]
    assert "so far loads took less" in cost(replace(run, state="stopped")).sentences()[0]


def test_rounds_that_two_machines_shared_are_told_apart_from_those_that_lack_a_trial() -> None:
    base = dict.fromkeys(range(9), 1000.0)
    own = {n: 1010.0 + n for n in range(8)}
    made_on = dict.fromkeys(base, 1), {n: 1 + (n < 2) for n in own}
    said = sentence_of(base, own, made_on)
    assert said.endswith("n = 6, 1 round with only one of the two and 2 rounds that two machines shared left out.")


def test_two_rounds_show_nothing() -> None:
    """Of equal arms, both go one way every other time."""
    said = sentence_of({0: 1000.0, 1: 1000.0}, {0: 1010.0, 1: 1012.0})
    assert said.startswith("one (dummy, lan): what the gateway costs is not known from 2 rounds: +11 ms (50% interval")


def test_a_run_that_may_have_looked_before_is_no_surer_of_the_cost(tmp_path: Path) -> None:
    arms = {"http": NATIVE, "by gateway": GATEWAY}
    planned = [(look.trials, look.alpha) for look in looks(8, 30)]
    options: dict[str, Any] = {"arms": arms, "rounds": 8, "fails": lambda _trial, _attempt: False, "noise": 0.01}
    alone = cost(read_run(make_run(tmp_path / "alone", Made(**options)))).rows[0].comparison
    watched = cost(read_run(make_run(tmp_path / "watched", Made(**options, looks=planned)))).rows[0].comparison
    assert alone
    assert watched
    assert (alone.difference.looks, watched.difference.looks) == (1, len(planned))
    for one, other in ((alone.difference, watched.difference), (alone.ratio, watched.ratio)):
        assert one.value == other.value
        assert one.low is not None
        assert other.low is not None
        assert other.low < one.low, "each look has spent part of what it may miss"


def test_a_cell_whose_link_is_refused_tells_no_cost(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    first = next(cell for cell in run.cells if cell.arm.name == "by gateway")
    lost = {"told_packets_down": 1000.0, "lost_packets_down": 100.0, "overflowed_packets_down": 0.0}
    trials = (
        replace(each, measures={**each.measures, **lost}) if each.cell.number == first.number else each
        for each in run.trials
    )
    assert [row.cell.link.label for row in cost(replace(run, trials=tuple(trials))).rows] == ["10mbit 100ms"]


def test_rounds_that_only_one_of_the_two_has_are_left_out_and_told(tmp_path: Path) -> None:
    """Their values are in neither median: a slow round of one would otherwise look like the cost."""
    fails = lambda trial, _attempt: trial in (1, 2 + 4)  # noqa: E731 - an arm in round 1, the other in round 2
    arms = {"http": NATIVE, "by gateway": GATEWAY}
    folder = make_run(
        tmp_path / "run", Made(arms=arms, rounds=7, fails=fails, retries=0, links=({"rtt": "20ms"},), noise=0.2)
    )
    run = read_run(folder)
    values = run.values()
    (native,) = [values[cell.number] for cell in run.cells if cell.arm.name == "http"]
    (through,) = [values[cell.number] for cell in run.cells if cell.arm.name == "by gateway"]
    both = native.keys() & through.keys()
    left_out = len(native.keys() ^ through.keys())
    assert left_out == 2
    (row,) = cost(run).rows
    assert row.native_ms == statistics.median(native[number] for number in both)
    assert row.gateway_ms == statistics.median(through[number] for number in both)
    assert cost(run).sentences()[0].endswith(f"n = {len(both)}, 2 rounds with only one of the two left out.")
    assert "2 rounds with only one of the two left out" in page(run)
    assert export.results(run)["gateway_cost"][0]["left_out"] == 2


# --- what it is made of

LOAD = {"plt_ms": 500.0, "start_lag_ms": 20.0, "start_lag_6_ms": 60.0, "turnaround_ms": 1.5, "requests": 25.0,
        "connections_used": 6.0}  # fmt: skip


def loads(count: int = 7, **more: float) -> dict[int, dict[str, float]]:
    """Natively by default; `more` is added to each measure."""
    return {n: {name: value + more.get(name, 0) + n for name, value in LOAD.items()} | {
        "requests": 25.0, "connections_used": 6.0, "turnaround_ms": 1.5 + more.get("turnaround_ms", 0),
    } for n in range(count)}  # fmt: skip


def test_a_late_start_and_a_quick_turnaround_are_set_off_against_each_other() -> None:
    """24 requests after the page on 6 connections: each of these turns round three times."""
    found = terms(loads(), loads(plt_ms=5.5, start_lag_ms=8, start_lag_6_ms=10, turnaround_ms=-1.5))
    assert found
    assert list(found.medians["start_lag_6_ms"]) == [63, 73]
    assert found.together.value == pytest.approx(10 - 3 * 1.5)
    assert found.left.value == pytest.approx(0)
    assert found.agree
    assert "turnaround 0.0 ms (natively 1.5)" in found.sentence()
    assert "the two terms explain it" in found.sentence()


def test_what_the_terms_do_not_explain_is_told() -> None:
    found = terms(loads(), loads(plt_ms=40, start_lag_6_ms=10))
    assert found
    assert found.left.value == pytest.approx(30)
    assert not found.agree
    assert "leave +30 ms (95% interval +30 to +30): the two terms do not explain it" in found.sentence()


def test_a_connection_that_carries_all_at_once_has_the_start_alone() -> None:
    def multiplexed(more: float) -> dict[int, dict[str, float]]:
        return {n: {k: v for k, v in each.items() if k != "turnaround_ms"} for n, each in loads(
            plt_ms=more, start_lag_6_ms=more).items()}  # fmt: skip

    found = terms(multiplexed(0), multiplexed(4))
    assert found
    assert (found.together.value, found.left.value) == (4, 0)
    assert "turnaround" not in found.medians


def without(trials: Mapping[int, Mapping[str, float]], name: str) -> dict[int, dict[str, float]]:
    return {number: {key: value for key, value in each.items() if key != name} for number, each in trials.items()}


def test_only_what_both_loads_have_is_set_off_against_each_other() -> None:
    """The sixth request's lag against the first's would look as if the gateway had saved 40 ms."""
    found = terms(loads(), without(loads(start_lag_ms=8), "start_lag_6_ms"))
    assert found
    assert found.together.value == pytest.approx(8)
    assert terms(loads(), without(loads(), "turnaround_ms")) is None


def test_loads_without_the_measures_have_no_terms() -> None:
    assert terms({1: {"plt_ms": 500.0}}, loads()) is None
    assert terms({}, loads()) is None
    assert terms(without(loads(), "requests"), loads()) is None
    one = terms(loads(1), loads(1))
    assert one
    assert one.agree is None


def test_the_terms_are_in_report_export_and_result(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    measured = [replace(each, measures={**each.measures, **LOAD, "plt_ms": each.measures["plt_ms"]})
                for each in run.trials]  # fmt: skip
    run = replace(run, trials=tuple(measured))
    assert "After the page, and after an answer: 1st request 20.0 ms" in " ".join(shown(run).split())
    assert ">turnaround</th>" in page(run)
    (found, _) = export.results(run)["gateway_cost"]
    assert found["terms"]["medians_ms"]["start_lag_6_ms"] == {"native": 60, "gateway": 60}
    assert found["terms"]["together_ms"]["value"] == 0


def sentence_of(
    base: Mapping[int, float], own: Mapping[int, float], made_on: tuple[MadeOn, MadeOn] | None = None
) -> str:
    arm, native = Arm(1, "one", GATEWAY), Arm(2, "native", NATIVE)
    cell = Cell(1, "0", "dummy", LinkCase(1, "lan", {}), arm)
    row = CostRow(cell, native, None, None, compare(base, own, machines=made_on))
    (said,) = Cost(("one",), True, (row,)).sentences()
    return said


@pytest.mark.parametrize(
    ("arms", "says"),
    [
        (
            {"http": NATIVE, "spdy": SPDY},
            "Some arms go through the gateway, so they cannot be compared with the others",
        ),
        ({"by gateway": GATEWAY, "spdy": SPDY}, "All arms go through the gateway, so it is in each of them"),
        ({"tls": {**NATIVE, "tls": "1.3"}, "by gateway": GATEWAY}, "was not measured in this run"),
    ],
    ids=["some", "all", "no pair"],
)
def test_without_a_pair_it_is_said_to_be_unknown(
    tmp_path: Path, arms: Mapping[str, Mapping[str, Any]], says: str
) -> None:
    run = made(tmp_path, arms, rounds=1)
    (sentence,) = cost(run).sentences()
    assert says in sentence
    assert "experiments/gateway-cost.yaml" in sentence
    assert "What the gateway costs" in page(run)
    assert says[:30] in shown(run)


def test_nothing_is_said_where_nothing_goes_through_it(tmp_path: Path) -> None:
    """Nor of runs from before there was a gateway."""
    run = made(tmp_path, {"http": NATIVE, "old": {"protocol": "http/1.1", "tls": "1.3"}}, rounds=1)
    assert cost(run).sentences() == []
    assert "gateway" not in shown(run)
    assert "What the gateway costs" not in page(run)


def test_a_pair_without_a_common_round_is_not_compared(tmp_path: Path) -> None:
    fails = lambda trial, _attempt: trial % 2 == 0  # noqa: E731 - each second trial: those of one arm
    folder = make_run(
        tmp_path / "run", Made(arms={"http": NATIVE, "by gateway": GATEWAY}, rounds=1, fails=fails, retries=0)
    )
    run = read_run(folder)
    assert [row.comparison for row in cost(run).rows] == [None, None]
    assert "against http: no round has both, so the gateway's cost is not known" in cost(run).sentences()[0]
    assert "no round has both" in page(run)


def test_where_both_timed_out_in_each_round_it_says_that(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    late = (Failure(Reason.TIMEOUT, ""),)
    trials = (replace(each, ok=False, value=None, measures={}, failures=late) for each in run.trials)
    (said, _) = cost(replace(run, trials=tuple(trials))).sentences()
    assert said.endswith(": both timed out in each round that has both, so the gateway's cost is not known.")


def test_a_document_gets_a_row_for_each_pair_with_its_conditions(tmp_path: Path) -> None:
    run = made(tmp_path, {"http": NATIVE, "by gateway": GATEWAY})
    measured = [replace(each, measures={**LOAD, **each.measures, "load": 0.5}) for each in run.trials]
    (session,) = run.sessions
    known = replace(session, provenance={**session.provenance, "machine": {"processors": 2}})
    head, _, first, _ = cost_table([replace(run, trials=tuple(measured), sessions=(known,))]).splitlines()
    cells = dict(zip(head.strip("| ").split(" | "), first.strip("| ").split(" | "), strict=True))
    assert (cells["date"], cells["processors"]) == (run.created_utc[:10], "2")
    assert (cells["load"], cells["site"], cells["n"]) == ("0.5 to 0.5", "dummy", "7")
    assert cells["turnaround"] == "1.5 / 1.5"
    assert cells["the two terms"].startswith("+0.0 (")
