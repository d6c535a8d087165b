"""Tomcat and Jetty as servers: what is worked out without starting them."""

from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import OWNERS
from lanelab.driver.arm.servers.back_ends import log
from lanelab.driver.arm.servers.back_ends import server as installation
from lanelab.driver.arm.servers.back_ends.configuration import configuration, headers, question, version_of
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import BACK_END_PORT, Place, asked_at
from lanelab.driver.base.errors import InputError, MissingProgram, RecordError
from lanelab.driver.base.programs.building.back_ends import BACK_ENDS, SOURCES
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.site.site import Site, SiteObject

PLACE = Place("/folder", "/content")


def arm(**settings: object) -> Arm:
    return Arm.parse("arm", {"server": "tomcat", **settings})


def test_java_is_found_and_its_age_looked_at() -> None:
    words = '/usr/bin/java\nopenjdk version "{}" 2025-04-15\nOpenJDK Runtime Environment\n'
    assert installation.read_java(words.format("17.0.15"), "server") == "/usr/bin/java"
    assert installation.read_java(words.format("25"), "server") == "/usr/bin/java"
    with pytest.raises(MissingProgram, match="Java 11 is too old"):
        installation.read_java(words.format("11.0.2"), "server")
    with pytest.raises(MissingProgram, match="Java 1 is too old"):
        installation.read_java(words.format("1.8.0_392"), "server")
    for nothing in ("", "/usr/bin/java\nSegmentation fault\n"):
        with pytest.raises(MissingProgram, match="cannot be found"):
            installation.read_java(nothing, "server")


def test_warnings_speak_against_a_trial() -> None:
    good = "2026-11-23 04:06:21 INFO org.eclipse.jetty.server.Server: Started Server@1{STARTING}[12.0.16,sto=0] @986ms"
    bad = [good.replace("INFO", "WARNING"), good.replace("INFO", "SEVERE"), "# A fatal error has been detected"]
    assert log.unexpected([good, "", *bad]) == bad
    left = bad[0] + " | org.eclipse.jetty.spdy.StreamException: Stream: stream=1 v3 windowSize=65536 is reset! < org.e"
    ignored = (
        "2026-11-23 05:05:50 WARNING org.apache.coyote.http2.Http2Parser: Connection [3], An unknown setting with "
    )
    ignored += "identifier [8] and value [1] was ignored"
    slow = "2026-11-23 05:32:48 WARNING org.apache.catalina.util.SessionIdGeneratorBase: "
    slow += "Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [102] milliseconds."
    assert not log.unexpected([slow])
    assert log.unexpected([left, ignored, bad[0] + " | java.lang.NullPointerException < lanelab.SiteServlet"]) == [
        bad[0] + " | java.lang.NullPointerException < lanelab.SiteServlet"
    ]


def test_no_request_is_made_up_from_its_log() -> None:
    assert log.requests([""]) == []
    with pytest.raises(RecordError, match="does not say what went over its connections"):
        log.requests(['{"began_us":1}'])


def test_page_loads_are_refused() -> None:
    for server in ("tomcat", "jetty"):
        text = f"sites: dummy\nlinks: {{rate: 10mbit, rtt: 20ms}}\narms: {{a: {{server: {server}}}}}\n"
        with pytest.raises(InputError, match=r"page loads with \w+ cannot be judged"):
            parse_experiment(text, "x.yaml", ["dummy"])


def test_where_they_listen() -> None:
    assert asked_at(arm()) == (("127.0.0.1", 80),)
    assert asked_at(arm(tls="1.3")) == (("127.0.0.1", 443),)
    behind = arm(proxy="apache", proxy_protocol="ajp", tls="1.3").back_end()
    assert asked_at(behind) == (("127.0.0.1", BACK_END_PORT),)
    assert question(behind) == b"\x12\x34\x00\x01\x0a"
    assert question(arm()) == b""
    spdy = Arm.parse("arm", {"server": "jetty", "jetty_version": "9.2", "protocol": "spdy/2"})
    assert question(spdy)[:4] == b"\x80\x02\x00\x06"


def test_addresses_of_the_servlets_own_are_refused() -> None:
    mine = SiteObject("a.test", "/lanelab/slow?x=1", 1, "text/html", "0" * 64)
    site = Site("x", "", "a.test", "/", (mine,), Path("/nowhere"))
    with pytest.raises(InputError, match="below /lanelab/ are the back end's own"):
        configuration(arm(), site, PLACE, "Tomcat/10")


def test_headers_of_connections_and_those_that_cannot_be_are_left_out() -> None:
    recorded = (("Connection", "close"), ("Date", "now"), ("X-A", "b\tc"), ("X-B", "ä"), ("X-C", "d"), ("X-C", "e"))
    each = SiteObject("a.test", "/", 5, "text/css", "0" * 64, headers=recorded, compressed="gzip")
    assert list(headers(each)) == [
        ("Content-Type", "text/css"), ("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"),
        ("X-C", "d"), ("X-C", "e"),
    ]  # fmt: skip


def test_versions_are_those_of_the_lists_of_jars() -> None:
    found = {}
    for name in BACK_ENDS:
        lines = (SOURCES / name / "jars.sha256").read_text().splitlines()
        found[name] = version_of(line.split()[1] for line in lines)
    assert found == {
        "tomcat-10.1": "Tomcat/10.1.34",
        "jetty-12": "Jetty/12.0.16",
        "jetty-9.2": "Jetty/9.2.30.v20200428",
        "jetty-8.1": "Jetty/8.1.13.v20130916",
    }
    for settings in ({}, {"jetty_version": "9.2"}, {"jetty_version": "8.1"}):
        jetty = Arm.parse("arm", {"server": "jetty", **settings})
        assert set(SERVERS["jetty"].builds(jetty)) <= set(BACK_ENDS)


def test_heaps_are_read_strictly() -> None:
    assert arm(heap="1GB").settings()["heap"] == "1024MB"
    assert arm(heap="1024 mb").settings() == arm(heap="1GB").settings()
    assert Arm.parse("arm", arm(heap="1GB").changed()).settings() == arm(heap="1GB").settings()
    for wrong in ("512", "1KB", "63MB", "65GB", "", "-1GB", 512):
        with pytest.raises(InputError, match="no size of a heap"):
            arm(heap=wrong)


def test_servers_with_a_setting_of_the_same_name_have_the_same_setting() -> None:
    for name, servers in OWNERS.items():
        mine = [each for server in SERVERS.values() for each in server.settings if each.name == name]
        assert len(mine) == len(servers), name
        assert all(each == mine[0] for each in mine)
