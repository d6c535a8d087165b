"""Sites: what a manifest may say, files that are the manifest's or nothing, and the dummy page."""

import re
import shutil
import struct
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site import content as site_content
from lanelab.driver.site.load import load_site, objects_of, read_site_manifest, site_names
from lanelab.driver.site.manifest import file_of, parse_manifest
from lanelab.driver.site.site import Site, SiteObject
from tests.kit.machine import ROOT

ARCHIVE = PROJECT / "sites-archive"
SITES = ROOT / "tests" / "data" / "sites"
# Those that come out of packages need a network, and have tests of their own.
OWN = [name for name in site_names() if read_site_manifest(name).fetch is None]
NAMES = [*((ARCHIVE, name) for name in OWN), *((SITES, name) for name in site_names(SITES))]
GENERATOR = """import pathlib, sys
host = pathlib.Path(sys.argv[1], "a.test")
host.mkdir()
(host / "index.html").write_text("hello")
"""
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture(autouse=True)
def _own_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))


def manifest(path: str = "/index.html", *, size: int = 5, sha256: str = HELLO, more: str = "") -> str:
    entry = f"{{host: a.test, path: '{path}', mime: text/html, size: {size}, sha256: '{sha256}'}}"
    return f"title: One\nsource: a test\nentry: a.test{path}\nobjects: [{entry}]\n{more}"


def archive(folder: Path, text: str, *, generator: str = "", file: str = "hello") -> Path:
    """An archive with the single site 'one'."""
    one = folder / "archive" / "one"
    one.mkdir(parents=True)
    (one / "site.yaml").write_text(text)
    if generator:
        (one / "generate.py").write_text(generator)
    else:
        (one / "content" / "a.test").mkdir(parents=True)
        (one / "content" / "a.test" / "index.html").write_text(file)
    return one.parent


@pytest.mark.parametrize(("where", "name"), NAMES, ids=lambda value: value if isinstance(value, str) else "")
def test_every_site_can_be_loaded_and_says_the_same_as_json(where: Path, name: str) -> None:
    site = load_site(name, where)
    assert Site.from_json(site.to_json()) == site
    assert site.file(site.objects[0]).stat().st_size == site.objects[0].size
    assert {each.sha256 for each in site.objects} == {file.name for file in site.content.iterdir()}


def test_a_site_of_two_origins() -> None:
    site = load_site("two-origins", SITES)
    assert site.hosts == ("www.two.test", "img.two.test")
    assert site.url("https") == "https://www.two.test/index.html"


def test_an_unknown_site_is_told_with_what_is_near() -> None:
    with pytest.raises(InputError, match=r"no site 'dumy'\. Did you mean dummy\? Sites are .*dummy"):
        load_site("dumy")
    with pytest.raises(InputError, match=r"no site '\.\./driver'"):
        load_site("../driver")


class Page(HTMLParser):
    """What a page refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_dummy_page_is_that_of_the_report() -> None:
    site = load_site("dummy")
    by_type: dict[str, list[SiteObject]] = {}
    for each in site.objects:
        by_type.setdefault(each.mime, []).append(each)
    found = {mime: (len(objects), sum(each.size for each in objects)) for mime, objects in by_type.items()}
    assert found == {"text/html": (1, 14_000), "text/css": (3, 1_300), "image/png": (20, 1_100_000)}
    assert len({each.size for each in by_type["image/png"]}) == 20


def test_the_dummy_page_names_each_of_its_objects_and_nothing_else() -> None:
    site = load_site("dummy")
    body_of = {each.path.lstrip("/"): site.file(each).read_bytes() for each in site.objects}
    tags = Page(body_of["index.html"].decode()).tags
    named = [having.get("src") or having.get("href") for _, having in tags if {"src", "href"} & having.keys()]
    objects = body_of.keys() - {"index.html"}
    assert sorted(map(str, named)) == sorted([*objects, "data:,"])
    assert not [tag for tag, _ in tags if tag == "script"]
    pictures = [having for tag, having in tags if tag == "img"]
    for picture in pictures:
        head = body_of[str(picture["src"])][16:24]
        assert struct.unpack(">II", head) == (int(str(picture["width"])), int(str(picture["height"])))


def test_the_dummy_pictures_can_be_decoded_and_made_a_fifth_smaller() -> None:
    before = after = 0
    site = load_site("dummy")
    for each in site.objects:
        if each.mime != "image/png":
            continue
        data = site.file(each).read_bytes()
        width, height = struct.unpack(">II", data[16:24])
        position, pixels, kinds = 8, b"", []
        while position < len(data):
            size = int.from_bytes(data[position : position + 4])
            kind, body = data[position + 4 : position + 8], data[position + 8 : position + 8 + size]
            assert int.from_bytes(data[position + 8 + size : position + 12 + size]) == zlib.crc32(kind + body)
            kinds.append(kind)
            pixels += body if kind == b"IDAT" else b""
            position += 12 + size
        assert (kinds[0], kinds[-1], position) == (b"IHDR", b"IEND", len(data))
        rows = zlib.decompress(pixels)
        assert len(rows) == height * (width + 1)
        assert max(rows) < 84
        before, after = before + len(data), after + len(zlib.compress(rows, 9)) + 400
    assert 0.78 < after / before < 0.84


def works(python: str) -> bool:
    """A version manager's stand-in may lead nowhere."""
    return subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0


