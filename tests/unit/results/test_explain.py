"""What `lanelab explain` says of cells, of two arms and of trials that stand apart."""

import dataclasses
import math
from collections.abc import Mapping

import pytest
from rich.console import Console

from lanelab.analysis.results.comparisons import NOT_INTERLEAVED
from lanelab.analysis.results.explain import explain
from lanelab.analysis.results.layout.data import data_of
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.model import Cell, Failure, Run, Trial
from lanelab.analysis.results.refusals import Refusal
from lanelab.analysis.results.sections.explained import explained_sections
from lanelab.analysis.statistics import Change, compare
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.parts import Part, Parts, Stretch
from tests.kit import made_parts
from tests.kit.made_parts import nothing
from tests.kit.made_parts import run_with_parts as run


def text(of: Run, *what: str, trial: int | None = None) -> str:
    console = Console(width=10_000)
    with console.capture() as capture:
        console.print(on_terminal(explained_sections(explain(of, what, nothing, trial))))
    return " ".join(capture.get().split())


def test_a_cell_is_told_by_its_largest_parts_and_what_bounds_it() -> None:
    (cell,) = explain(run(), ["dummy, 100ms, HTTP"], nothing).cells
    first, parts, bound = cell.sentences()
    assert first == "dummy, 100ms, HTTP: 1.42 s (median of 6 page loads; nearest is trial 5)."
    assert parts.startswith("The time went to transmission at the link's rate 940 ms (66%), waiting for answers")
    assert "recovery" not in parts
    assert bound == "The link's rate limits it most: the bottleneck of 10mbit was busy for 940 ms, with 1,175 kB."


@pytest.mark.parametrize(
    ("parts", "bound"),
    [
        ({"wait": 900, "connect": 100}, "round trips"),
        ({"recovery": 1500}, "loss"),
        ({"recovery": 200, "reduced_window": 900, "slow_start": 1000}, "loss"),
        ({"idle": 2000}, "browser"),
    ],
)
def test_what_bounds_a_load_is_its_largest_kind_of_time(
    parts: Mapping[str, float], bound: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_parts, "HTTP", {"transmission": 300.0, "idle": 0.0, **parts})
    (cell,) = explain(run(), ["dummy, 100ms, HTTP"], nothing).cells
    assert cell.bound == bound
    words = {"round trips": "(10.0 round trips)", "loss": "a lost packet", "browser": "nothing was in flight"}
    assert words[bound] in cell.sentences()[-1]


def without(trial: Trial, part: Part) -> Trial:
    measures = {name: value for name, value in trial.measures.items() if name != part.measure}
    return dataclasses.replace(trial, measures=measures)


def test_a_run_whose_slow_start_has_all_of_the_window_says_so() -> None:
    """An older lanelab did not tell a window reduced by loss from slow start."""
    made = run()
    older = dataclasses.replace(made, trials=tuple(without(trial, Part.REDUCED_WINDOW) for trial in made.trials))
    now, then = explain(made, ["HTTP", "HTTP/2"], nothing), explain(older, ["HTTP", "HTTP/2"], nothing)
    assert (then.cells, then.differences) == (now.cells, now.differences)
    assert [each for each in then.cautions if each not in now.cautions] == [
        "An older lanelab made this run: what it counts as slow start may be a window reduced by loss."
    ]
    (cell,) = explain(older, ["dummy, 100ms, HTTP"], nothing).cells
    assert cell.parts[Part.REDUCED_WINDOW] == 0


def test_rounds_that_two_machines_shared_are_not_counted() -> None:
    """They are no pairs, so the difference is not of them."""
    made = run()
    moved = (
        dataclasses.replace(trial, machine=2) if trial.cell.arm.name == "HTTP" and trial.round <= 2 else trial
        for trial in made.trials
    )
    whole, left = (
        explain(each, ["HTTP", "HTTP/2"], nothing).differences[0]
        for each in (made, dataclasses.replace(made, trials=tuple(moved)))
    )
    assert left.rounds == left.total.n == whole.rounds - 2


