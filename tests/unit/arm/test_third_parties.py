"""What an arm does to third parties: which addresses are meant, what a site makes of it, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.chromium.browsers import address_of
from lanelab.driver.arm.groups import require_third_parties
from lanelab.driver.arm.servers.apache import pack
from lanelab.driver.arm.servers.apache.waiting import streams, waiting_at_once
from lanelab.driver.arm.third_parties import NOTHING, ThirdParties
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.dead_addresses import dead_addresses
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.site import bodies
from lanelab.driver.site.prepare import Variant, prepare
from lanelab.driver.site.site import Site, SiteObject, StoredObject
from lanelab.driver.site.third_parties import means, meant

URLS = (
    "www.a.test/",
    "www.a.test/app.js?v=1",
    "ads.test/ad.js",
    "x.ads.test/a/b.gif",
    "x.ads.test/c.js",
    "cdn.test/l.js",
)


def site_with(*urls: str) -> Site:
    objects = tuple(SiteObject(*_parts(url), 1, "text/javascript", "0" * 64) for url in urls)
    return Site("shop", "A shop", objects[0].host, objects[0].path, objects, Path("/nowhere"))


def _parts(url: str) -> tuple[str, str]:
    host, _, path = url.partition("/")
    return host, f"/{path}"


SITE = site_with(*URLS)


def wanted(**settings: object) -> ThirdParties:
    return ThirdParties.of(Arm.parse("a", settings), SITE)


@pytest.mark.parametrize(
    ("pattern", "urls"),
    [
        ("ads.test", {"ads.test/ad.js"}),
        ("*.ads.test", {"x.ads.test/a/b.gif", "x.ads.test/c.js"}),
        ("*ads.test", {"ads.test/ad.js", "x.ads.test/a/b.gif", "x.ads.test/c.js"}),
        ("*/*.js", {"ads.test/ad.js", "x.ads.test/c.js", "cdn.test/l.js"}),
        ("www.a.test/app.js?v=1", {"www.a.test/app.js?v=1"}),
        ("www.a.test/app.js", set()),
        ("www.a.test/app.js*", {"www.a.test/app.js?v=1"}),
        ("ads.test/", set()),
        ("ads.test/[a]d.js", set()),
    ],
)
def test_a_pattern_means_addresses(pattern: str, urls: set[str]) -> None:
    assert {url for url in URLS if means(pattern, url)} == urls


def test_the_entry_that_says_most_counts() -> None:
    patterns = ("default", "*", "*.test", "ads.test", "*/*.js", "ads.test/*", "ads.test/ad.js")
    order = ["ads.test/ad.js", "ads.test/*", "*/*.js", "ads.test", "*.test", "*", "default"]
    for number, best in enumerate(order):
        assert meant([each for each in patterns if each in order[number:]], "ads.test/ad.js") == best
    assert meant(["cdn.test"], "ads.test/ad.js") is None


def test_an_arm_without_them_does_nothing() -> None:
    assert wanted() is NOTHING
    assert Arm.parse("a", {}).changed() == {}


def test_settings_are_stored_as_they_are_read() -> None:
    settings = {
        "block": ["*.ads.test", "cdn.test/*.js"],
        "unreachable": ["dead.test"],
        "answer_delay": {"slow.test": "200ms", "default": "10ms"},
        "answer": {"error.test/a.js": 503},
    }
    arm = Arm.parse("a", settings)
    assert arm.changed() == settings
    assert Arm.parse("a", arm.settings()) == arm
    typed = {"answer_delay": "slow.test=200ms default=10ms", "answer": "HTTPS://Error.test/a.js=503"}
    assert Arm.parse("a", {**settings, **typed}) == arm


def test_what_a_site_makes_of_them() -> None:
    asked = wanted(block=["*.ads.test"], unreachable="ads.test", answer_delay={"cdn.test": "1s", "default": "10ms"})
    assert asked.blocked == {"x.ads.test/a/b.gif", "x.ads.test/c.js"}
    assert asked.blocked_hosts == {"x.ads.test"}
    assert asked.dead_hosts == ("ads.test",)
    ten = Duration.parse("10ms")
    assert asked.delays == {"www.a.test/": ten, "www.a.test/app.js?v=1": ten, "cdn.test/l.js": Duration.parse("1s")}
    assert [url for url in URLS if asked.is_absent(url)] == ["ads.test/ad.js", "x.ads.test/a/b.gif", "x.ads.test/c.js"]
    assert wanted(block="x.ads.test/c.js").blocked_hosts == frozenset()
    assert wanted(answer={"*/*.js": 503}).answers == dict.fromkeys(
        ("ads.test/ad.js", "x.ads.test/c.js", "cdn.test/l.js"), 503
    )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"block": "adds.test"}, "shop has no host like adds.test. Did you mean ads.test? Its hosts are www.a.test"),
        ({"block": "ads.test/add.js"}, "shop has nothing like ads.test/add.js. Did you mean ads.test/ad.js?"),
        ({"unreachable": "*.cdn.test"}, "shop has no host like *.cdn.test"),
        ({"answer_delay": {"nowhere.test": "1s"}}, "shop has no host like nowhere.test"),
        ({"answer": {"cdn.test/m.js": 503}}, "shop has nothing like cdn.test/m.js"),
        ({"block": "*"}, "* means the page of shop itself"),
        ({"unreachable": "www.a.test"}, "www.a.test means the page of shop itself"),
        ({"answer": {"www.a.test/": 503}}, "www.a.test/ means the page of shop itself"),
        ({"block": "*.ads.test", "unreachable": "x.ads.test"}, "is meant by x.ads.test, and by *.ads.test of block"),
        (
            {"block": "ads.test", "answer_delay": {"*/ad.js": "1s"}},
            "ads.test/ad.js is meant by */ad.js, and by ads.test",
        ),
        ({"block": "ads.test", "answer": {"ads.test/ad.js": 503}}, "ads.test/ad.js is meant by ads.test/ad.js"),
        ({"unreachable": "ads.test", "answer_delay": {"ads.test": "1s"}}, "and by ads.test of unreachable"),
        ({"unreachable": "ads.test", "answer": {"ads.test": 500}}, "Leave it out of answer or of unreachable"),
    ],
)
def test_what_a_site_cannot_have_is_refused(settings: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as refused:
        require_third_parties(Arm.parse("a", settings), SITE)
    assert says in str(refused.value)
    assert refused.value.key in settings


def test_the_page_may_be_slow_and_a_default_contradicts_nothing() -> None:
    settings = {"block": "ads.test", "answer_delay": {"www.a.test/": "1s", "default": "10ms"}}
    require_third_parties(Arm.parse("a", settings), SITE)
    require_third_parties(Arm.parse("a", {"answer": {"ads.test": 503}, "answer_delay": {"ads.test": "1s"}}), SITE)


def test_more_waits_than_apache_works_on_are_refused_for_http2_alone() -> None:
    """Six requests of a connection is what mod_http2 begins with: tests/wire/test_answer_delays.py."""
    many = site_with("www.a.test/", *(f"h{number % 2}.test/{number}" for number in range(8)))
    settings = {"protocol": "h2", "tls": "1.3", "answer_delay": {"h*.test": "1s"}}
    with pytest.raises(InputError, match="8 answers of one HTTP/2 connection would wait, and Apache works on 6"):
        require_third_parties(Arm.parse("a", settings), many)
    require_third_parties(Arm.parse("a", {**settings, "addresses": "per-origin"}), many)
    require_third_parties(Arm.parse("a", {**settings, "protocol": "http/1.1"}), many)
    require_third_parties(Arm.parse("a", {**settings, "protocol": "spdy/3.1"}), many)
    four = {**settings, "answer_delay": {"h0.test": "1s"}}
    require_third_parties(Arm.parse("a", four), many)


def test_the_server_gets_room_for_what_waits() -> None:
    delays = {f"h{number % 2}.test/{number}": Duration.parse("1s") for number in range(20)}
    http, h2, spdy = (Arm.parse("a", {"protocol": each, "tls": "1.3"}) for each in ("http/1.1", "h2", "spdy/3.1"))
    assert [waiting_at_once(arm, delays) for arm in (http, h2, spdy)] == [12, 20, 20]
    assert waiting_at_once(http, {}) == 0
    assert streams(http, 12) == streams(h2, 0) == []
    assert streams(h2, 20) == ["H2MinWorkers 84", "H2MaxWorkers 168"]
    assert streams(spdy, 20) == ["SpdyMaxThreadsPerProcess 84", "SpdyMaxThreadsPerSession 32"]


def test_a_pack_without_delays_is_what_it_was() -> None:
    site = replace(SITE, objects=SITE.objects[:2])
    waits = {URLS[1]: Duration.parse("1500ms")}
    assert pack.digest(site) == pack.digest(site, {}) != pack.digest(site, waits)
    plain, slow = pack.pack(site.objects, lambda _: b"x"), pack.pack(site.objects, lambda _: b"x", waits)
    different = [at for at in range(len(plain)) if plain[at] != slow[at]]
    assert len(plain) == len(slow)
    assert int.from_bytes(slow[different[0] : different[0] + 4], "little") == 1500
    assert len(different) == 2


def test_dead_hosts_have_addresses_of_their_own() -> None:
    assert dead_addresses(["a.test", "b.test"]) == {"a.test": "10.10.31.1", "b.test": "10.10.31.2"}
    with pytest.raises(InputError, match="255 hosts are not to answer"):
        dead_addresses([f"{number}.test" for number in range(255)])


def test_devtools_are_told_of_any_scheme() -> None:
    assert [address_of(each) for each in ("*.ads.test", "ads.test/*.js")] == ["*://*.ads.test/*", "*://ads.test/*.js"]


def test_answers_are_part_of_the_prepared_site(tmp_path: Path) -> None:
    content = tmp_path / "objects"
    content.mkdir()
    cors = ("Access-Control-Allow-Origin", "*")
    kept = SiteObject("www.a.test", "/", 0, "text/html", "", headers=(("Content-Type", "text/html"),))
    script = SiteObject(
        "ads.test", "/ad.js", 0, "text/javascript", "", headers=(("ETag", '"x"'), cors), compressed="gzip"
    )
    objects = bodies.store(content, [StoredObject(kept, b"page"), StoredObject(script, b"script")])
    site = Site("shop", "A shop", "www.a.test", "/", objects, content)
    for status, body, mime in (
        (503, b"Service Unavailable\n", "text/plain"),
        (200, b"", "text/javascript"),
        (204, b"", None),
    ):
        prepared = prepare(site, Variant(answer=(("ads.test", status),)))
        page, changed = prepared.objects
        assert page == objects[0]
        assert (changed.status, changed.compressed, prepared.file(changed).read_bytes()) == (status, None, body)
        assert changed.headers == (*((("Content-Type", mime),) if mime else ()), cors)
        assert prepared.variant == f"recorded_recorded_off_ads.test={status}"
    assert prepare(site, Variant()).objects == objects


def test_recorded_times_are_those_of_the_site() -> None:
    arm = Arm.parse("a", {"answer_delay": "recorded", "block": "ads.test"})
    assert arm.changed() == {"answer_delay": "recorded", "block": ["ads.test"]}
    assert Arm.parse("a", arm.settings()) == arm
    with pytest.raises(InputError, match="shop does not say how long its servers thought"):
        require_third_parties(arm, SITE)
    site = replace(SITE, think=(("www.a.test/", 120), ("ads.test/ad.js", 300), ("cdn.test/gone.js", 5)))
    require_third_parties(arm, site)
    assert ThirdParties.of(arm, site).delays == {"www.a.test/": Duration.parse("120ms")}


def test_sites_that_differ_in_recorded_times_make_other_trials() -> None:
    known = replace(SITE, think=(("www.a.test/", 120),))
    assert len({site_digest(each) for each in (SITE, known, replace(known, think=(("www.a.test/", 121),)))}) == 3
