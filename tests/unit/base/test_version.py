"""The version of a wheel that was built between two releases."""

import pytest

from lanelab.driver.base.version import RELEASE, release_of


@pytest.mark.parametrize(
    ("version", "release"),
    [("1.0", "1.0"), ("0.1.0.dev0+g0123abcd", "0.1.0"), ("1.2.3.post14+g0123abcd.changed", "1.2.3")],
)
def test_what_is_named_after_a_release_is_so_in_each_wheel(version: str, release: str) -> None:
    assert release_of(version) == release


def test_a_name_of_an_image_may_have_it() -> None:
    assert set(RELEASE) <= set("0123456789.")
