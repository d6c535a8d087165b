"""Profiles: every one can be, says where it is from, and gives way to what the user sets."""

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.link import Link
from lanelab.driver.link.profiles import PROFILES, Profile, resolve


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_profile_is_a_link_with_a_source(profile: Profile) -> None:
    assert Link.parse(profile.link.to_mapping()) == profile.link
    assert resolve(profile.name, {}) == profile.link
    assert profile.source
    assert all(value in str(profile) for value in profile.settings.values())


def test_published_values() -> None:
    assert PROFILES["3g"].link == Link.parse({"rtt": "300ms", "rate_down": "1.6mbit", "rate_up": "768kbit"})
    assert PROFILES["load-test-2013"].link == Link.parse({"rtt": "85ms", "delay_down": "40ms"})


@pytest.mark.parametrize(
    ("name", "overrides", "same"),
    [
        (None, {"rtt": "10ms"}, {"rtt": "10ms"}),
        (None, {}, {}),
        ("cable", {"rtt": "10ms"}, {"rtt": "10ms", "rate_down": "5mbit", "rate_up": "1mbit"}),
        ("cable", {"rate": "2mbit"}, {"rtt": "28ms", "rate": "2mbit"}),
        ("cable", {"rate": "unlimited"}, {"rtt": "28ms"}),
        ("cable", {"rate_up": "2mbit"}, {"rtt": "28ms", "rate_down": "5mbit", "rate_up": "2mbit"}),
        ("lte", {"rate_up": "2mbit"}, {"rtt": "70ms", "rate_down": "12mbit", "rate_up": "2mbit"}),
        ("lte", {"delay_up": "1ms"}, {"delay_down": "35ms", "delay_up": "1ms", "rate": "12mbit"}),
        ("lte", {"rtt": "50ms", "delay_up": "10ms"}, {"delay_down": "40ms", "delay_up": "10ms", "rate": "12mbit"}),
        ("load-test-2013", {"rtt": "50ms"}, {"rtt": "50ms"}),
        ("load-test-2013", {"delay_up": "50ms"}, {"delay_down": "40ms", "delay_up": "50ms"}),
        (
            "satellite-lossy",
            {"loss_up": "0%"},
            {"rtt": "600ms", "rate_down": "20mbit", "rate_up": "2mbit", "loss_down": "1%"},
        ),
    ],
)
def test_what_the_user_sets_replaces(name: str | None, overrides: dict[str, object], same: dict[str, object]) -> None:
    assert resolve(name, overrides) == Link.parse(same)


@pytest.mark.parametrize(
    ("name", "near"), [("cabel", "Did you mean cable?"), ("3G", "Did you mean 3g?"), ("zzz", "Profiles are dial,")]
)
def test_an_unknown_profile_is_refused(name: str, near: str) -> None:
    with pytest.raises(InputError) as error:
        resolve(name, {})
    assert error.value.key == "profile"
    assert near in str(error.value)
    assert all(known in str(error.value) for known in PROFILES)


def test_a_bad_override_is_refused() -> None:
    with pytest.raises(InputError, match="rate_dwn: there is no such setting"):
        resolve("3g", {"rate_dwn": "1mbit"})
