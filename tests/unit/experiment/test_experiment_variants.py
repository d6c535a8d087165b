"""Variants of an experiment, and what was published in its figures' place."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from tests.kit.complaints import complaints
from tests.kit.experiments import ARMS, SITES, SMALL

CLAIM = "claims: {a: {change: {of: h2, to: http}, expect: lower, where: {rtt: 20ms, rate: 10mbit}}}\n"


def read(text: str, variant: str | None = None) -> Experiment:
    return parse_experiment(text, "exp.yaml", SITES, variant)


def with_variants(*lines: str, base: str = SMALL) -> str:
    return base + "variants:\n" + "".join(f"  {line}\n" for line in lines)


def test_settings_lie_over_those_of_the_file() -> None:
    text = with_variants(
        "period: {links: {initial_window: 3}, arms: {h2: {protocol: spdy/2}}}",
        "today: {defaults: {viewport: 412x823}, arms: {http: {connections_per_host: 2}}}",
    )
    period, today = read(text, "period"), read(text, "today")
    assert read(text).variant == "period"
    assert [arm.protocol for arm in period.arms] == ["http/1.1", "spdy/2"]
    assert {case.link.to_mapping()["initial_window"] for case in period.links} == {"3"}
    assert [arm.protocol for arm in today.arms] == ["http/1.1", "h2"]
    assert {arm.viewport for arm in today.arms} == {(412, 823)}
    assert today.arms[0].connections_per_host == 2
    assert complaints(text) == []


def test_what_a_claim_and_a_figure_say_of_links_holds_in_every_variant() -> None:
    text = with_variants(
        "plain: {}",
        "period: {links: {initial_window: 3, queue: 1000p, timestamps: false, congestion_control: reno}}",
        base=f"{SMALL}{CLAIM}figures: [{{only: {{rtt: 20ms}}, x: arm}}]\n",
    )
    plain, period = read(text, "plain"), read(text, "period")
    assert [case.label for case in period.links] == [case.label for case in plain.links] == ["20ms", "100ms"]
    assert [place.words for place in period.claims[0].places] == ["dummy, 20ms"]
    assert period.claims[0].places[0].points[0].cell in {cell.id for cell in period.cells}
    assert period.claims[0].places != plain.claims[0].places  # other cells


def test_links_that_cells_have_of_their_own_get_the_settings_too() -> None:
    base = f"sites: dummy\n{ARMS}cells: [{{link: {{rtt: 1s}}, arm: http}}, {{link: [{{rtt: 2s}}], arm: [http, h2]}}]\n"
    made = read(with_variants("period: {links: {initial_window: 3}}", base=base))
    assert {case.link.to_mapping()["initial_window"] for case in made.links} == {"3"}
    assert [case.label for case in made.links] == ["1s", "2s"]


@pytest.mark.parametrize(
    ("rest", "links", "said"),
    [
        (
            CLAIM,
            "rate: 5mbit",
            "exp.yaml:4: claims.a.where.rate: no cell has rate '10mbit' (with the variant b on line 7)",
        ),
        (
            "figures: {only: {link: 20ms}}\n",
            "profile: 3g",
            "exp.yaml:4: figures.only.link: no cell has link '20ms' (with",
        ),
        (
            "cells: [{link: 20ms}, {link: 100ms}]\n",
            "profile: 3g",
            "exp.yaml:4: cells[0].link: there is no link '20ms' (",
        ),
    ],
)
def test_what_a_variant_takes_away_is_named_with_the_variant(rest: str, links: str, said: str) -> None:
    text = with_variants("a: {}", f"b: {{links: {{{links}}}}}", base=f"{SMALL}{rest}")
    assert read(text.replace(links, "initial_window: 3"), "b").cells
    with pytest.raises(InputError) as refused:
        read(text)
    assert str(refused.value).startswith(said)


def test_a_mistake_of_the_file_itself_is_not_blamed_on_a_variant() -> None:
    with pytest.raises(InputError) as refused:
        read(with_variants("a: {}", "b: {links: {initial_window: 3}}", base=f"{SMALL}trials: 0\n"))
    assert "exp.yaml:4: trials" in str(refused.value)
    assert "variant" not in str(refused.value)


def test_an_unknown_variant_is_refused_with_the_near_miss() -> None:
    with pytest.raises(InputError, match=r"--variant: there is no variant 'perod'. Did you mean period?"):
        read(with_variants("period: {}"), "perod")
    with pytest.raises(InputError, match=r"--variant: there is no variant 'period'. The file has no variants"):
        read(SMALL, "period")


# --- what was published in a figure's place


def test_published_points_are_told_from_each_other_as_links_are() -> None:
    (figure,) = read(f"{SMALL}figures: {{x: rtt, published: {{axis: 700, points: {{h2: {{0.1s: 581}}}}}}}}\n").figures
    assert figure.published is not None
    assert figure.published.points == (("h2", "100ms", 581.0),)
    assert figure.published.axis == 700


def test_published_changes_may_be_negative_and_published_times_may_not() -> None:
    text = f"{SMALL}figures: {{x: rtt, y: METRIC, published: {{points: {{h2: {{20ms: -39}}}}}}}}\n"
    (figure,) = read(text.replace("METRIC", "change")).figures
    assert figure.published is not None
    assert figure.published.points == (("h2", "20ms", -39.0),)
    with pytest.raises(InputError, match=r"'-39' is no number"):
        read(text.replace("METRIC", "plt"))