def test_the_recipe_makes_the_same_in_any_surroundings(tmp_path: Path) -> None:
    """Other folder, locale, time zone, hash seed; other Pythons where there are some."""
    site = load_site("dummy")
    others = (found for version in range(9, 15) if (found := shutil.which(f"python3.{version}")))
    pythons = {sys.executable, *(python for python in others if works(python))}
    for number, python in enumerate(sorted(pythons)):
        folder = tmp_path / f"ä {number}"
        folder.mkdir()
        env = {"LC_ALL": "C", "TZ": "Asia/Kolkata", "PYTHONHASHSEED": str(number)}
        subprocess.run([python, ARCHIVE / "dummy" / "generate.py", folder], check=True, env=env)
        site_content.verify(folder, site.objects, "")


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda file: file.unlink(), r"index\.html is missing"),
        (lambda file: file.write_text("hello!"), r"index\.html was changed: 6 bytes instead of 5"),
        (lambda file: file.write_text("hallo"), r"index\.html was changed: another sha256"),
        (lambda file: (file.parent / "more.html").write_text(""), r"more\.html is not in the site's manifest"),
        (lambda file: (file.rename(file.parent.parent / "x"), file.symlink_to("../x")), r"index\.html is missing"),
    ],
    ids=["missing", "longer", "other", "more", "link"],
)
def test_files_that_are_not_the_manifests_are_refused(change: Change, says: str, tmp_path: Path) -> None:
    where = archive(tmp_path, manifest())
    load_site("one", where)
    change(where / "one" / "content" / "a.test" / "index.html")
    with pytest.raises(InputError, match=says) as told:
        load_site("one", where)
    assert told.value.remedy


@pytest.mark.parametrize("change", [lambda file: file.unlink(), lambda file: file.write_text("hallo")])
@pytest.mark.parametrize("recipe", [False, True], ids=["content", "recipe"])
def test_a_changed_copy_is_refused_and_made_again(change: Change, tmp_path: Path, *, recipe: bool) -> None:
    text = manifest(more="generate: generate.py" if recipe else "")
    where = archive(tmp_path, text, generator=GENERATOR if recipe else "")
    site = load_site("one", where)
    change(site.file(site.objects[0]))
    with pytest.raises(InputError, match=r"the content of a\.test/index\.html") as told:
        load_site("one", where)
    shutil.rmtree(Path(re.findall(r"Remove the folder (\S+);", told.value.remedy)[0]))
    assert load_site("one", where) == site


@pytest.mark.parametrize(
    ("generator", "says"),
    [
        ("raise SystemExit('no luck')", r"generate\.py failed with status 1: no luck"),
        ("import sys", r"index\.html is missing\. Correct"),
        (GENERATOR.replace("hello", "hallo"), "another sha256"),
    ],
)
def test_a_recipe_that_fails_leaves_nothing(generator: str, says: str, tmp_path: Path) -> None:
    where = archive(tmp_path, manifest(more="generate: generate.py"), generator=generator)
    with pytest.raises(InputError, match=says):
        load_site("one", where)
    assert [file.name for file in (tmp_path / "build" / "sites").iterdir()] == [".lock"]


