"""Links that move: files of traces, models, what experiments may say, and trials judged by what was played and came."""

import itertools
import math
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.link_options import link_of
from lanelab.driver.cli.trace import picture
from lanelab.driver.experiment import traces
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.link import Link
from lanelab.driver.link.moving.files import csv_of, read_trace, what_is_told
from lanelab.driver.link.moving.models import LIBRARY, Fading
from lanelab.driver.link.moving.trace import Trace
from lanelab.driver.record.evidence.moving import Carried, MovingEvidence, Played
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.page_load.bound import physical_bound
from lanelab.driver.trial.page_load.judges.moving import MovingVerdict

CSV = "# mine\nseconds,mbit\n0,8\n0.5,1\n1,0\n1.25,4\n2,end\n"


def rates(text: str = CSV, name: str = "mine") -> Trace:
    return read_trace(text, name, "rate", source="mine.csv")


# --- files


def test_csv() -> None:
    trace = rates()
    assert trace.steps == ((0, 8_000_000), (500_000, 1_000_000), (1_000_000, 0), (1_250_000, 4_000_000))
    assert (trace.length_us, trace.mean, trace.standstill_us) == (2_000_000, 3_750_000, 250_000)
    assert read_trace(csv_of(trace, "about it"), "mine", "rate", source="") == trace


