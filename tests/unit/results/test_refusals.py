"""Cells whose pooled losses contradict their link."""

import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.analysis.results import links, tables
from lanelab.analysis.results.layout.page import on_page
from lanelab.analysis.results.model import Failure, Trial
from lanelab.analysis.results.refusals import (
    ALPHA,
    Pooled,
    PooledRuns,
    at_least,
    at_most,
    contradicting,
    contradicting_runs,
    contradiction,
    interval,
    refusals,
    sound_trials,
)
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.links import proofs_section
from lanelab.analysis.results.sections.seen import Seen
from lanelab.driver.link import Direction, Link
from tests.kit.made_run import Made, make_run


def asked(**settings: object) -> Direction:
    return Link.parse({"rtt": "20ms", "rate": "10mbit", **settings}).down


def told(lost: int, of: int, *, overflowed: int = 0, trials: int = 12) -> Pooled:
    return Pooled(trials, of, lost, overflowed)


@pytest.mark.parametrize(("events", "trials", "share"), [(0, 10, 0.3), (3, 10, 0.3), (10, 10, 0.9), (7, 40, 0.05)])
def test_tails_are_those_of_the_binomial(events: int, trials: int, share: float) -> None:
    terms = [math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(trials + 1)]
    assert at_most(events, trials, share) == pytest.approx(sum(terms[: events + 1]))
    assert at_least(events, trials, share) == pytest.approx(sum(terms[events:]))


def test_the_interval_is_that_of_clopper_and_pearson() -> None:
    """The rule of three, exactly: none of 100 at 5% on each side."""
    assert interval(0, 100, 0.05) == pytest.approx((0.0, 1 - 0.05 ** (1 / 100)))
    low, high = interval(5, 100, 0.025)
    assert (low, high) == pytest.approx((0.0164, 0.1128), abs=1e-4)


@pytest.mark.parametrize(
    ("seen", "settings", "refused"),
    [
        (told(0, 8000), {}, False),
        (told(0, 8000), {"loss": "5%"}, True),
        (told(400, 8000), {"loss": "5%"}, False),
        (told(400, 8000), {}, True),
        (told(400, 8000), {"loss": "1%"}, True),
        (told(400, 8000, overflowed=400), {}, False),  # its own queue dropped them
        (told(400, 8000, overflowed=390), {"loss": "5%"}, False),  # nobody can say which of the two
        (told(3, 8000), {}, False),  # a trace
        (told(0, 20), {"loss": "5%"}, False),  # too few to tell
        (told(700, 8000), {"loss": "ge(p=1%, r=10%)"}, False),
        (told(0, 8000), {"loss": "ge(p=1%, r=10%)"}, True),
        (told(0, 0, trials=0), {"loss": "5%"}, False),  # no captures
    ],
)
def test_both_ways(seen: Pooled, settings: Mapping[str, object], refused: bool) -> None:
    detail = contradiction(seen, asked(**settings), ALPHA / 16)
    assert (detail is not None) == refused
    assert detail is None or ("99." in detail and "asked for" in detail)


