"""Distances against the hosts of a site, before any bed is made."""

from dataclasses import replace

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.link import Link
from lanelab.driver.run.run_duration import sites_of
from lanelab.driver.run.served_sites import ServedSites
from lanelab.driver.run.site_distances import check_distances, link_as_recorded, planned_distances
from lanelab.driver.site.load import load_site
from tests.kit.records import SITE

HOSTS = SITE.hosts
REMEMBERED = tuple((host, f"{20 + 10 * number}ms") for number, host in enumerate(HOSTS))
EXPERIMENT = """
sites: thirty-hosts
links: LINKS
arms: {one: {addresses: per-origin, protocol: h2, tls: 1.3}}
"""


def link(distances: str, **settings: str) -> Link:
    return Link.parse({"distances": distances, **settings})


def served(links: str, more: str = "") -> ServedSites:
    experiment = parse_experiment(EXPERIMENT.replace("LINKS", links) + more, "exp.yaml", ["thirty-hosts"])
    return ServedSites.of(experiment, {"thirty-hosts": load_site("thirty-hosts")})


def trips(sites: ServedSites, links: str, more: str = "") -> list[str]:
    experiment = parse_experiment(EXPERIMENT.replace("LINKS", links) + more, "exp.yaml", ["thirty-hosts"])
    return [str(sites.link(cell).to_host("img1.cdn.test").rtt) for cell in experiment.cells]


def test_distances_of_the_sites_hosts_are_taken() -> None:
    check_distances(SITE, link(f"{{{HOSTS[0]}: 20ms, default: 40ms}}"))
    check_distances(SITE, link("{'*.test': 20ms}"))
    check_distances(SITE, Link.parse({"rtt": "20ms"}))


@pytest.mark.parametrize(
    ("distances", "says"),
    [
        ("{a.tset: 20ms, default: 40ms}", "a.tset is no host of the site"),
        ("{'*.example': 20ms}", "*.example is no host of the site"),
        (f"{{'*.{HOSTS[0]}': 20ms}}", f"*.{HOSTS[0]} is no host of the site"),  # it has none below that
    ],
)
def test_a_line_of_no_host_is_refused(distances: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        check_distances(SITE, link(distances))
    assert str(refused.value).startswith(f"links.distances: {says}")
    assert f"Its hosts are {', '.join(HOSTS[:8])}" in str(refused.value)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(InputError, match=r"Did you mean a\.test\?"):
        check_distances(SITE, link("{a.tst: 20ms}"))


def test_what_a_site_remembers_is_taken_where_it_is_asked_for() -> None:
    site = replace(SITE, distances=REMEMBERED)
    recorded = link_as_recorded(link("recorded", rate="5mbit"), site, HOSTS)
    assert [recorded.to_host(host).rtt.milliseconds for host in HOSTS] == [
        20 + 10 * number for number in range(len(HOSTS))
    ]
    assert recorded.down.rate == link("recorded", rate="5mbit").down.rate


@pytest.mark.parametrize(
    ("remembered", "settings", "says"),
    [
        ((), {}, "remembers no distances"),
        (REMEMBERED[:1], {}, f"remembers no distance of {HOSTS[1]}"),
        (REMEMBERED, {"rtt": "25ms"}, f"20ms to {HOSTS[0]} is less than the 25ms that the link alone takes"),
    ],
)
def test_what_a_site_does_not_remember_is_refused(
    remembered: tuple[tuple[str, str], ...], settings: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        link_as_recorded(link("recorded", **settings), replace(SITE, distances=remembered), HOSTS)
    assert says in str(refused.value)
    assert refused.value.key == "links.distances"


def test_a_default_is_of_all_that_it_remembers_nothing_of() -> None:
    site = replace(SITE, distances=(*REMEMBERED[:1], ("default", "77ms")))
    assert link_as_recorded(link("recorded"), site, HOSTS).to_host(HOSTS[1]).rtt.milliseconds == 77


def test_a_links_own_go_before_those_of_the_experiment() -> None:
    more = "distances: {'*.cdn.test': 30ms, default: 50ms}\n"
    links = "[{}, {distances: recorded}, {distances: none, rtt: 60ms}, {distances: {img1.cdn.test: 70ms}}]"
    assert trips(served(links, more), links, more) == ["30ms", "12ms", "60ms", "70ms"]


def test_distances_may_be_a_grid() -> None:
    links = "{rtt: 10ms, distances: [none, recorded, {default: 80ms}]}"
    assert trips(served(links), links) == ["10ms", "12ms", "80ms"]


def test_a_site_that_remembers_nothing_is_refused_before_any_bed() -> None:
    experiment = parse_experiment(
        EXPERIMENT.replace("thirty-hosts", "dummy").replace("LINKS", "{distances: recorded}"), "exp.yaml", ["dummy"]
    )
    with pytest.raises(InputError, match="the site dummy remembers no distances"):
        ServedSites.of(experiment, {"dummy": load_site("dummy")})


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("capture: off\n", "exp.yaml:5: capture: that each host is as far away"),
        ("capture: server\n", "exp.yaml:5: capture: that each host is as far away"),
    ],
)
def test_without_a_capture_nobody_knows_how_far_hosts_were(more: str, says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_experiment(EXPERIMENT.replace("LINKS", "{distances: recorded}") + more, "exp.yaml", ["thirty-hosts"])
    assert str(refused.value).startswith(says)


def test_a_server_under_load_has_one_host() -> None:
    load = "workload: {kind: load, users: 5, duration: 5s}\n"
    text = "sites: dummy\nlinks: {distances: {dummy.test: 20ms}}\narms: {one: {}}\n" + load
    with pytest.raises(InputError, match="distances are of a page's hosts"):
        parse_experiment(text, "exp.yaml", ["dummy"])


def test_a_plan_says_how_far_each_host_is_and_by_which_line() -> None:
    links = "[{label: kept, distances: recorded}, {label: own, rtt: 5ms, distances: {'*.cdn.test': 9ms}}]"
    text = f"sites: thirty-hosts\nlinks: {links}\n"
    arms = "arms: {h2: {protocol: h2, tls: 1.3, addresses: per-origin}}\n"
    experiment = parse_experiment(text + arms, "x.yaml", ["thirty-hosts"])
    rows = planned_distances(experiment, sites_of(experiment))
    kept, written = ([each for each in rows if each.link == label] for label in ("kept", "own"))
    nearest = kept[0].hosts[0], str(kept[0].trip), kept[0].line
    assert nearest == ("static1.cdn.test", "12ms", "*.cdn.test in its site.yaml")
    assert sum(len(each.hosts) for each in kept) == sum(len(each.hosts) for each in written) == 30
    assert [(str(each.trip), each.line) for each in written] == [
        ("5ms", "the rtt of the link"),
        ("9ms", "*.cdn.test in the experiment"),
    ]


def test_a_plan_refuses_lines_of_no_host() -> None:
    text = "sites: thirty-hosts\nlinks: {distances: {cdm.test: 9ms}}\narms: {a: {addresses: per-origin}}\n"
    experiment = parse_experiment(text, "x.yaml", ["thirty-hosts"])
    with pytest.raises(InputError, match=r"cdm\.test is no host of the site thirty-hosts"):
        planned_distances(experiment, sites_of(experiment))
