"""The flags that Chromium is started with."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from driver.browser import flags
from driver.browser.flags import Surroundings
from driver.errors import InputError


@dataclass(frozen=True)
class Settings:
    start: str = "fresh-process"
    display: str = "headless"
    user_agent: str | None = None
    viewport: tuple[int, int] = (1280, 720)
    browser_flags: tuple[str, ...] = ()


AROUND = Surroundings(hosts={"a.example": "10.10.3.1", "b.example": "10.10.3.2"})


def test_a_plain_arm() -> None:
    given = flags.flags(Settings(), AROUND, "/run/p")
    assert given[:4] == (
        "--headless=new",
        "--user-data-dir=/run/p",
        "--remote-debugging-port=0",
        "--window-size=1280,720",
    )
    assert given[-2:] == (
        "--host-resolver-rules=MAP a.example 10.10.3.1, MAP b.example 10.10.3.2, MAP * ~NOTFOUND",
        "about:blank",
    )
    assert "--disable-quic" in given
    assert not any(
        flag.startswith(("--no-sandbox", "--ssl-key-log", "--user-agent", "--ignore-cert")) for flag in given
    )
    assert len({flag.partition("=")[0] for flag in given}) == len(given), "the last of two equal flags would win"


def test_names_asked_of_a_resolver_are_the_sites_alone() -> None:
    around = Surroundings(hosts=AROUND.hosts, dns="resolver")
    rules = "--host-resolver-rules=EXCLUDE a.example, EXCLUDE b.example, MAP * ~NOTFOUND"
    assert rules in flags.flags(Settings(), around, "/run/p")


def test_everything_given() -> None:
    around = Surroundings(hosts=AROUND.hosts, trusted=("AA=", "BB="), keys=True, netlog=True)
    settings = Settings(
        display="headful", user_agent="an agent/1", browser_flags=("--enable-quic", "--js-flags=--jitless")
    )
    given = flags.flags(settings, around, "/run/p")
    assert "--ignore-certificate-errors-spki-list=AA=,BB=" in given
    assert "--ssl-key-log-file=/run/p.keys" in given
    assert "--log-net-log=/run/p.netlog" in given
    assert "--user-agent=an agent/1" in given
    assert "--disable-quic" not in given
    assert not any(flag.startswith("--headless") for flag in given)
    assert given[-3:] == ("--enable-quic", "--js-flags=--jitless", "about:blank")


def test_lists_of_features_are_joined() -> None:
    given = flags.flags(Settings(browser_flags=("--disable-features=Own,Translate",)), AROUND, "/run/p")
    [features] = [flag for flag in given if flag.startswith("--disable-features=")]
    names = features.partition("=")[2].split(",")
    assert "Own" in names
    assert "HttpsUpgrades" in names
    assert names.count("Translate") == 1


@pytest.mark.parametrize("flag", sorted(flags.RESERVED))
def test_flags_that_a_trial_depends_on_are_refused(flag: str) -> None:
    with pytest.raises(InputError, match="browser_flags: the flag --"):
        flags.flags(Settings(browser_flags=(f"{flag}=x",)), AROUND, "/run/p")


def test_what_is_no_flag_is_refused() -> None:
    with pytest.raises(InputError, match="Write it as --name"):
        flags.check(["incognito"])