def test_mahimahis_moments_become_as_many_bytes() -> None:
    """One packet each 4 ms for a second, then one each 40 ms for another."""
    moments = [*range(4, 1001, 4), *range(1040, 2001, 40)]
    trace = rates("\n".join(map(str, moments)))
    assert trace.length_us == 2_000_000
    assert trace.total(2_000_000) / 1e6 / 8 == pytest.approx(len(moments) * 1514, rel=1e-6)
    assert trace.at(500_000) == pytest.approx(1514 * 8 * 250, rel=0.05)
    assert trace.at(1_500_000) == pytest.approx(1514 * 8 * 25, rel=0.3)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the trace is empty"),
        ("# only a comment\n", "the trace is empty"),
        ("seconds,mbit\n", "does not say when it ends"),
        ("seconds,mbit\n0,8\n", "does not say when it ends"),
        ("seconds,mbit\n1,8\n2,end", "line 2: the first step begins at 1 s. Begin at 0: a trace has no gaps"),
        ("seconds,mbit\n0,8\n2,1\n1,3\n5,end", "line 4: the time 1 is not after the one before, 2"),
        ("seconds,mbit\n0,-8\n2,end", "line 2: -8 is negative"),
        ("seconds,mbit\n0,fast\n2,end", "line 2: 'fast' is no number"),
        ("seconds,mbit\n0,8\nhello\n2,end", "line 3: 'hello' is not a time and a value"),
        ("seconds,mbit\n0,8\n2,end\n3,4", "line 4: there is a line behind the one with 'end'"),
        ("seconds,mbit\n0,999999\n2,end", "is not between"),
        ("seconds,mbit\n0,0\n2,end", "lets nothing through"),
        ("seconds,mbit\n0,8\n0.001,4\n2,end", "a step of the trace lasts 1 ms"),
        ("seconds,mbit\n0,8\n0.5,end", "the trace lasts 0.5 s"),
        ("minutes,mbit\n0,8\n2,end", "its first line is 'minutes,mbit'"),
        ("seconds,ms\n0,8\n2,end", "Begin a trace of rates with"),
        ("10\n5\n", "line 2: 5 ms is before the moment above it"),
        ("10\nx\n", "line 2: 'x' is no moment in milliseconds"),
        ("<html>", "is no moment in milliseconds"),
    ],
)
def test_a_file_that_is_no_trace_is_refused_by_line(text: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        rates(text)
    assert says in str(refused.value)


@given(st.text(max_size=200))
def test_no_text_is_more_than_refused(text: str) -> None:
    try:
        trace = read_trace(text, "any", what_is_told(text), source="any")
    except InputError:
        return
    assert read_trace(csv_of(trace), "any", trace.what, source="") == trace


@given(
    st.lists(st.tuples(st.integers(20, 5000), st.integers(8, 100_000)), min_size=1, max_size=30),
    st.integers(0, 10**7),
)
def test_what_passes_until_a_moment_passes_by_then(spans: list[tuple[int, int]], us: int) -> None:
    starts = [0, *itertools.accumulate(ms for ms, _ in spans)]
    if starts[-1] < 1000:
        return
    lines = [f"{at / 1000},{kbit}" for at, (_, kbit) in zip(starts, spans, strict=False)]
    trace = rates("\n".join(["seconds,kbit", *lines, f"{starts[-1] / 1000},end"]))
    assert trace.until(trace.total(us)) == pytest.approx(us, abs=1.0)


# --- the library


@pytest.mark.parametrize("name", LIBRARY)
def test_a_model_makes_its_file_again(name: str) -> None:
    recipe = LIBRARY[name]
    trace = recipe.trace(name)
    assert traces.library()[name].read_text() == csv_of(trace, recipe.about())
    assert traces.trace_from(name, recipe.what, Path(), key="") == trace
    assert len(picture(trace)) == 96


def test_every_file_of_the_library_has_a_model() -> None:
    assert traces.library().keys() == LIBRARY.keys()


def test_fading_is_what_it_says() -> None:
    """A long series has the mean, the spread and the memory that were asked for."""
    import random  # noqa: PLC0415

    model = Fading(10_000_000, 0.5, 4, 1000, 10**9)
    series = list(itertools.islice(model.values(random.Random(7), 0.5), 60_000))
    logs = [math.log(each) for each in series]
    assert statistics.mean(series) == pytest.approx(10_000_000, rel=0.05)
    assert statistics.stdev(logs) == pytest.approx(0.5, rel=0.05)
    lag = 8  # 4 s
    assert statistics.correlation(logs[:-lag], logs[lag:]) == pytest.approx(1 / math.e, abs=0.05)


# --- what experiments may say


HEAD = "sites: dummy\narms: {http: {}}\ntrials: 1\n"


def links_of(folder: Path, links: str, more: str = "") -> list[Link]:
    (folder / "mine.csv").write_text(CSV)
    file = folder / "moving.yaml"
    file.write_text(f"{HEAD}links: {links}\n{more}")
    return [case.link for case in read_experiment(file).links]


def test_a_link_follows_a_file(tmp_path: Path) -> None:
    (link,) = links_of(tmp_path, "{rtt: 50ms, rate: {trace: mine.csv}}")
    assert link.moves
    assert link.down.rates == link.up.rates == rates()
    assert link.down.rate is not None
    assert link.down.rate.bps == rates().mean
    assert Link.parse(link.to_mapping()) == link, "it is whole without the file"


def test_sides_have_traces_of_their_own(tmp_path: Path) -> None:
    (link,) = links_of(tmp_path, "{rtt: 50ms, rate_down: {trace: lte-driving}, rate_up: 2mbit}")
    assert link.down.rates is not None
    assert link.down.rates.name == "lte-driving"
    assert link.up.rates is None


@pytest.mark.parametrize(
    ("links", "says"),
    [
        ("{rtt: 50ms, rate: {trace: gone.csv}}", "the trace 'gone.csv' cannot be read: no such file"),
        ("{rtt: 50ms, rate: {trace: lte-drivin}}", "Did you mean lte-driving?"),
        ("{rtt: 50ms, rate: {trac: mine.csv}}", "there is no such key here"),
        ("{delay: {trace: mine.csv}}", "Begin a trace of delays with seconds,ms"),
        ("{rtt: 50ms, outage: {for: 1s, every: 3s}}", "rate"),
        ("{rtt: 50ms, rate: 1mbit, outage: {for: 3s}}", "every is missing"),
        ("{rtt: 50ms, rate: 1mbit, outage: {for: 3s, every: 2s}}", "each part has to last"),
        ("{rtt: 50ms, rate: 1mbit, radio: 5g}", "'5g' is no radio"),
        ("{rtt: 50ms, rate: 1mbit, radio: {promotion: 2s}}", "resume is missing"),
        ("{rtt: 50ms, rate: {trace: mine.csv}, outage: {for: 1s, every: 3s}}", "outage"),
        ("{rtt: 50ms, rate: {trace: mine.csv}, rate_trace: mine.csv}", "twice"),
    ],
)
def test_what_a_link_cannot_follow_is_refused_with_its_place(tmp_path: Path, links: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        links_of(tmp_path, links)
    assert says in str(refused.value)
    assert "moving.yaml:4" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("seconds,mbit\n0,8\n5,\n10,end\n", "bad.csv, line 3: '' is no number"),
        ("seconds,mbit\n0,8\n1,4\n1,2\n9,end\n", "bad.csv, line 4: the time 1 is not after"),
        ("10\n5\n", "bad.csv, line 2: 5 ms is before the moment above it"),
        ("seconds,mbit\n0,8\n", "bad.csv: the trace does not say when it ends"),
    ],
)
def test_a_wrong_trace_is_refused_with_both_places(tmp_path: Path, text: str, place: str) -> None:
    """The line of the experiment that names the file, and the line of the file."""
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(InputError) as refused:
        links_of(tmp_path, "{rtt: 50ms, rate: {trace: bad.csv}}")
    said = str(refused.value)
    assert "moving.yaml:4: links.rate: " in said
    assert place in said