def test_two_arms_differ_by_parts_that_add_up() -> None:
    (found,) = explain(run(), ["HTTP", "HTTP/2"], nothing).differences
    assert found.total.value == pytest.approx(105)
    assert sum(change.value for change in found.parts.values()) + found.rest_ms == pytest.approx(105)
    assert found.largest is Part.TLS
    told = " ".join(found.sentences())
    assert "HTTP/2 was slower than HTTP." in told
    assert "Within a round HTTP/2 took 105 ms more than HTTP (95% interval +105 to +105 ms, 6 rounds)" in told
    assert "Medians of all loads: HTTP/2 1.53 s, HTTP 1.42 s." in told
    assert "setting up TLS +105 ms (+105 to +105), waiting for answers -100 ms" in told
    assert "HTTP/2 opens 1 connection, HTTP 6: 5 fewer handshakes, each of which takes a round trip of 100 ms" in told
    assert "1 connection may start with 10 packets in flight, 6 connections with 60" in told
    assert "HTTP/2 uses TLS 1.3: each new connection takes one more round trip" in told
    assert "HTTP/2 receives 15 kB less, which saves 12 ms" in told
    assert "Packets sent again: HTTP/2 2, HTTP 0." in told


ONE, FEW, ENOUGH = 1, 3, 8
NEITHER = "no difference shown between HTTP/2 and HTTP."


@pytest.mark.parametrize(
    ("rounds", "middle", "ends", "verdict", "estimate"),
    [
        (
            ENOUGH,
            105,
            (80, 130),
            "HTTP/2 was slower than HTTP.",
            "took 105 ms more than HTTP (95% interval +80 to +130 ms",
        ),
        (ENOUGH, -105, (-130, -80), "HTTP/2 was faster than HTTP.", "took 105 ms less than HTTP (95% interval -130 to"),
        (ENOUGH, -4.25, (-9, 2), NEITHER, "took 4.2 ms less than HTTP (95% interval -9.0 to +2.0 ms, 8 rounds)"),
        (ENOUGH, 0, (-2, 2), NEITHER, "took as long as HTTP (95% interval -2.0 to +2.0 ms"),
        (ENOUGH, 500, (-20, math.inf), NEITHER, "(95% interval -20 to no end ms"),
        (FEW, -105, (-130, -80), "was faster than HTTP in all 3 rounds, which are too few to be sure.", "75% interval"),
        (FEW, 5, (-30, 80), NEITHER, "took 5.0 ms more than HTTP (75% interval -30 to +80 ms, 3 rounds)"),
        (2, 5, (3, 8), "too few rounds to compare HTTP/2 with HTTP (2).", "took 5.0 ms more than HTTP (50% interval"),
        (ONE, -12, None, "too few rounds to compare HTTP/2 with HTTP (1).", "In the only round HTTP/2 took 12 ms less"),
    ],
)
def test_the_verdict_comes_first_and_names_come_with_their_numbers(
    rounds: int, middle: float, ends: tuple[float, float] | None, verdict: str, estimate: str
) -> None:
    (found,) = explain(run(), ["HTTP", "HTTP/2"], nothing).differences
    low, high = ends or (None, None)
    confidence = 0.0 if rounds == 1 else 0.95 if rounds >= ENOUGH else 1 - 2 ** (1 - rounds)
    total = Change(rounds, middle, low, high, confidence, 0.5)
    of = dataclasses.replace(found, total=total, rounds=rounds, compared=None)
    first, second, *_ = of.sentences()
    assert first == f"dummy, 100ms: {verdict}" or first.endswith(verdict)
    assert estimate in second
    assert second.endswith("Medians of all loads: HTTP/2 1.53 s, HTTP 1.42 s.")
    opposite = "The medians go the other way" in " ".join(of.sentences())
    assert opposite == (middle < 0 and rounds > 1), "the medians say that HTTP/2 is slower"


