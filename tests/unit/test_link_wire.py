"""What of a link packets see, and what only page loads do."""

from __future__ import annotations

from hypothesis import given

from driver.shaping.shaping import shape
from model.link import Link
from model.units import Duration
from tests.unit.links import links


def test_names_and_addresses_are_not_on_the_wire() -> None:
    link = Link.parse({"rtt": "20ms", "dns": "resolver", "addresses": "per-origin"})
    assert (link.dns, link.addresses) == ("resolver", "per-origin")
    assert link.wire() == Link.parse({"rtt": "20ms"})
    assert link != link.wire()


@given(links())
def test_the_wire_is_shaped_as_the_link_is(link: Link) -> None:
    assert link.wire() == link.wire().wire()
    assert shape(link, Duration(0)) == shape(link.wire(), Duration(0))
