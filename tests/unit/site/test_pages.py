"""Sites of several pages: what a manifest may say of them, what each page needs, and how they come into the archive."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.new_site import Facts, NewSite, PageOf, add_site, read_pages, with_home
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.run.start import load_target
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.load import load_site
from lanelab.driver.site.manifest import parse_manifest
from lanelab.driver.site.site import Site

HOST = "https://w.test"
BODIES = {
    "/": (b"<link rel=stylesheet href=/all.css><img src=/hero.png><a href=/article>more</a>", "text/html"),
    "/article": (b"<link rel=stylesheet href=/all.css><script src=/article.js></script>", "text/html"),
    "/all.css": (b"body { color: navy }", "text/css"),
    "/hero.png": (b"no picture", "image/png"),
    "/article.js": (b"1;", "text/javascript"),
    "/beacon": (b"", "text/plain"),
}


def exchange(path: str, *, late: bool = False) -> Exchange:
    body, mime = BODIES[path]
    return Exchange(
        method="GET", url=HOST + path, request_headers=(), request_body=b"", status=200, reason="OK",
        headers=(("Content-Type", mime),), body=body, protocol="h2", at_utc="2026-11-22T10:00:00Z", late=late,
    )  # fmt: skip


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LANELAB_SITES", str(tmp_path / "sites"))
    return tmp_path / "sites"


def add(pages: Sequence[PageOf], *, of_one_load: bool = True) -> NewSite:
    exchanges = [exchange(path, late=path == "/beacon") for path in BODIES]
    facts = Facts("Wiki", "a test", entry=f"{HOST}/", pages=tuple(pages), of_one_load=of_one_load)
    return add_site("wiki", exchanges, facts)


HOME, ARTICLE = PageOf("home", f"{HOST}/"), PageOf("article", f"{HOST}/article")


def due(site: Site) -> set[str]:
    return {each.path for each in site.objects if not each.late}


@pytest.mark.usefixtures("archive")
def test_each_page_has_what_it_needs_and_the_late_ones_besides() -> None:
    made = add([HOME, ARTICLE], of_one_load=False)
    assert made.manifest.late == ("w.test/beacon",)
    home, article = load_site("wiki@home"), load_site("wiki@article")
    assert due(home) == {"/", "/all.css", "/hero.png"}
    assert due(article) == {"/article", "/all.css", "/article.js"}
    assert {each.path for each in article.objects} == {*due(article), "/beacon"}
    assert article.url("https") == f"{HOST}/article"
    assert article.name == "wiki@article"
    assert article.entry_scheme == "https"
    assert article.scripts_seed == load_site("wiki").scripts_seed
    assert load_target("wiki").objects == home.objects
    assert len({site_digest(each) for each in (load_site("wiki"), home, article)}) == 3
    assert parse_manifest(made.manifest.to_yaml(), "site.yaml") == made.manifest


@pytest.mark.usefixtures("archive")
def test_what_a_load_with_an_empty_cache_asked_for_is_all_that_a_page_needs() -> None:
    targets = frozenset({"w.test/", "w.test/hero.png"})
    add([PageOf("home", f"{HOST}/", targets, is_whole=True), ARTICLE])
    assert due(load_site("wiki@home")) == {"/", "/hero.png"}


@pytest.mark.usefixtures("archive")
def test_a_page_that_is_not_there_is_told_with_what_is_near() -> None:
    add([HOME, ARTICLE])
    with pytest.raises(InputError, match=r"has no page 'artcle'\. Did you mean article\? Its pages are home, article"):
        load_site("wiki@artcle")
    add_site("alone", [exchange("/")], Facts("", ""))
    with pytest.raises(InputError, match=r"alone has no page 'home'\. It has one page"):
        load_site("alone@home")
    with pytest.raises(InputError, match="--page: the page none: the recording has no answer for"):
        add_site("other", [exchange("/")], Facts("", "", pages=(PageOf("none", f"{HOST}/none"),)))


def test_an_experiment_names_pages_of_sites() -> None:
    text = "sites: [wiki, wiki@article]\nlinks: {}\narms: {a: {}}\n"
    assert parse_experiment(text, "one.yaml", ["wiki"]).sites == ("wiki", "wiki@article")
    with pytest.raises(InputError, match=r"one.yaml:1: sites.*no site 'wikki@article'"):
        parse_experiment(text.replace("wiki@", "wikki@"), "one.yaml", ["wiki"])


MANIFEST = """title: One
source: a test
entry: a.test/
archive: archive.warc.gz
sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
pages:
  home: [a.test/]
"""


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("  b: [a.test/b]\n  c: [a.test/b]", "c: it is the page b"),
        ("  Big: [a.test/b]", "'Big' cannot name a page"),
        ("  b: []", "b: the list is empty"),
    ],
)
def test_a_list_of_pages_that_is_wrong_is_told(wrong: str, told: str) -> None:
    assert [each.name for each in parse_manifest(MANIFEST, "site.yaml").pages] == ["home"]
    with pytest.raises(InputError, match=f"site.yaml:.*{told}"):
        parse_manifest(MANIFEST + wrong + "\n", "site.yaml")


def test_the_entry_is_one_of_the_pages() -> None:
    with pytest.raises(InputError, match=r"pages: the entry 'a.test/' is none of them"):
        parse_manifest(MANIFEST.replace("home: [a.test/]", "b: [a.test/b]"), "site.yaml")


def test_pages_are_named_on_the_command_line() -> None:
    assert with_home("https://a.test/", read_pages(["b=https://a.test/b"])) == {
        "home": "https://a.test/",
        "b": "https://a.test/b",
    }
    assert list(with_home("https://a.test/b", read_pages(["b=https://a.test/b"]))) == ["b"]
    for wrong in (["b"], ["B=x.test/"], ["b=x.test/", "b=y.test/"]):
        with pytest.raises(InputError, match="--page"):
            read_pages(wrong)
    with pytest.raises(InputError, match="home is the page"):
        with_home("https://a.test/", {"home": "https://a.test/b"})