def test_the_way_is_that_of_the_runs_own_verdict() -> None:
    """The run counts loads that timed out, which have no parts; and its base may be the other one of the two."""
    (found,) = explain(run(), ["HTTP", "HTTP/2"], nothing).differences
    made = compare(dict.fromkeys(range(8), 2.0), dict.fromkeys(range(8), 1.0))
    assert made is not None
    assert made.verdict == "faster"
    assert dataclasses.replace(found, rounds=8, compared=made).sentences()[0].endswith("HTTP/2 was faster than HTTP.")
    swapped = dataclasses.replace(found, rounds=8, compared=made, is_swapped=True)
    assert swapped.sentences()[0].endswith("HTTP/2 was slower than HTTP.")


def test_the_other_way_round_everything_is_the_opposite() -> None:
    (found,) = explain(run(), ["HTTP/2", "HTTP"], nothing).differences
    told = " ".join(found.sentences())
    assert "HTTP was faster than HTTP/2. Within a round HTTP took 105 ms less than HTTP/2" in told
    assert "HTTP opens 6 connections, HTTP/2 1: 5 more handshakes" in told
    assert "HTTP/2 uses TLS 1.3" in told
    assert "doubles once per round trip" not in told, "slow start shrank although there are more windows"


def told_of(made: Run, link: Mapping[str, str], arm: Mapping[str, str]) -> str:
    """What is told of a run whose link has these settings besides, and whose second arm those."""

    def changed(cell: Cell) -> Cell:
        settings = Link.parse({"rtt": "100ms", "rate": "10mbit", **link}).to_mapping()
        own = arm if cell.arm.number == 2 else {}
        return dataclasses.replace(
            cell,
            link=dataclasses.replace(cell.link, settings=settings),
            arm=dataclasses.replace(cell.arm, settings={**cell.arm.settings, **own}),
        )

    cells = {cell.id: changed(cell) for cell in made.cells}
    trials = tuple(dataclasses.replace(trial, cell=cells[trial.cell.id]) for trial in made.trials)
    compared = tuple((cells[base.id], cells[other.id]) for base, other in made.plan.compared)
    plan = dataclasses.replace(made.plan, compared=compared)
    of = dataclasses.replace(made, cells=tuple(cells.values()), trials=trials, plan=plan)
    (found,) = explain(of, ["HTTP", "HTTP/2"], nothing).differences
    return " ".join(found.sentences())


@pytest.mark.parametrize(("takes", "one", "six"), [("4", 4, 24), ("10", 10, 60), ("11", 10, 60), ("kernel", 10, 60)])
def test_a_first_flight_ends_where_the_client_takes_no_more(takes: str, one: int, six: int) -> None:
    told = told_of(run(), {"initial_receive_window_client": takes}, {})
    assert f"1 connection may start with {one} packets in flight, 6 connections with {six}" in told


def test_of_quic_nothing_is_said_that_holds_for_tcp() -> None:
    """It begins with a window of its own, and has TLS in its one round trip."""
    told = told_of(run(), {}, {"protocol": "h3"})
    assert "HTTP/2 opens 1 connection, HTTP 6" in told
    assert "packets in flight" not in told
    assert "uses TLS" not in told


def test_rounds_of_one_arm_alone_do_not_count() -> None:
    whole = run(rounds=4)
    gone = next(trial for trial in whole.trials if trial.round == 4 and trial.cell.arm.number == 2)
    poorer = Run(**{name: getattr(whole, name) for name in Run.__dataclass_fields__} | {
        "trials": tuple(trial for trial in whole.trials if trial != gone)})  # fmt: skip
    (found,) = explain(poorer, ["HTTP", "HTTP/2"], nothing).differences
    assert found.rounds == 3


def test_an_arm_on_two_links_says_what_grows() -> None:
    explained = explain(run(rtts=("20ms", "100ms")), ["HTTP"], nothing)
    assert [cell.cell.link.label for cell in explained.cells] == ["20ms", "100ms"]
    (line,) = explained.links
    assert line.startswith("From 20ms to 100ms the median of HTTP grows by 384 ms: waiting for answers +240 ms")


def test_without_names_every_cell_and_comparison_is_told() -> None:
    explained = explain(run(rtts=("20ms", "100ms")), [], nothing)
    assert len(explained.cells) == 4
    assert [(each.base.cell.arm.name, each.other.cell.arm.name) for each in explained.differences] == [
        ("HTTP", "HTTP/2"), ("HTTP", "HTTP/2"),
    ]  # fmt: skip
    assert data_of(explained).keys() == {"cautions", "cells", "links", "differences", "outliers", "not_told", "steps"}


