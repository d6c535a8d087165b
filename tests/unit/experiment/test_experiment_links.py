"""Grids of links, what links are called, and which cells there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.link import Link
from lanelab.driver.link.profiles import PROFILES
from tests.kit.experiments import ARMS, PATIENT, read
from tests.kit.links import settings

HEAD = f"sites: [dummy, shop]\n{ARMS}"

NEAR_AND_FAR = "links: [{rtt: 20ms, label: near}, {rtt: 100ms}]\n"


def labels(links: str) -> list[str]:
    return [case.label for case in read(f"{HEAD}links: {links}\n").links]


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ("{}", ["unshaped"]),
        ("{rtt: 100ms}", ["100ms"]),
        ("{rate: 10mbit, rtt: 100ms, loss: 1%}", ["10mbit 100ms"]),
        ("{rate: 10mbit, rtt: [20ms, 100ms]}", ["20ms", "100ms"]),
        ("{rtt: [20ms, 100ms], rate: [1mbit, 10mbit]}", ["1mbit 20ms", "10mbit 20ms", "1mbit 100ms", "10mbit 100ms"]),
        ("{rate: [1mbit, unlimited]}", ["1mbit", "unlimited rate"]),
        ("{rate: 1mbit, rtt: 50ms, loss: [0%, 1%]}", ["loss 0%", "loss 1%"]),
        ("{rate: 1mbit, queue: [20p, 50ms]}", ["queue 20p", "queue 6250B"]),
        ("{rtt: 20ms, mtu: [576, 1500]}", ["mtu 576", "mtu 1500"]),
        ("{profile: [3g, cable]}", ["3g", "cable"]),
        ("{profile: 3g, rtt: [50ms, 100ms]}", ["3g 50ms", "3g 100ms"]),
        ("{rate_down: [5mbit, 9mbit], rate_up: 1mbit}", ["rate_down 5mbit", "rate_down 9mbit"]),
        ("[{rtt: 20ms}, {rtt: 100ms, label: far}]", ["20ms", "far"]),
        ("[{rate: 5mbit}, {rate_down: 2mbit, rate_up: 1mbit}]", ["5mbit", "2mbit/1mbit"]),
        ("[{rtt: 20ms}, {rtt: 20ms, rate: 1mbit}]", ["unlimited rate", "1mbit"]),
        ("3g", ["3g"]),
        ("[cable, 3g]", ["cable", "3g"]),
    ],
)
def test_links_are_called_by_what_differs(links: str, expected: list[str]) -> None:
    assert labels(links) == expected


@PATIENT
@given(st.lists(settings(), min_size=1, max_size=4, unique_by=Link.parse))
def test_labels_tell_links_apart(mappings: list[dict[str, object]]) -> None:
    lines = "".join(
        "- " + "  ".join(f"{k}: {str(v).lower() if isinstance(v, bool) else v}\n" for k, v in mapping.items())
        for mapping in mappings
    )
    links = read(f"{HEAD}links:\n{lines}").links
    assert [case.link for case in links] == [Link.parse(mapping) for mapping in mappings]
    assert len({case.label for case in links}) == len(mappings)
    assert all(case.label and case.label.isprintable() for case in links)


def test_all_profiles_at_once() -> None:
    with_router = [name for name, profile in PROFILES.items() if not profile.link.direct]
    assert labels(f"{{profile: [{', '.join(with_router)}]}}") == with_router


def test_a_cell_is_every_combination() -> None:
    experiment = read(f"{HEAD}links: {{rtt: [20ms, 100ms]}}\n")
    assert [(cell.site, cell.link.label, cell.arm.name) for cell in experiment.cells] == [
        (site, link, arm) for site in ("dummy", "shop") for link in ("20ms", "100ms") for arm in ("http", "h2")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "sites: dummy\ncells:\n- {link: {rtt: [20ms, 100ms]}, arm: http}\n- {link: {rtt: 50ms}}\n",
            ["dummy 20ms http", "dummy 100ms http", "dummy 50ms http", "dummy 50ms h2"],
        ),
        (
            "cells: [{site: dummy, link: near}, {site: shop, link: [100ms, near], arm: h2}]\n" + NEAR_AND_FAR,
            ["dummy near http", "dummy near h2", "shop 100ms h2", "shop near h2"],
        ),
        (
            "sites: dummy\nlinks: {rtt: 20ms}\ncells:\n- {arm: http}\n- {link: [20ms, {rtt: 50ms}], arm: h2}\n",
            ["dummy 20ms http", "dummy 20ms h2", "dummy 50ms h2"],
        ),
    ],
)
def test_listed_cells_are_exactly_those(text: str, expected: list[str]) -> None:
    experiment = read(ARMS + text)
    assert [f"{cell.site} {cell.link.label} {cell.arm.name}" for cell in experiment.cells] == expected
    assert set(experiment.links) == {cell.link for cell in experiment.cells}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ("direct", ["direct"]),
        ("{path: direct}", ["direct"]),
        ("{profile: direct, mtu: [1400, 1500]}", ["direct mtu 1400", "direct mtu 1500"]),
        ("{path: [router, direct]}", ["unshaped", "direct"]),
        ("[direct, load-test-2013, {rtt: 50ms}]", ["direct", "load-test-2013", "50ms"]),
        ("[{rtt: 20ms}, {rtt: 50ms}, direct]", ["20ms", "50ms", "direct"]),
    ],
)
def test_direct_links_are_called_so(links: str, expected: list[str]) -> None:
    of_load = HEAD.replace("[dummy, shop]", "[dummy]") + "workload: {kind: load, users: 5, duration: 5s}\n"
    assert [case.label for case in read(f"{of_load}links: {links}\n").links] == expected


def test_page_loads_over_a_direct_link_are_refused_with_the_line() -> None:
    with pytest.raises(InputError, match=r":3: links: page loads need a router, and the link direct has none"):
        read(f"{HEAD}links: [{{rtt: 20ms}}, direct]\n")


def test_what_only_a_router_does_is_refused_beside_direct() -> None:
    with pytest.raises(InputError, match="a direct link has no router"):
        read(f"{HEAD}links: {{profile: direct, rtt: 20ms}}\n")


def test_a_profile_alone_can_have_variants() -> None:
    text = f"{HEAD}links: 3g\nvariants: {{old: {{links: {{initial_window: 3}}}}, today: {{}}}}\n"
    (case,) = read(text).links
    assert case.link == Link.parse({**PROFILES["3g"].settings, "initial_window": "3"})
