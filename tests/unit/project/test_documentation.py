"""The pages of `lanelab docs`: each can be reached, and links lead somewhere."""

import importlib.util
import re
from html.parser import HTMLParser
from types import ModuleType
from typing import get_args
from urllib.parse import urlsplit

import pytest

from lanelab.analysis.results.claims.verdict import Verdict as VerdictOfClaim
from lanelab.analysis.statistics.paired import Verdict as VerdictOfComparison
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.programs.building.documentation import documentation

DOCS = PROJECT / "docs"
NOT_LISTED = {"README"}


@pytest.fixture(scope="module")
def conf() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation(conf: ModuleType) -> None:
    listed = set(conf.contents((DOCS / "README.md").read_text()).split())
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    assert pages - NOT_LISTED <= listed


def test_a_page_of_the_checkout_that_is_none_of_these_is_named_without_a_link(conf: ModuleType) -> None:
    text = "see [bad](../tests/bad/README.md#x), [labs](labs/README.md) and [the guide](../guide.md)"
    assert conf.without_links_outside("labs/README", text) == (
        "see [bad](../tests/bad/README.md#x), [labs](labs/README.md) and [the guide](../guide.md)"
    )
    assert conf.without_links_outside("contributing", text) == ("see bad, [labs](labs/README.md) and the guide")


def test_the_glossary_is_one_for_the_search_too(conf: ModuleType) -> None:
    page = (DOCS / "glossary.md").read_text()
    _, begin, rest = conf.glossary(page).partition("````{glossary}\n")
    definitions, end, after = rest.partition("````")
    terms = re.findall(r"^\S.*$", definitions, re.MULTILINE)
    assert begin
    assert end
    assert not after
    assert len(terms) == page.count("\n- ")
    assert terms == sorted(terms, key=lambda term: term.strip("`").lower())


def test_the_glossary_has_every_verdict() -> None:
    words = set(re.findall(r"\*+(\w[\w ,:]*)\*", (DOCS / "glossary.md").read_text()))
    for verdict in (*VerdictOfClaim, *get_args(VerdictOfComparison)):
        assert verdict in words


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del tag
        self.targets |= {value for name, value in attrs if name in ("href", "src") and value}


@pytest.mark.long
def test_the_pages_link_to_what_is_there_and_load_nothing_from_elsewhere() -> None:
    folder = documentation()
    assert (folder / "searchindex.js").stat().st_size > 100_000
    pages = list(folder.rglob("*.html"))
    assert len(pages) > len(list(DOCS.rglob("*.md")))
    for page in pages:
        links = Links()
        links.feed(page.read_text())
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or not parts.path:
                continue
            assert not parts.netloc
            assert (page.parent / parts.path).exists(), f"{page}: {target}"