def test_what_the_run_does_not_compare_is_not_explained_as_a_difference() -> None:
    made = run()
    in_turns = dataclasses.replace(made, plan=dataclasses.replace(made.plan, order="sequential"))
    for what in ([], ["HTTP", "HTTP/2"]):
        explained = explain(in_turns, what, nothing)
        assert explained.differences == ()
        assert explained.not_told == (NOT_INTERLEAVED,)
        assert NOT_INTERLEAVED in text(in_turns, *what)


def test_a_refused_cell_is_named_and_not_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lanelab.analysis.results.explain.run.refusals", lambda _: {2: (Refusal("link-loss", "too few"),)}
    )
    for what in ([], ["HTTP", "HTTP/2"], ["HTTP/2"]):
        explained = explain(run(), what, nothing)
        assert explained.differences == ()
        assert all(each.cell.number != 2 for each in explained.cells)
        assert explained.not_told == ("dummy, 100ms, HTTP/2: it is refused: link-loss (too few).",)


def test_a_cell_without_parts_is_named() -> None:
    whole = run()
    bare = [
        dataclasses.replace(each, measures={"plt_ms": 1.0}) if each.cell.number == 2 else each for each in whole.trials
    ]
    told = text(dataclasses.replace(whole, trials=tuple(bare)), "HTTP", "HTTP/2")
    assert told == "Not explained: dummy, 100ms, HTTP/2: no trial of it counts and has parts."


def test_rounds_with_a_time_out_are_counted() -> None:
    whole = run(rounds=8)
    late = Failure("timeout", "")
    trials = [
        dataclasses.replace(each, ok=False, value=None, measures={}, failures=(late,))
        if each.round == 8 and each.cell.number == 2
        else each
        for each in whole.trials
    ]
    (found,) = explain(dataclasses.replace(whole, trials=tuple(trials)), ["HTTP", "HTTP/2"], nothing).differences
    assert (found.rounds, found.timed_out) == (7, 1)
    assert "Left out: 1 round in which a page load timed out." in " ".join(found.sentences())


def test_an_arm_is_not_held_against_itself() -> None:
    with pytest.raises(InputError, match="does not differ from itself"):
        explain(run(), ["HTTP", "HTTP"], nothing)


def test_a_run_that_goes_on_is_so_far() -> None:
    explained = explain(dataclasses.replace(run(), state="running"), ["HTTP", "HTTP/2"], nothing)
    assert explained.cautions[0] == "The run is not finished: all of this is provisional."
    assert explained.differences[0].sentences()[0].endswith("HTTP/2 was slower than HTTP so far.")


def test_three_rounds_that_agree_are_so_far_as_in_the_table() -> None:
    (found,) = explain(run(rounds=3), ["HTTP", "HTTP/2"], nothing).differences
    assert found.sentences()[0].endswith("in all 3 rounds, which are too few to be sure.")


def test_a_difference_that_the_run_does_not_show_is_not_claimed() -> None:
    """Among many comparisons an interval may leave out 0 where Holm's method shows nothing."""
    rtts = tuple(f"{20 + at}ms" for at in range(9))
    explained = explain(run(rtts=rtts), ["HTTP", "HTTP/2"], nothing)
    assert all(each.is_clear and not each.is_shown for each in explained.differences)
    verdict, estimate, why, *_ = explained.differences[0].sentences()
    assert verdict.endswith(": no difference shown between HTTP/2 and HTTP.")
    assert "took 13 ms more than HTTP (95% interval +13 to +13 ms" in estimate
    assert why == "The interval is of this comparison alone; the verdict counts all comparisons of the run."


def test_loads_that_timed_out_are_named() -> None:
    of = run()
    late = dataclasses.replace(of.trials[-1], ok=False, failures=(Failure("timeout", "60 s"),), measures={}, value=None)
    explained = explain(dataclasses.replace(of, trials=(*of.trials[:-1], late)), ["HTTP", "HTTP/2"], nothing)
    assert any("HTTP/2: 1 load timed out" in each for each in explained.cautions)


