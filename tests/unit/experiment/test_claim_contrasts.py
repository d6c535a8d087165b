"""Contrasts of experiment files: which two changes or values they compare, and what they refuse."""

from collections.abc import Mapping

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.model import Experiment
from tests.kit.complaints import complaints
from tests.kit.experiments import read

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


def test_a_trend_does_not_mix_loads() -> None:
    """Each number of users is a place of its own, as each site is."""
    load = "workload: {kind: load, users: [10, 20], duration: 1min}\n"
    base = f"{load}sites: dummy\nlinks: {{rtt: [20ms, 100ms]}}\narms: {{http: {{}}, h2: {{protocol: h2}}}}\nclaims:\n"
    of = "{change: {of: h2, to: http, metric: page}, expect: lower, for: every place}"
    grows = "{trend: {change_of: a, over: rtt}, expect: decreasing, for: every users}"
    experiment = read(f"{base}  a: {of}\n  grows: {grows}\n")
    assert [len(place.points) for place in experiment.claims[1].places] == [2, 2]


@pytest.mark.parametrize(
    ("quantifier", "varies"), [("every rtt", "users"), ("every users", "rtt"), ("every site", "rtt")]
)
def test_places_differ_in_nothing_but_what_is_named(quantifier: str, varies: str) -> None:
    """A file to which a number of users is added later is refused, as one to which a rate is."""
    load = "workload: {kind: load, users: [10, 20], duration: 1min}\n"
    base = f"{load}sites: dummy\nlinks: {{rtt: [20ms, 100ms]}}\narms: {{http: {{}}, h2: {{protocol: h2}}}}\nclaims:\n"
    of = "change: {of: h2, to: http, metric: page}, expect: lower"
    with pytest.raises(InputError, match=f"claims.a.for: {varies} is not the same in all these places"):
        read(f"{base}  a: {{{of}, for: {quantifier}}}\n")
    assert len(read(f"{base}  a: {{{of}, where: {{users: 10}}, for: every rtt}}\n").claims[0].places) == 2
    with pytest.raises(InputError) as refused:
        read(f"{base}  a: {{{of}, for: all but 1 rtt}}\n")
    assert refused.value.remedy == "Name one users with where, or write all but 1 place"
    assert read(f"{base}  a: {{{of}, for: all but 1 place}}\n").claims[0].exceptions == 1
