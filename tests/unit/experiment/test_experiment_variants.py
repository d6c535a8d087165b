"""Variants of an experiment, and what was published in its figures' place."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment import Experiment, parse_experiment
from tests.kit.experiments import ARMS, SITES, SMALL
from tests.unit.experiment.test_experiment_schema import complaints

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


MISTAKES = [
    ("a: {arms: {h3: {tls: 1.2}}}", "exp.yaml:5: variants.a.arms.h3: there is no arm 'h3'. There are http, h2"),
    ("a: {arm: {h2: {tls: 1.2}}}", "exp.yaml:5: variants.a.arm: there is no such key. Did you mean arms?"),
    ("a: {defaults: {tsl: 1.2}}", "exp.yaml:5: variants.a.defaults.tsl: there is no such setting"),
    ("a: {arms: {h2: {tls: 1.1}}}", "exp.yaml:5: arms.h2.tls: '1.1' is not one of them. Did you mean"),
    ("a: {links: {rtt: 5}}", "exp.yaml:5: variants.a.links.rtt: the links on line 2 differ in rtt, and all would"),
    ("a: {links: {label: fast}}", "exp.yaml:5: variants.a.links.label: all links would have this one label"),
    ("a: {links: {loss: [0%, 1%]}}", "exp.yaml:5: variants.a.links.loss: a list would make more links"),
    (
        "a: {arms: {h2: {keepalive: false}}}",
        "exp.yaml:5: arms.h2.keepalive: HTTP/2 carries all requests on one connection, so",
    ),
    (
        "a: {arms: {h2: {protocol: http/1.1, tls: off}}}",
        "arms.h2: it differs in nothing from the arm 'http' (with the variant a on line 5)",
    ),
    ("a: {links: {initial_window: many}}", "exp.yaml:5: links.initial_window: 'many' "),
    ("a b: {}", "exp.yaml:5: variants.a b: 'a b' cannot be a name"),
]


@pytest.mark.parametrize(("line", "said"), MISTAKES, ids=[said[:60] for _, said in MISTAKES])
def test_a_mistake_is_named_whichever_variant_is_wanted(line: str, said: str) -> None:
    for text in (with_variants(line), with_variants(line, "fine: {links: {initial_window: 3}}")):
        with pytest.raises(InputError) as refused:
            read(text)
        assert said in str(refused.value)
    with pytest.raises(InputError) as refused:
        read(with_variants(line, "fine: {links: {initial_window: 3}}"), "fine")
    assert said in str(refused.value)


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


@pytest.mark.parametrize("line", [line for line, said in MISTAKES[:7]])
def test_what_no_variant_can_say_is_not_valid_for_editors(line: str) -> None:
    if "h3" not in line:  # which arms there are is not a matter of shape
        assert complaints(with_variants(line))


def test_an_unknown_variant_is_refused_with_the_near_miss() -> None:
    with pytest.raises(InputError, match=r"--variant: there is no variant 'perod'. Did you mean period?"):
        read(with_variants("period: {}"), "perod")
    with pytest.raises(InputError, match=r"--variant: there is no variant 'period'. The file has no variants"):
        read(SMALL, "period")


# --- what was published in a figure's place

PUBLISHED = [
    ("{source: figure 7}", "published: it has neither points nor axis"),
    ("{axis: 0}", "published.axis: an axis of no length shows nothing"),
    ("{axis: -5}", "published.axis: '-5' is no number"),
    ("{points: {}}", "published.points: there are no points"),
    ("{points: {h2: {}}}", "published.points.h2: there are no points"),
    ("{points: {h3: {20ms: 5}}}", "published.points.h3: the figure has no arm 'h3'. There are http, h2"),
    ("{points: {h2: {25ms: 5}}}", "published.points.h2.25ms: the figure has no rtt '25ms'. Did you mean 20ms?"),
    ("{points: {h2: {20ms: 5ms}}}", "published.points.h2.20ms: '5ms' is no number. Write it without a unit"),
    ("{points: {h2: {20ms: 5, 0.02s: 6}}}", "published.points.h2.0.02s: there are two points at 20ms"),
    ("{point: {h2: {20ms: 5}}}", "published.point: there is no such key. Did you mean points?"),
]


@pytest.mark.parametrize(("settings", "said"), PUBLISHED, ids=[settings for settings, _ in PUBLISHED])
def test_a_published_point_has_a_place_in_its_figure(settings: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(f"{SMALL}figures: {{x: rtt, published: {settings}}}\n")
    assert str(refused.value).startswith(f"exp.yaml:4: figures.{said}")


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