def test_right_links_are_refused_as_seldom_as_stated() -> None:
    """Exactly: the chance of all counts that would be refused, where the link is right."""
    for share, of in ((0.001, 10_000), (0.01, 3000), (0.05, 700)):
        direction = asked(loss=f"{share:.1%}")
        chance = sum(
            at_most(k, of, share) - (at_most(k - 1, of, share) if k else 0)
            for k in range(of // 8)
            if contradicting(told(k, of), direction, 0.01)
        )
        assert chance <= 0.02


def test_bursts_make_fewer_independent_losses() -> None:
    """Of 100 right cells with bursts none is refused."""
    rng = random.Random(3)
    direction = asked(loss="ge(p=1%, r=10%)")
    for _ in range(100):
        lost, bad = 0, False
        for _ in range(3000):
            bad = rng.random() < (0.9 if bad else 0.01)
            lost += bad
        assert contradicting(told(lost, 3000), direction, ALPHA / 4) is None


def losses(packets: int, begins: float, ends: float, seed: int) -> PooledRuns:
    """Of a chain as netem's gemodel is one."""
    rng, lost, runs, bad = random.Random(seed), 0, 0, False
    for _ in range(packets):
        before = bad
        bad = rng.random() >= ends if bad else rng.random() < begins
        lost, runs = lost + bad, runs + (bad and not before)
    return PooledRuns(12, lost, runs)


@pytest.mark.parametrize(
    ("begins", "ends", "asked_for", "refused"),
    [
        (0.0025253, 0.25, {"loss": {"rate": "1%", "burst": 4}}, False),
        (0.01, 0.99, {"loss": {"rate": "1%", "burst": 4}}, True),  # one by one
        (0.00101, 0.1, {"loss": {"rate": "1%", "burst": 4}}, True),  # of 10
        (0.0025253, 0.25, {"loss": "1%"}, True),
        (0.01, 0.99, {"loss": "1%"}, False),
        (0.01, 0.99, {}, False),  # its rate speaks against it
        (0.01, 1.0, {"loss": {"rate": "1%", "burst": 1}}, False),
    ],
)
def test_bursts_are_told_from_single_losses(
    begins: float, ends: float, asked_for: Mapping[str, object], refused: bool
) -> None:
    seen = losses(20_000, begins, ends, 5)
    detail = contradicting_runs(seen, asked(**asked_for), ALPHA / 24)
    assert (detail is not None) == refused
    if detail:
        assert f"{seen.lost:,} lost packets came in runs of " in detail
        assert " was asked for" in detail


def test_right_bursts_are_refused_as_seldom_as_stated() -> None:
    direction = asked(loss={"rate": "2%", "burst": 3})
    begins, ends = direction.loss.mean_loss / (1 - direction.loss.mean_loss) / 3, 1 / 3
    found = [losses(3000, begins, ends, seed) for seed in range(300)]
    assert sum(contradicting_runs(seen, direction, 0.01) is not None for seen in found) <= 300 * 0.02 + 7


def test_trials_whose_queue_was_full_tell_nothing_of_bursts(tmp_path: Path) -> None:
    measures = {"told_packets_down": 900, "lost_packets_down": 40, "lost_runs_down": 2}
    full = read_run(made(tmp_path / "full", "5%", {**measures, "overflowed_packets_down": 3}))
    assert not refusals(full)
    refused = refusals(read_run(made(tmp_path / "run", "5%", measures)))
    assert len(refused) == 4
    assert all("came in runs of 20" in each.detail for cell in refused.values() for each in cell)
    assert not refusals(read_run(made(tmp_path / "single", "5%", {**measures, "lost_runs_down": 39})))


def made(folder: Path, loss: str, measures: Mapping[str, float]) -> Path:
    link = {"rate": "10mbit", "rtt": "20ms"} | ({"loss": loss} if loss else {})
    return make_run(folder, Made(links=[link], machine=measures))


@pytest.mark.parametrize(("loss", "lost", "refused"), [("", 0, 0), ("5%", 0, 4), ("5%", 35, 0), ("", 35, 4)])
def test_the_cells_of_a_run(tmp_path: Path, loss: str, lost: int, refused: int) -> None:
    """20 ms without loss passed as a loss of 5%, and the other way round, until the trials were added up."""
    folder = made(tmp_path / "run", loss, {"told_packets_down": 700, "lost_packets_down": lost})
    run = read_run(folder)
    found = refusals(run)
    assert len(found) == refused
    assert set(found) <= {cell.number for cell in run.cells}
    for (refusal,) in found.values():
        assert refusal.reason == "link-loss"
        assert refusal.detail.startswith("to the client, ")


def losing(trial: Trial, lost: int, failure: str = "") -> Trial:
    """Return a trial that lost so many of 1,000 packets, and failed for that reason."""
    measures = {**trial.measures, "told_packets_down": 1000.0, "lost_packets_down": float(lost)}
    failures = (Failure(failure, ""),) if failure else ()
    return replace(trial, measures=measures, ok=not failure, failures=failures)


@pytest.mark.parametrize(("reason", "refused"), [("timeout", False), ("navigation-failed", False), ("link-rtt", True)])
def test_trials_that_lost_most_are_not_left_out_since_they_took_too_long_or_broke(
    tmp_path: Path, reason: str, refused: bool
) -> None:
    """The link loses 5%, and every third trial lost so much that its time was over, or that it broke. What failed
    otherwise is no result."""
    run = read_run(made(tmp_path / "run", "5%", {}))
    trials = tuple(losing(each, 90, reason) if each.round % 3 == 0 else losing(each, 36) for each in run.trials)
    found = replace(run, trials=trials)
    assert bool(refusals(found)) == refused
    lost = {row.down.lost / row.down.packets for row in links.rows(found)}
    assert (min(lost) < 0.037) == refused


def test_the_report_and_the_terminal_say_which_cells_are_refused(tmp_path: Path) -> None:
    measures = {"told_packets_down": 700, "lost_packets_down": 35, "emulation_error_ms": 0.04}
    run = read_run(made(tmp_path / "run", "", measures))
    rows = links.rows(run)
    assert all(row.proven == row.trials and row.refused and row.error_ms == 0.04 for row in rows)
    page = str(on_page(proofs_section(Seen(run))))
    assert page.count("<td>refused</td>") == len(rows)
    assert "is refused: link-loss: to the client, " in page
    assert "0.04" in page
    assert all("is refused" in sentence for sentence in links.sentences(run))


def test_a_cell_that_is_refused_has_no_number_of_any_metric(tmp_path: Path) -> None:
    """Neither for programs: its bytes and first paints are of another link, too."""
    for lost, is_refused in ((0, False), (35, True)):
        measures = {"told_packets_down": 700, "lost_packets_down": lost}
        row = tables.rows(read_run(made(tmp_path / str(lost), "", measures)))[0]
        assert bool(row.refused) == is_refused
        assert row.ok > 0
        assert (row.medians["first_paint_ms"] is None) == is_refused
        assert all(value is None for value in row.medians.values()) == is_refused


def test_objects_of_a_cell_that_is_refused_are_not_listed(tmp_path: Path) -> None:
    """Their times would be of another link, too."""
    run = read_run(made(tmp_path / "run", "", {"told_packets_down": 700, "lost_packets_down": 0}))
    first = run.cells[0].number
    trials = tuple(
        replace(each, measures={**each.measures, "lost_packets_down": 35.0}) if each.cell.number == first else each
        for each in run.trials
    )
    assert [cell.number for cell, _ in sound_trials(run)] == [cell.number for cell in run.cells]
    left = sound_trials(replace(run, trials=trials))
    assert [cell.number for cell, _ in left] == [cell.number for cell in run.cells[1:]]
    assert all(trial.ok and trial.cell == cell for cell, sound in left for trial in sound)


@pytest.mark.parametrize("measure", ["capture_rtt_ms", "told_packets_down"])
def test_what_a_capture_proves_is_not_said_to_be_unproven(tmp_path: Path, measure: str) -> None:
    """Over HTTP/3 a capture shows round trips, rates and sizes, and no losses."""
    run = read_run(made(tmp_path / "run", "", {measure: 40.0}))
    assert links.sentences(run) == []


def test_what_no_capture_proves_is_said(tmp_path: Path) -> None:
    run = read_run(made(tmp_path / "run", "", {}))
    assert links.rows(run) == []
    (said,) = links.sentences(run)
    assert f"In {len(run.ok)} of {len(run.ok)} page loads that count no capture proves the link" in said
    assert said in str(on_page(proofs_section(Seen(run))))
