"""What a server pushes with a page: from the wish of an arm and the site."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.push_plan import MOST, pushed_paths
from lanelab.driver.site.site import SiteObject
from tests.kit.pushing_sites import site


@pytest.mark.parametrize(
    ("wish", "paths"),
    [
        ("off", ()),
        ("critical", ("/css/b.css", "/css/a.css?v=1&w=2", "/x.js")),
        ("referenced", ("/css/b.css", "/css/a.css?v=1&w=2", "/x.js", "/logo.png")),
        ("/css/*", ("/css/b.css", "/css/a.css?v=1&w=2")),
        ("/late.css,/x*", ("/late.css", "/x.js")),
    ],
)
def test_paths(wish: str, paths: tuple[str, ...], tmp_path: Path) -> None:
    assert pushed_paths(site(tmp_path), wish) == paths


def test_wishes_that_are_for_nothing_are_refused(tmp_path: Path) -> None:
    whole = site(tmp_path)
    many = [SiteObject("www.test", f"/many/{number}", 1, "text/css", "0") for number in range(MOST + 1)]
    odd = SiteObject("www.test", "/odd'{.css", 1, "text/css", "0")
    for given, wish, says in [
        (whole, "/nothing/*", "no object of www.test has a path like /nothing/*. See lanelab site show a-site"),
        (whole, "/y.js", "no object of www.test has a path like /y.js"),
        (site(tmp_path, html=b"<p>"), "critical", "names no style sheets or scripts of its own host"),
        (site(tmp_path, html=b"<p>"), "referenced", "names no objects of its own host"),
        (site(tmp_path, *many), "/many/*", "33 objects, and at most 32 can be named with a page"),
        (site(tmp_path, odd), "/odd*", "has characters that servers cannot all be told"),
    ]:
        with pytest.raises(InputError) as error:
            pushed_paths(given, wish)
        assert error.value.key == "push"
        assert says in str(error.value)