def test_several_at_once_make_one(tmp_path: Path) -> None:
    counted = GENERATOR + f"open({str(tmp_path / 'count')!r}, 'a').write('x')\n"
    where = archive(tmp_path, manifest(more="generate: generate.py"), generator=counted)
    found: list[Site] = []
    threads = [threading.Thread(target=lambda: found.append(load_site("one", where))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert (tmp_path / "count").read_text() == "x"


def test_what_a_killed_lanelab_left_is_removed(tmp_path: Path) -> None:
    where = archive(tmp_path, manifest(more="generate: generate.py"), generator=GENERATOR)
    left = tmp_path / "build" / "sites" / ".one-abc.making" / "a.test"
    left.mkdir(parents=True)
    load_site("one", where)
    assert not left.parent.exists()


def test_a_sites_objects_can_be_had_before_there_is_a_cache(tmp_path: Path) -> None:
    where = archive(tmp_path, manifest(more="generate: generate.py"), generator=GENERATOR)
    assert not (tmp_path / "build").exists()
    made = objects_of(where / "one", read_site_manifest("one", where))
    assert [each.body for each in made] == [b"hello"]


def test_another_recipe_gets_another_folder(tmp_path: Path) -> None:
    where = archive(tmp_path, manifest(more="generate: generate.py"), generator=GENERATOR)
    before = load_site("one", where)
    (where / "one" / "generate.py").write_text(GENERATOR + "# more\n")
    after = load_site("one", where)
    assert before.content != after.content
    assert before.content.is_dir()


def test_a_build_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "build").write_text("a file")
    with pytest.raises(BedError, match=r"cannot make the site dummy .*LANELAB_BUILD"):
        load_site("dummy")


WRONG = [
    ("", "site.yaml: the file is empty. See docs/reference/site.md"),
    ("x", "site.yaml:1: this must be a mapping"),
    ("a: [", ":1: this is not YAML"),
    ("titel: x", r"titel: there is no such key\. Did you mean title\?"),
    ("title: x", "source is missing"),
    (manifest().replace("objects: [", "objects: []\n#"), "site.yaml:4: objects: the list is empty"),
    (manifest().replace("title: One", "title: [1]"), "site.yaml:1: title: there is a list where one value is needed"),
    (manifest().replace("entry: a.test", "entry: b.test"), r"none of the objects\. Did you mean a\.test/index\.html"),
    (
        manifest().replace("size: 5", "size: -1"),
        r"site.yaml:4: objects\[0\].size: '-1' cannot be used. Write a whole number of bytes",
    ),
    (manifest().replace("size: 5", "size: true"), "size: 'true' cannot be used. Write a whole number of bytes"),
    (manifest(sha256="abc"), "sha256: 'abc' is no sha256"),
    (manifest().replace("a.test,", "A.test,"), "host: 'A.test' is no host"),
    (manifest().replace("mime: text/html", "mime: html"), "mime: 'html' is no mime"),
    (manifest(path="/../x"), "has an empty part, '.' or '..'"),
    (manifest(path="//x"), "has an empty part"),
    (manifest(path="/a b"), "path: '/a b' is no path"),
    (manifest(path="/a#b"), "is no path"),
    (manifest(more="generate: ../x.py"), "site.yaml:5: generate: '../x.py' is no name of a Python file"),
    (manifest(more="date: '2026-13-45'"), "site.yaml:5: date: '2026-13-45' is no date"),
    (manifest(more="viewport: 0x100"), "viewport: '0x100' is no viewport"),
    (manifest().replace("entry: ", "entry: ftp://"), "entry: 'ftp' is no scheme of a page"),
    (manifest().replace("objects: [", "objects: [{}, "), r"objects\[0\]: host is missing"),
]


@pytest.mark.parametrize(("text", "says"), WRONG, ids=[says for _, says in WRONG])
def test_a_wrong_manifest_is_refused_with_its_key(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as told:
        parse_manifest(text, "site.yaml")
    assert str(told.value).startswith("site.yaml:")


def test_an_object_that_is_there_twice_is_refused() -> None:
    text = manifest()
    twice = re.sub(r"objects: \[(.*)\]", r"objects: [\1, \1]", text)
    with pytest.raises(InputError, match=r"a\.test/index\.html is there twice"):
        parse_manifest(twice, "site.yaml")
    other = re.sub(
        r"objects: \[(.*)\]", r"objects: [\1, {host: a.test, path: /, mime: a/b, size: 6, sha256: '%s'}]", text
    )
    with pytest.raises(InputError, match="with other contents"):
        parse_manifest(other % HELLO, "site.yaml")


@given(st.text(max_size=200) | st.text(max_size=30).map(lambda text: manifest() + text))
def test_any_text_is_a_manifest_or_a_typed_error(text: str) -> None:
    said = "site.yaml"
    try:
        assert parse_manifest(text, "site.yaml").objects
    except InputError as error:
        said = str(error)
    assert said.startswith("site.yaml")


def test_queries_are_a_part_of_file_names() -> None:
    assert file_of(SiteObject("a.test", "/x/?a=b/c", 1, "a/b", HELLO)) == "a.test/x/index.html?a=b%2Fc"
    assert file_of(SiteObject("a.test", "/", 1, "a/b", HELLO)) == "a.test/index.html"


def test_the_example_in_the_reference_can_be_read() -> None:
    text = (PROJECT / "docs" / "reference" / "site.md").read_text()
    example, *_ = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)  # the others are parts of one
    assert parse_manifest(example, "site.md").hosts == ("example.test", "images.example.test")


def test_the_list_of_sites_reads_manifests_only(tmp_path: Path) -> None:
    assert read_site_manifest("dummy").total_bytes == 1_115_300
    assert not (tmp_path / "build").exists()


def test_a_manifest_has_how_long_servers_thought() -> None:
    text = "title: t\nsource: s\nentry: a.test/\narchive: a.warc.gz\nsha256: " + "0" * 64 + "\n"
    manifest = parse_manifest(text + "think: {a.test/: 120ms, 'a.test/x?y=1': 1s}\n", "site.yaml")
    assert manifest.think == {"a.test/": 120, "a.test/x?y=1": 1000}
    assert parse_manifest(manifest.to_yaml(), "site.yaml") == manifest
    assert "think" not in parse_manifest(text, "site.yaml").to_yaml()
    with pytest.raises(InputError, match=r"site.yaml:6: think.a.test/: a server cannot think for 61s"):
        parse_manifest(text + "think: {a.test/: 61s}\n", "site.yaml")
