"""What a browser is told ahead: links in the page, 103, urgency; a trial in which it was not does not count."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError
from lanelab.driver.record.reasons import Reason, timed_out
from lanelab.driver.site.hints import hinted, hints, urgencies, with_links, with_priorities
from lanelab.driver.site.prepare import Variant
from lanelab.driver.site.site import SiteObject
from tests.kit.judging import reasons
from tests.kit.pushing_sites import site
from tests.kit.records import Data, record

H2 = {"protocol": "h2", "tls": "1.3"}
EARLY = Arm.parse("early", {**H2, "early_hints": "/style*"})
PRELOAD = Arm.parse("preload", {**H2, "preload": "/style*"})
LINK = "</style.css?v=1>; rel=preload; as=style"


@pytest.mark.parametrize(
    ("wish", "headers"),
    [
        ("off", []),
        ("/x.js", ["</x.js>; rel=preload; as=script"]),
        ("/css/b*,/logo.png", ["</css/b.css>; rel=preload; as=style", "</logo.png>; rel=preload; as=image"]),
        ("/f.woff2", ["</f.woff2>; rel=preload; as=font; crossorigin"]),
    ],
)
def test_headers(wish: str, headers: list[str], tmp_path: Path) -> None:
    whole = site(tmp_path, SiteObject("www.test", "/f.woff2", 9, "font/woff2", "0"))
    assert [each.header for each in hints(whole, wish, "early_hints")] == headers


def test_what_no_link_can_preload_is_refused(tmp_path: Path) -> None:
    whole = site(tmp_path, SiteObject("www.test", "/frame.html", 9, "text/html", "0"))
    with pytest.raises(InputError, match=r"/frame\.html is text/html") as refused:
        hints(whole, "/frame.html", "preload")
    assert refused.value.key == "preload"


@pytest.mark.parametrize(
    ("page", "made"),
    [
        (b"<html><head><title>a</title>", b"<html><head>LINK<title>a</title>"),
        (
            b"<head><title>a</title><meta charset=utf-8><script>",
            b"<head><title>a</title><meta charset=utf-8>LINK<script>",
        ),
        (b"<p>words", b"LINK<p>words"),
    ],
)
def test_links_come_first_but_behind_the_charset(page: bytes, made: bytes, tmp_path: Path) -> None:
    told = hints(site(tmp_path), "/x.js", "preload")
    assert with_links(page, told, "/") == made.replace(b"LINK", b'<link rel="preload" as="script" href="/x.js">')


def test_a_module_is_preloaded_as_one(tmp_path: Path) -> None:
    told = hints(site(tmp_path), "/x.js", "preload")
    made = with_links(b'<head></head><script type=module src="../x.js"></script>', told, "/deep/page")
    assert b'<link rel="modulepreload" href="/x.js">' in made


def test_urgency_of_elements() -> None:
    page = b"<link rel=stylesheet href=a><img src=1><noscript><img src=0></noscript><img src=2><script src=b></script>"
    levels = {"first-image": "high", "images": "low", "scripts": "low"}
    assert with_priorities(page, levels, "a-site") == (
        b'<link rel=stylesheet href=a><img src=1 fetchpriority="high"><noscript><img src=0></noscript>'
        b'<img src=2 fetchpriority="low"><script src=b fetchpriority="low"></script>'
    )
    with pytest.raises(InputError, match="no scripts of its own"):
        with_priorities(b"<p>", {"scripts": "high"}, "a-site")


def test_a_page_that_says_it(tmp_path: Path) -> None:
    whole = site(tmp_path)
    made = hinted(whole, preload="critical", fetchpriority="images=high")
    page = made.objects[0]
    body = made.file(page).read_bytes()
    assert page.size == len(body) > whole.objects[0].size
    assert body.count(b'rel="preload"') == 3
    assert set(urgencies(made).values()) == {"high"}
    assert made.objects[1:] == whole.objects[1:]


def test_variants_without_hints_are_called_as_ever() -> None:
    assert Variant("http", "gzip", "off").text == "http_gzip_off"
    assert Variant("http", "gzip", "off", preload="critical").text == "http_gzip_off_preload=critical"
    assert Arm.parse("a", {"preload": "critical"}).variant.without_hints == Arm.parse("a", {}).variant


def told(*links: str) -> Callable[[Data], None]:
    return lambda data: data["requests"][0].update(early_links=list(links))


def preloaded(data: Data) -> None:
    data["requests"][1]["link_preload"] = True


def unknown(data: Data) -> None:
    data["requests"][1]["link_preload"] = None


@pytest.mark.parametrize(
    ("arm", "change", "found"),
    [
        (EARLY, told(LINK), []),
        (EARLY, lambda _: None, [Reason.HINTS_IGNORED]),
        (EARLY, told(), [Reason.HINTS_IGNORED]),
        (EARLY, told(LINK, "</other>; rel=preload; as=style"), [Reason.HINTS_IGNORED]),
        (PRELOAD, told(LINK), [Reason.HINTS_IGNORED]),
        (PRELOAD, preloaded, []),
        (PRELOAD, lambda _: None, [Reason.HINTS_IGNORED]),
        (PRELOAD, unknown, []),
    ],
)
def test_verdict(arm: Arm, change: Callable[[Data], None], found: list[Reason]) -> None:
    data = record(arm)
    change(data)
    assert reasons(data, arm) == found


@pytest.mark.parametrize("arm", [EARLY, PRELOAD])
def test_a_hint_that_had_not_come_when_the_time_was_over_is_part_of_the_time_out(arm: Arm) -> None:
    """Another failure would have it tried again until a load is fast enough."""
    data = record(arm)
    assert reasons(data, arm) == [Reason.HINTS_IGNORED]
    out_of_time(data)
    if arm is EARLY:  # it comes ahead of the page
        data["requests"][0].update(status=None, connection=None, ended_ms=None)
    assert timed_out(reasons(data, arm))


def test_a_page_that_came_without_its_103_is_no_time_out() -> None:
    data = record(EARLY)
    out_of_time(data)
    assert Reason.HINTS_IGNORED in reasons(data, EARLY)
    told(LINK)(data)
    assert reasons(data, EARLY) == [Reason.TIMEOUT]


def out_of_time(data: Data) -> None:
    data["failures"] = [{"reason": "timeout", "detail": "60 s"}]
    data["evidence"]["browser"]["times"]["plt_ms"] = None


def test_what_came_by_a_103_need_not_name_its_connection() -> None:
    data = record(EARLY)
    told(LINK)(data)
    data["requests"][1].update(connection=None, wire_bytes=0)
    assert reasons(data, EARLY) == [Reason.EVIDENCE_MISSING]
    data["requests"][1]["by_early_links"] = True
    assert reasons(data, EARLY) == []
