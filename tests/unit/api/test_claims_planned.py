"""What a plan says of claims before anything is run."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.api.claims_planned import about, places, published_words
from lanelab.driver.api.example import EXAMPLE
from lanelab.driver.cli.experiments import plan
from lanelab.driver.experiment.schedule.verdicts import claim_warnings
from tests.kit.experiments import ARMS, SMALL, read

WHERE = "where: {rtt: 20ms}"
CHANGE = "change: {of: h2, to: http}"
FASTER = f"claims: {{faster: {{{CHANGE}, published: -39%, margin: 8pp, where: {{rtt: 20ms}}}}}}\n"
COUNT = "claims: {used: {value: {of: http, metric: connections_used}, published: 6, margin: 0, for: every rtt}}\n"


@pytest.mark.parametrize(
    ("rounds", "warned"),
    [
        ("trials: 5\n", True),
        ("trials: 6\n", False),
        ("trials: 3\nbeds: 2\n", True),
        ("trials: 3\nbeds: 3\n", False),
        ("until: {ci: 2%, min: 3, max: 5}\n", True),
    ],
)
def test_too_few_rounds_for_a_verdict_are_told_beforehand(rounds: str, *, warned: bool) -> None:
    told = claim_warnings(read(f"{SMALL}{FASTER}{rounds}"))
    assert [one for one in told if "too few for a verdict on faster" in one] == (told if warned else [])
    assert bool(told) == warned


def test_counts_take_as_many_rounds() -> None:
    (told,) = claim_warnings(read(f"{SMALL}{COUNT}trials: 1\n"))
    assert told.startswith("1 round is too few for a verdict on used: write trials: 6 or more, or beds: 3")
    assert claim_warnings(read(f"{SMALL}trials: 1\n")) == []


def test_values_that_nobody_can_look_for_drift_in_are_told_beforehand() -> None:
    """Cells that are measured one after the other: all but counts would be "not tested" when the run is over."""
    time = f"value: {{of: http}}, published: 1.2s, margin: 5%, {WHERE}"
    count = f"value: {{of: http, metric: connections_used}}, published: 6, margin: 0, {WHERE}"
    both = f"{SMALL}claims: {{time: {{{time}}}, count: {{{count}}}}}\ntrials: 9\n"
    (told,) = claim_warnings(read(f"{both}order: sequential\n"))
    assert told.startswith("with order: sequential there will be no verdict on time, since nobody can tell")
    assert claim_warnings(read(both)) == []


def test_a_change_of_what_may_be_0_is_told() -> None:
    claims = f"claims: {{lost: {{change: {{of: h2, to: http, metric: retransmissions}}, expect: lower, {WHERE}}}}}\n"
    (told,) = claim_warnings(read(f"{SMALL}{claims}trials: 9\n"))
    assert "the claim lost is about a change of retransmissions, of which a trial may have 0" in told


def test_a_mean_of_what_may_be_0_is_told() -> None:
    value = "value: {of: http, metric: retransmissions}, published: 6, margin: 50%"
    told = {
        quantifier: " ".join(claim_warnings(read(f"{SMALL}claims: {{lost: {{{value}, for: {quantifier} rtt}}}}\n")))
        for quantifier in ("mean", "every")
    }
    assert "the claim lost is about a mean of retransmissions, of which a trial may have 0" in told["mean"]
    assert "may have 0" not in told["every"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (f"{CHANGE}, published: [-8%, -3%], margin: 2pp, {WHERE}", "-8.0% to -3.0%, margin 2pp"),
        (f"{CHANGE}, equivalent: 5%, {WHERE}", "no effect, within 5%"),
        (f"{CHANGE}, expect: higher, at_least: 3%, {WHERE}", "higher, by at least 3%"),
        (f"{CHANGE}, expect: not lower, at_least: 3%, {WHERE}", "not lower, or by less than 3%"),
        (f"{CHANGE}, expect: not higher, {WHERE}", "not higher, or by less than 1%"),
        (f"value: {{of: http, metric: bytes}}, published: 1.2MB, margin: 5%, {WHERE}", "1,200 kB, margin 5%"),
    ],
)
def test_what_was_published_is_told_in_the_words_of_reports(settings: str, words: str) -> None:
    (claim,) = read(f"{SMALL}claims: {{a: {{{settings}}}}}\n").claims
    assert published_words(claim) == words


def test_a_contrast_names_both_of_its_sides() -> None:
    contrast = "contrast: {change_of: a, at: {rtt: 100ms}, to_at: {rtt: 20ms}}, expect: lower"
    claims = f"claims: {{a: {{{CHANGE}, expect: lower, {WHERE}}}, more: {{{contrast}}}}}\n"
    claim = read(f"{SMALL}{claims}").claims[1]
    assert about(claim) == (
        "contrast of page load time: h2 against http at rtt 100ms, compared with h2 against http at rtt 20ms"
    )
    assert [place.words for place in claim.places] == ["dummy, 100ms against 20ms"]


def test_the_plan_has_the_claims_and_the_variant(tmp_path: Path) -> None:
    file = tmp_path / "exp.yaml"
    file.write_text(f"{SMALL}{FASTER}trials: 5\nvariants: {{period: {{links: {{initial_window: 3}}}}, today: {{}}}}\n")
    shown = CliRunner().invoke(plan, [str(file), "--variant", "today"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0
    assert "variant: today, of period, today" in shown.output
    assert "dummy, 20ms" in shown.output
    assert "mind: 5 rounds are too few for a verdict on faster" in shown.output
    made = json.loads(CliRunner().invoke(plan, [str(file), "--json"]).stdout)
    assert (made["variant"], made["variants"]) == ("period", ["period", "today"])
    (claim,) = made["claims"]
    assert claim["about"] == "change of page load time: h2 against http"
    assert claim["published_words"] == "-39.0%, margin 8pp"
    assert claim["places_words"] == ["dummy, 20ms"]
    assert {cell["id"] for cell in made["cells"]} >= {claim["places"][0]["points"][0]["cell"]}
    assert any("too few for a verdict" in one for one in made["warnings"])
    (read_again,) = read(file.read_text()).claims
    assert about(read_again) == claim["about"]


def test_the_claim_of_the_example_can_be_taken_as_it_stands() -> None:
    before, _, rest = EXAMPLE.read_text().partition("# claims:\n")
    lines, _, after = rest.partition("\n\n")
    claims = "".join(f"{line.removeprefix('# ')}\n" for line in lines.splitlines())
    (claim,) = read(f"{before}claims:\n{claims}\n{after}").claims
    assert (claim.name, claim.side) == ("faster", -1)
    assert [place.words for place in claim.places] == ["dummy, 100ms"]


def test_a_plan_names_the_places_of_a_mean_by_where_each_begins() -> None:
    text = f"sites: dummy\nlinks: {{rtt: [20ms, 50ms], rate: [1mbit, 10mbit]}}\n{ARMS}"
    gain = f"{{{CHANGE}, expect: lower, for: mean place}}"
    trend = "{trend: {change_of: a, over: rtt}, expect: decreasing, for: mean rate}"
    over_all, grows = read(f"{text}claims:\n  a: {gain}\n  t: {trend}\n").claims
    assert places(over_all).startswith("on average over 4 places: ")
    assert places(over_all).endswith("; 1 more")
    assert places(grows).startswith("on average over 2 places: ")
    assert (places(grows).count("20ms"), places(grows).count("50ms")) == (2, 0)