def test_a_cell_is_known_however_its_commas_are_spaced() -> None:
    assert text(run(), "dummy,100ms,HTTP") == text(run(), "dummy, 100ms, HTTP")


def test_an_outlier_names_its_cause() -> None:
    lost = Stretch(Part.RECOVERY, 1200.0, 1700.0, "port 40001: retransmission time-out: a packet came 500 ms late")
    of = run(rounds=9, slow=5)
    (found,) = explain(of, [], lambda _: Parts((Stretch(Part.IDLE, 0, 5, ""), lost), None)).outliers
    told = " ".join(found.sentences())
    assert "Trial 5 (dummy, 100ms, HTTP): 1.92 s, 497 ms longer than the median of its cell." in told
    assert "Where: recovery from loss +500 ms." in told
    assert "At 1.20 s, for 500 ms: port 40001: retransmission time-out: a packet came 500 ms late." in told
    assert "It is flagged: router-waited (for 20% of the load)." in told


def test_any_trial_can_be_explained() -> None:
    assert "Trial 5 (dummy, 100ms, HTTP)" in text(run(), trial=5)
    with pytest.raises(InputError, match="no trial 99"):
        text(run(), trial=99)


@pytest.mark.parametrize(("what", "words"), [(["HTPP"], "Did you mean HTTP"), (["HTTP", "h2"], "HTTP, HTTP/2")])
def test_names_that_the_run_does_not_have_are_refused(what: list[str], words: str) -> None:
    with pytest.raises(InputError) as refused:
        explain(run(), what, nothing)
    assert words in f"{refused.value} {refused.value.remedy}"


def test_a_run_without_parts_says_why_and_what_to_do() -> None:
    absent = Parts((), "there is no capture of the client")
    with pytest.raises(InputError, match="there is no capture of the client") as refused:
        explain(run(has_parts=False), [], lambda _: absent)
    assert "capture: client" in str(refused.value.remedy)


@pytest.mark.parametrize(
    ("settings", "parts", "says"),
    [
        (
            {"answer_delay": {"ads.test": "800ms", "default": "20ms"}},
            {"wait": 950, "connect": 100},
            [
                "The server thinks before it answers, as the arm asks: ads.test 800ms and all others 20ms.",
                "The server's thinking limits it most: for 1.05 s no answer arrived, and an answer was to wait for",
            ],
        ),
        (
            {"answer_delay": {"ads.test": "100ms"}},
            {"wait": 950, "connect": 100},
            ["The server thinks before it answers, as the arm asks: ads.test 100ms.", "Round trips limit it most"],
        ),
        (
            {"unreachable": ["ads.test"]},
            {"connect": 131_000},
            ["Not reachable, as the arm asks: ads.test.", "A host that does not answer limits it most: for 131.00 s"],
        ),
        (
            {"protocol": "h2", "server": "apache", "origins": {"x.test": {"server": "nginx"}}},
            {},
            ["By servers of their own, as the arm asks: x.test by nginx with h2; all other hosts by apache with h2."],
        ),
        ({"block": ["ads.test", "*.js"]}, {}, ["Blocked in the browser, as the arm asks: ads.test and *.js."]),
        ({"answer": {"ads.test": 503}}, {}, ["Answered otherwise than recorded, as the arm asks: ads.test with 503."]),
    ],
)
def test_what_the_arm_asks_of_third_parties_is_said(
    settings: JsonObject, parts: Mapping[str, float], says: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(made_parts, "HTTP", {"transmission": 300.0, "idle": 0.0, **parts})
    http, other = made_parts.ARMS
    monkeypatch.setattr(made_parts, "ARMS", (dataclasses.replace(http, settings={**http.settings, **settings}), other))
    (cell,) = explain(run(), ["dummy, 100ms, HTTP"], nothing).cells
    told = " ".join(cell.sentences())
    assert [each for each in says if each not in told] == []
    (found,) = explain(run(), ["HTTP", "HTTP/2"], nothing).differences
    assert f"HTTP: {says[0][0].lower()}{says[0][1:]}" in " ".join(found.sentences())