def test_a_wrong_trace_on_the_command_line_is_refused_with_the_option_and_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.csv").write_text("seconds,mbit\n0,8\n5,\n10,end\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as refused:
        link_of(None, {"rate_trace": "bad.csv"})
    assert str(refused.value).startswith("--rate-trace: bad.csv, line 3: '' is no number")


def test_a_step_is_refused_where_the_trace_has_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        links_of(tmp_path, "\n  rtt: 50ms\n  rate:\n    trace: mine.csv\n    step: 50ms")
    assert "moving.yaml:8: links.rate.step: mine.csv: a CSV file has steps of its own" in str(refused.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"rate_trace": str(rates()), "rate_up": "10mbit"}, "write rate_trace_down"),
        ({"rate_trace_down": str(rates()), "rate": "10mbit"}, "write rate_up"),
        ({"rate_trace": str(rates()), "rate": "10mbit"}, "Leave one of the two out"),
    ],
)
def test_a_rate_beside_a_trace_says_what_was_meant(settings: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        Link.parse(settings)


# --- what is judged


LINK = Link.parse({"rtt": "50ms", "rate_trace": str(rates())})
SECOND_US = 1_000_000


def played(steps: int = 8, late_us: int = 1500, ended_us: int = 3_900_000) -> Played:
    due = [at + round_ * 2 * SECOND_US for round_ in range(2) for at, _ in rates().steps]
    both = sorted(due * 2)
    return Played(0, 300, ended_us, tuple((at, late_us) for at in both[: 2 * steps]), ())


def arrived(faster: float = 1.0) -> Carried:
    """What comes out of a link that is never empty, 25 ms after it left the queue."""
    trace = rates()
    points = [(at + 25_000, int(trace.total(at) * faster / 1e6 / 8)) for at in range(0, 3_800_000, 10_000)]
    return Carried(tuple(points))


def judged(done: Played, down: Carried | None = None) -> dict[Reason, str]:
    evidence = MovingEvidence(done, down or arrived(), None)
    return {each.reason: each.detail for each in MovingVerdict(LINK, evidence).failures()}


def test_a_trace_that_was_followed_counts() -> None:
    assert judged(played()) == {}


def test_less_than_the_trace_lets_pass_is_no_fault() -> None:
    assert judged(played(), arrived(0.3)) == {}


def test_steps_that_were_not_made_fail_a_trial() -> None:
    assert "of 16 steps that were due, 10 were not made" in judged(played(steps=3))[Reason.LINK_TRACE]


def test_steps_that_came_late_fail_a_trial_or_flag_it() -> None:
    assert "a step came 150 ms late" in judged(played(late_us=150_000))[Reason.LINK_TRACE]
    assert judged(played(late_us=50_000)) == {}
    (flag,) = MovingVerdict(LINK, MovingEvidence(played(late_us=50_000), None, None)).flags()
    assert "50 ms late" in flag.detail


def test_more_than_the_trace_lets_pass_fails_a_trial() -> None:
    assert "more than its trace lets pass" in judged(played(), arrived(1.15))[Reason.LINK_RATE]
    still = Carried(tuple((at, at // 2) for at in range(0, 2_000_000, 10_000)))  # 4 Mbit/s throughout
    assert Reason.LINK_RATE in judged(played(), still), "in the slow second it is too much"


def test_the_bound_takes_the_traces_rates() -> None:
    """Nothing can be faster than on a link that has the trace's highest rate all the time."""
    arm = Arm.parse("http", {})
    fastest = Link.parse({"rtt": "50ms", "rate": "8mbit"})
    slow = replace(LINK)
    assert physical_bound(slow, arm) >= physical_bound(fastest, arm)
