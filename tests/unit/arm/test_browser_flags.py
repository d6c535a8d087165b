"""The flags that Chromium is started with."""

from dataclasses import replace

import pytest

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.chromium import flags
from lanelab.driver.arm.browsers.chromium.fields import FLAGS_REFUSED
from tests.kit.browser_settings import AROUND, Settings

EVERYTHING = Surroundings(hosts=AROUND.hosts, trusted=("AA=", "BB="), keys=True, netlog=True)


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
    assert "--disable-site-isolation-trials" in given, "else requests of other sites' frames are not in the log"
    assert not any(
        flag.startswith(("--no-sandbox", "--ssl-key-log", "--user-agent", "--ignore-cert")) for flag in given
    )
    assert len({flag.partition("=")[0] for flag in given}) == len(given), "the last of two equal flags would win"


def test_names_asked_of_a_resolver_are_the_sites_alone() -> None:
    around = Surroundings(hosts=AROUND.hosts, dns="resolver")
    rules = "--host-resolver-rules=EXCLUDE a.example, EXCLUDE b.example, MAP * ~NOTFOUND"
    assert rules in flags.flags(Settings(), around, "/run/p")


def test_a_recording_asks_for_every_name_there_is() -> None:
    given = flags.flags(Settings(), Surroundings(hosts={}, dns="machine"), "/run/p")
    assert not any(flag.startswith("--host-resolver-rules") for flag in given)


def test_everything_given() -> None:
    settings = Settings(
        display="headful", user_agent="an agent/1", browser_flags=("--enable-quic", "--js-flags=--jitless")
    )
    given = flags.flags(settings, EVERYTHING, "/run/p")
    assert "--ignore-certificate-errors-spki-list=AA=,BB=" in given
    assert "--ssl-key-log-file=/run/p.keys" in given
    assert "--log-net-log=/run/p.netlog" in given
    assert "--user-agent=an agent/1" in given
    assert "--disable-quic" not in given
    assert not any(flag.startswith("--headless") for flag in given)
    assert given[-3:] == ("--enable-quic", "--js-flags=--jitless", "about:blank")


def test_a_server_that_takes_http2_from_whoever_offers_it_is_not_offered_it() -> None:
    assert "--disable-http2" in flags.flags(Settings(), replace(AROUND, without_h2=True), "/run/p")
    assert "--disable-http2" not in flags.flags(Settings(), AROUND, "/run/p")


H3 = Settings(protocol="h3")


def test_http3_is_forced_for_every_host() -> None:
    given = flags.flags(H3, AROUND, "/run/p")
    assert "--enable-quic" in given
    assert "--disable-quic" not in given
    assert "--origin-to-force-quic-on=a.example:443,b.example:443" in given
    assert not any(flag.startswith("--enable-features") for flag in given)


def test_http3_that_is_discovered_is_forced_at_no_port_that_is_used() -> None:
    given = flags.flags(replace(H3, h3_discovery="alt-svc"), AROUND, "/run/p")
    assert "--origin-to-force-quic-on=a.example:1,b.example:1" in given, "else its certificate does not pass"
    assert "UseDnsHttpsSvcb" in next(flag for flag in given if flag.startswith("--disable-features"))


def test_https_records_are_asked_for_where_they_tell_of_http3() -> None:
    given = flags.flags(replace(H3, h3_discovery="https-record"), AROUND, "/run/p")
    assert "--enable-features=AsyncDns,UseDnsHttpsSvcb" in given
    assert "UseDnsHttpsSvcb" not in next(flag for flag in given if flag.startswith("--disable-features"))


def test_lists_of_features_are_joined() -> None:
    given = flags.flags(Settings(browser_flags=("--disable-features=Own,Translate",)), AROUND, "/run/p")
    [features] = [flag for flag in given if flag.startswith("--disable-features=")]
    names = features.partition("=")[2].split(",")
    assert "Own" in names
    assert "HttpsUpgrades" in names
    assert names.count("Translate") == 1


@pytest.mark.parametrize("around", [AROUND, EVERYTHING], ids=["usual", "everything"])
@pytest.mark.parametrize("display", ["headless", "headful"])
def test_no_arm_can_take_away_what_a_trial_depends_on(around: Surroundings, display: str) -> None:
    """Each flag with a value of ours is refused in experiments, but for joined lists and what is harmless."""
    arm = Settings(display=display, user_agent="an agent/1")
    given = {flag.partition("=")[0] for flag in flags.flags(arm, around, "/run/p") if "=" in flag}
    harmless = {"--force-color-profile", "--lang", "--net-log-capture-mode", "--password-store", "--test-type"}
    harmless.add("--window-position")
    assert given - harmless - set(flags.JOINED) <= set(FLAGS_REFUSED)
