"""Contrasts of experiment files: which two changes or values they compare, and what they refuse."""

from collections.abc import Mapping

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment import Experiment
from lanelab.driver.experiment.claim import Claim
from tests.kit.experiments import read
from tests.unit.experiment.test_experiment_schema import complaints

GRID = "sites: [dummy, shop]\nlinks: {rate: 10mbit, rtt: [20ms, 100ms], loss: [0%, 2%]}\n"
FOUR = "arms: {http: {}, http-small: {minify: core}, h2: {protocol: h2}, h2-small: {protocol: h2, minify: core}}\n"
CLAIMS = """claims:
  gain: {change: {of: h2, to: http}, expect: lower, for: every place}
  small: {change: {of: http-small, to: http}, expect: lower, for: every place}
  small-h2: {change: {of: h2-small, to: h2}, expect: lower, for: every place}
  small-first: {change: {of: h2, to: http-small}, expect: lower, for: every place}
  bytes: {change: {of: h2, to: http, metric: bytes}, expect: lower, for: every place}
  load: {value: {of: h2}, published: 1s, margin: 10%, for: every place}
"""


def text(settings: str, more: str = "", base: str = GRID) -> str:
    return f"{base}{FOUR}{CLAIMS}  c: {{contrast: {{{settings}}}, expect: lower{more}}}\n"


def made(settings: str, more: str = "", base: str = GRID) -> Claim:
    assert complaints(text(settings, more, base)) == []
    return read(text(settings, more, base)).claims[-1]


def cells(claim: Claim) -> list[list[tuple[str, ...]]]:
    """Of each place the two sides: site, round trip, loss, arms."""
    experiment: Experiment = read(text("change_of: gain, to: small-h2", ", for: every place"))
    known: Mapping[str, tuple[str, str, str, str]] = {
        cell.id: (cell.site, str(cell.link.to_mapping()["rtt"]), str(cell.link.to_mapping()["loss"]), cell.arm.name)
        for cell in experiment.cells
    }
    return [
        [(*known[point.cell], known[point.base][3]) if point.base else known[point.cell] for point in place.points]
        for place in claim.places
    ]


def test_one_change_in_two_places() -> None:
    claim = made("change_of: gain, at: {rtt: 0.1s}, to_at: {rtt: 20ms}", ", where: {site: dummy, loss: 0%}")
    assert cells(claim) == [[("dummy", "100ms", "0%", "h2", "http"), ("dummy", "20ms", "0%", "h2", "http")]]
    assert claim.of == "h2 against http at rtt 100ms, compared with h2 against http at rtt 20ms"
    assert (claim.low, claim.high, claim.side) == (None, 0.99, -1)


def test_everything_else_is_the_same_in_both() -> None:
    claim = made("change_of: gain, at: {rtt: 100ms}, to_at: {rtt: 20ms}", ", for: every place")
    assert cells(claim) == [
        [(site, "100ms", loss, "h2", "http"), (site, "20ms", loss, "h2", "http")]
        for site in ("dummy", "shop")
        for loss in ("0%", "2%")
    ]
    assert len({place.words for place in claim.places}) == 4


def test_two_sites_or_two_links_by_name() -> None:
    claim = made("change_of: gain, at: {site: shop}, to_at: {site: dummy}", ", where: {rtt: 20ms}, for: every loss")
    assert [[side[0] for side in place] for place in cells(claim)] == [["shop", "dummy"]] * 2
    assert claim.places[0].words.startswith("shop, ")
    assert " against dummy, " in claim.places[0].words
    links = "sites: dummy\nlinks: [{rtt: 20ms, label: near}, {rtt: 90ms, loss: 1%, label: far}]\n"
    claim = made("change_of: gain, at: {link: far}, to_at: {link: near}", base=links)
    assert [place.words for place in claim.places] == ["dummy, far against near"]


def test_changes_of_other_arms_in_the_same_place() -> None:
    claim = made("change_of: small, to: small-h2", ", where: {rtt: 20ms, loss: 0%}, for: every site")
    assert cells(claim) == [
        [(site, "20ms", "0%", "http-small", "http"), (site, "20ms", "0%", "h2-small", "h2")]
        for site in ("dummy", "shop")
    ]
    assert claim.places[0].words.count("dummy") == 1


def test_a_value_in_two_places() -> None:
    claim = made("value_of: load, at: {loss: 2%}, to_at: {loss: 0%}", ", where: {site: dummy, rtt: 20ms}")
    assert cells(claim) == [[("dummy", "20ms", "2%", "h2"), ("dummy", "20ms", "0%", "h2")]]


def test_it_has_the_metric_of_its_claim() -> None:
    assert made("change_of: bytes, at: {loss: 2%}, to_at: {loss: 0%}", ", for: every place").metric == "bytes"


