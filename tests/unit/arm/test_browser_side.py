"""Hosts at the gateway: none whose images Chromium would hold back shares a connection, and few have their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.arm.gateway.browser_side import browser_addresses
from lanelab.driver.site.load import load_site
from lanelab.driver.site.site import Site
from tests.kit.server_arms import made


def site(counts: list[int]) -> Site:
    """A page, and so many images of each of its hosts: 0.test is the page's own."""
    objects = [("0.test", "/", "text/html")]
    objects += [
        (f"{host}.test", f"/{number}.png", "image/png") for host, count in enumerate(counts) for number in range(count)
    ]
    return made(*objects)


@pytest.mark.parametrize(
    ("counts", "last"),
    [
        ([30], [1]),
        ([30, 6, 4], [1, 1, 1]),
        ([30, 7], [1, 2]),
        ([0, 6, 3, 6], [1, 2, 1, 1]),
        ([2, 6, 6, 6], [1, 2, 3, 1]),
        ([9, *[1] * 11], [1, 2, *[1] * 10]),
    ],
)
def test_hosts_with_the_most_objects_have_addresses_of_their_own(counts: list[int], last: list[int]) -> None:
    assert list(browser_addresses(site(counts)).values()) == [f"127.0.0.{number}" for number in last]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_what_shares_an_address_is_never_more_than_chromium_asks_for_at_once(counts: list[int]) -> None:
    addresses = browser_addresses(site(counts))
    shared = [count for host, count in list(enumerate(counts))[1:] if addresses[f"{host}.test"] == "127.0.0.1"]
    assert sum(shared) <= 10
    assert max(shared, default=0) <= 6
    own = [address for address in addresses.values() if address != "127.0.0.1"]
    assert len(set(own)) == len(own)


def test_hosts_without_objects_share_the_first_address() -> None:
    page = load_site("google-dev-article-2012")
    assert set(browser_addresses(page).values()) == {"127.0.0.1"}, "each of its other hosts has one object"
