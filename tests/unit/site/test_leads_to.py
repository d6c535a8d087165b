"""Where a redirect leads, for all who ask: judges, links between pages, sites with one scheme."""

import pytest

from lanelab.driver.site.redirects import leads_to

HERE = "https://a.test/one/two?x"


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_leads_on(status: int) -> None:
    assert leads_to(HERE, status, (("Date", "today"), ("LOCATION", "http://b.test/"))) == "http://b.test/"


@pytest.mark.parametrize("status", [200, 201, 304, 404, None])
def test_no_other_answer_does(status: int | None) -> None:
    assert leads_to(HERE, status, (("Location", "http://b.test/"),)) is None


@pytest.mark.parametrize(
    ("location", "there"),
    [
        ("three", "https://a.test/one/three"),
        ("/three?y=1", "https://a.test/three?y=1"),
        ("//b.test/", "https://b.test/"),
        (" /three ", "https://a.test/three"),
        ("/three#part", "https://a.test/three"),
        ("", None),
        ("http://[a/", None),
        ("http://a.test:many/", None),
    ],
)
def test_an_address_is_read_as_a_browser_reads_it(location: str, there: str | None) -> None:
    assert leads_to(HERE, 301, (("Location", location),)) == there


def test_without_an_address_it_leads_nowhere() -> None:
    assert leads_to(HERE, 301, (("Content-Type", "text/html"),)) is None
