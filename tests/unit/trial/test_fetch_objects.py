"""Which objects of a site a fetch asks for."""

from dataclasses import replace

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.site import SiteObject
from lanelab.driver.trial.fetch.settings import objects_of
from tests.kit.records import HASH, SITE

HTML, STYLE, LOGO = (each.url for each in SITE.objects)


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        (("*",), (HTML, STYLE, LOGO)),
        (("*.png",), (LOGO,)),
        (("/style.css*",), (STYLE,)),
        (("/*",), (HTML, STYLE, LOGO)),
        (("b.test/*", "/index.html"), (HTML, LOGO)),
        (("*.html", "*.html*"), (HTML,)),
        (("a.test/index.htm?",), (HTML,)),
    ],
)
def test_patterns_name_addresses_or_paths_in_order(patterns: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert objects_of(SITE, patterns) == wanted


def test_a_pattern_that_names_nothing_is_an_error() -> None:
    with pytest.raises(InputError, match=r"'\*\.gif'") as raised:
        objects_of(SITE, ("*", "*.gif"))
    assert raised.value.key == "workload.objects"
    assert HTML in str(raised.value)


def test_what_has_no_body_that_is_known_is_left_out_and_named_it_is_an_error() -> None:
    others = (
        SiteObject("a.test", "/moved", 0, "text/html", HASH, status=302),
        SiteObject("a.test", "/form", 10, "text/html", HASH, method="POST"),
    )
    site = replace(SITE, objects=(*SITE.objects, *others))
    assert objects_of(site, ("*",)) == (HTML, STYLE, LOGO)
    for path in ("/moved", "/form"):
        with pytest.raises(InputError, match="no object"):
            objects_of(site, (path,))


def test_an_object_with_two_schemes_is_asked_for_once() -> None:
    site = replace(SITE, objects=(*SITE.objects, replace(SITE.objects[0], scheme="https")))
    assert objects_of(site, ("*",)) == (HTML, STYLE, LOGO)


def test_a_body_that_the_server_makes_is_refused() -> None:
    site = replace(SITE, objects=(replace(SITE.objects[0], compressed="gzip"), *SITE.objects[1:]))
    with pytest.raises(InputError, match="SHA-256"):
        objects_of(site, ("*",))
    assert objects_of(site, ("*.png",)) == (LOGO,)