AT = "at: {rtt: 100ms}, to_at: {rtt: 20ms}"
MISTAKES = [
    (AT, "", "claims.c.contrast: a contrast is one of another claim"),
    (f"change_of: gain, value_of: load, {AT}", "", "claims.c.contrast: a contrast is one of another claim"),
    (f"change_of: gian, {AT}", "", "claims.c.contrast.change_of: there is no claim 'gian'. Did you mean gain?"),
    (f"change_of: load, {AT}", "", "claims.c.contrast.change_of: the claim load is about a value"),
    ("change_of: gain, to: load", "", "claims.c.contrast.to: the claim load is about a value. Name a claim that has c"),
    ("change_of: gain, to: bytes", "", "claims.c.contrast.to: one is about page load time, the other about bytes"),
    ("change_of: gain", "", "claims.c.contrast: it would be compared with itself"),
    ("change_of: gain, at: {rtt: 20ms}", "", "claims.c.contrast.at: there is no to_at"),
    ("change_of: gain, to: small-h2, to_at: {rtt: 20ms}", "", "claims.c.contrast.to_at: there is no at"),
    ("change_of: gain, at: {rtt: 20ms}, to_at: {rtt: 0.02s}", "", "contrast.to_at: it would be compared with itself"),
    ("change_of: gain, at: {rtt: 20ms}, to_at: {loss: 2%}", "", "contrast.to_at: it has other keys than at. Write rtt"),
    ("change_of: gain, at: {rtt: [20ms, 100ms]}, to_at: {rtt: 20ms}", "", "contrast.at.rtt: each of the two is in one"),
    ("change_of: gain, at: {rtt: 30ms}, to_at: {rtt: 20ms}", "", "contrast.at.rtt: no cell has rtt '30ms'"),
    ("change_of: gain, at: {arm: h2}, to_at: {arm: http}", "", "contrast.at.arm: arms are those of the claims"),
    ("change_of: gain, at: {}, to_at: {}", "", "claims.c.contrast.at: it says nothing"),
    (f"change_of: gain, {AT}", "", "claims.c: this is 4 places: dummy, 100ms"),
    (f"change_of: gain, {AT}", ", for: every site", "claims.c.for: loss is not the same in all these places"),
    (f"change_of: gain, {AT}", ", for: every rtt", "claims.c.for: at chooses one rtt"),
    (f"change_of: gain, {AT}", ", where: {rtt: 20ms}", "claims.c.where: no cell of the arm 'h2' has all of this"),
    (
        f"change_of: gain, {AT}",
        ", where: {rtt: 100ms}, for: every place",
        "no cell of h2 with rtt 20ms can be compared",
    ),
    ("change_of: gain, to: gain", ", for: every place", "at dummy, 20ms loss 0% it would be compared with itself"),
    (
        "change_of: gain, to: small",
        ", for: every place",
        "both have the trials of http at dummy, 20ms loss 0%, which cancel out. Write change: {of: h2, to: http-small}",
    ),
    (
        "change_of: gain, to: small-first",
        ", for: every place",
        "both have the trials of h2 at dummy, 20ms loss 0%, which cancel out. Write change: {of: http-small, to: http}",
    ),
]


@pytest.mark.parametrize(("settings", "more", "said"), MISTAKES, ids=[said[:60] for _, _, said in MISTAKES])
def test_a_mistake_is_named_with_its_key(settings: str, more: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(text(settings, more))
    assert said in str(refused.value)
    assert str(refused.value).startswith("exp.yaml:11: claims.c")


@pytest.mark.parametrize(
    "settings",
    [
        AT,
        f"change_of: gain, value_of: load, {AT}",
        "change_of: gain",
        "change_of: gain, at: {rtt: 20ms}",
        "change_of: gain, at: {rtt: [20ms, 100ms]}, to_at: {rtt: 20ms}",
        "change_of: gain, at: {arm: h2}, to_at: {arm: http}",
        "change_of: gain, at: {}, to_at: {}",
        f"change_of: gain, {AT}, over: rtt",
    ],
)
def test_editors_refuse_it_too(settings: str) -> None:
    assert complaints(text(settings))


def test_a_trend_does_not_mix_loads() -> None:
    """Each number of users is a place of its own, as each site is."""
    load = "workload: {kind: load, users: [10, 20], duration: 1min}\n"
    base = f"{load}sites: dummy\nlinks: {{rtt: [20ms, 100ms]}}\narms: {{http: {{}}, h2: {{protocol: h2}}}}\nclaims:\n"
    of = "{change: {of: h2, to: http, metric: page}, expect: lower, for: every place}"
    grows = "{trend: {change_of: a, over: rtt}, expect: decreasing, for: every users}"
    experiment = read(f"{base}  a: {of}\n  grows: {grows}\n")
    assert [len(place.points) for place in experiment.claims[1].places] == [2, 2]
