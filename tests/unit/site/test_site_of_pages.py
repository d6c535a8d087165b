"""Sites of several pages from a recipe: what each page refers to, what it needs, and what cannot be several pages."""

import re
from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.new import add_generated
from lanelab.driver.site.generate.recipe import parse_recipe
from lanelab.driver.site.load import load_site
from lanelab.driver.site.manifest import read_manifest

RECIPE = """\
title: Three pages
host: three.test
pages:
  home: {size: 6000}
  goods: {size: 9000}
  about: {size: 3000, markup: 10%}
objects:
  - {type: css, name: style, size: 3000}
  - {type: image, name: logo, size: 900, from: style}
  - {type: script, name: app, size: 4000}
  - {type: data, name: beacon, from: app, size: 300}
  - {type: image, name: banner, count: 2, size: 2000, from: home}
  - {type: image, name: thing, count: 3, total: 9000, from: goods}
  - {type: frame, name: map, size: 1500, from: about}
  - {type: image, name: town, size: 700, from: map}
"""
SHARED = ["/css/style.css", "/js/app.js", "/images/logo.png"]
OWN = {
    "home": ["/index.html", "/images/banner-1.png", "/images/banner-2.png"],
    "goods": ["/goods.html", "/images/thing-1.png", "/images/thing-2.png", "/images/thing-3.png"],
    "about": ["/about.html", "/frames/map.html", "/images/town.png"],
}


def test_pages_share_what_is_from_page_and_have_what_is_from_their_name(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    add_generated("three", tmp_path / "recipe.yaml", archive=tmp_path / "sites")
    manifest = read_manifest(tmp_path / "sites" / "three" / "site.yaml")
    assert manifest.entry == "three.test/index.html"
    needs = {page.name: sorted(url.removeprefix("three.test") for url in page.needs) for page in manifest.pages}
    assert needs == {name: sorted([*own, *SHARED]) for name, own in OWN.items()}
    site = load_site("three@goods", tmp_path / "sites")
    assert (site.entry_path, len(site.objects)) == ("/goods.html", 8)
    assert [each.path for each in site.objects if each.late] == ["/data/beacon.json"]


def test_each_page_names_what_it_needs_and_has_its_size() -> None:
    made = {each.object.path: each for each in generated(parse_recipe(RECIPE, "recipe.yaml"))}
    for name, own in OWN.items():
        text = made[own[0]].body.decode()
        named = set(re.findall(r'(?:src|href)="(/(?:css|js|images|frames)/[^"]+)"', text))
        assert named == {*own[1:], *SHARED[:2]} - {"/images/town.png"}, name
    sizes = [len(made[own[0]].body) for own in OWN.values()]
    assert sizes == [6000, 9000, 3000]


def test_a_recipe_of_one_page_names_none(tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text("title: a\nhost: a.test\npage: {size: 900}\n")
    assert add_generated("one", tmp_path / "recipe.yaml", archive=tmp_path / "sites").pages == ()


@pytest.mark.parametrize(
    ("pages", "told"),
    [
        ("{home: {size: 900}}", r"r\.yaml:3: pages: there are fewer than two"),
        ("{home: {size: 900}, Big: {size: 900}}", r"'Big' cannot name a page"),
        ("{home: {size: 900}, page: {size: 900}}", r"'page' cannot name a page"),
        ("{home: {size: 900}, index: {size: 900}}", r"'index' cannot name a page"),
        ("{home: {size: 900}, b: {noise: 1%}}", r"size is missing"),
        ("{home: {size: 900}, b: {size: 900}}\npage: {size: 900}", r"page is there as well"),
        ("{home: {size: 900}, b: {size: 900}}\nobjects: [{type: css, name: b, size: 900}]", r"a group 'b' already"),
        ("{home: {size: 900}, b: {size: 900}}\nobjects: [{type: css, from: c, size: 900}]", r"no group 'c' above"),
    ],
)
def test_what_is_no_list_of_pages_is_refused_with_its_line(pages: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_recipe(f"title: a\nhost: a.test\npages: {pages}\n", "r.yaml")


def test_a_recipe_without_a_page_is_refused() -> None:
    with pytest.raises(InputError, match=r"page is missing.*pages"):
        parse_recipe("title: a\nhost: a.test\n", "r.yaml")
