"""Sites out of packages. The packages here are made by the tests; no registry is asked."""

import hashlib
import io
import lzma
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from lanelab.driver.base.errors import BuildError, InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site.fetch import make
from lanelab.driver.site.fetch.files import files_of
from lanelab.driver.site.fetch.mime import mime_of
from lanelab.driver.site.fetch.packages import package_file
from lanelab.driver.site.fetch.spec import Package, parse_fetch, read_fetch
from lanelab.driver.site.load import load_site, read_site_manifest, site_names
from lanelab.driver.site.manifest import parse_manifest

FILES = {"dist/index.html": b"<p>page", "dist/css/a.css": b"p {}", "LICENSE": b"MIT"}


def tar(files: Mapping[str, bytes], links: Mapping[str, str] | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            archive.addfile(member)
    return out.getvalue()


def deb(data: bytes, name: str = "data.tar.xz") -> bytes:
    out = b"!<arch>\n"
    for member, content in (("debian-binary", b"2.0\n"), ("control.tar.xz", b"odd"), (name, data)):
        out += f"{member:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content
        out += b"\n" * (len(content) % 2)
    return out


def spec(data: bytes, *, kind: str = "npm", objects: tuple[str, ...] = ("shop.test/index.html", "shop.test/css/a.css"),
         root: str = "package/dist") -> str:  # fmt: skip
    package = {"from": kind, "package": "shop", "version": "1.0.0", "sha256": hashlib.sha256(data).hexdigest()}
    return yaml.safe_dump(
        {
            "title": "A shop",
            "source": "npm package shop 1.0.0",
            "entry": "shop.test/index.html",
            "digest": "0" * 64,
            "fetch": {"packages": [{**package, "root": root, "at": "shop.test/"}], "objects": list(objects)},
        },
        sort_keys=False,
    )


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of packages that were fetched before, and no client that could fetch more."""
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    folder = tmp_path / "build" / "packages"
    folder.mkdir(parents=True)
    return folder


def keep(folder: Path, data: bytes) -> None:
    (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)


def site_folder(tmp_path: Path, text: str) -> Path:
    folder = tmp_path / "sites" / "shop"
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text(text)
    return folder


def test_only_the_listed_files_become_objects(tmp_path: Path, kept: Path) -> None:
    data = tar({f"package/{name}": body for name, body in FILES.items()})
    keep(kept, data)
    text = spec(data, objects=("shop.test/", "shop.test/index.html", "https://shop.test/css/a.css?v=2"))
    made = list(make(site_folder(tmp_path, text), parse_manifest(text, "site.yaml")))
    assert [(each.object.scheme, each.object.url, each.object.mime, each.body) for each in made] == [
        ("http", "shop.test/", "text/html", b"<p>page"),
        ("http", "shop.test/index.html", "text/html", b"<p>page"),
        ("https", "shop.test/css/a.css?v=2", "text/css", b"p {}"),
    ]
    assert dict(made[2].object.headers)["Content-Type"] == "text/css; charset=utf-8"


def test_the_digest_of_the_manifest_is_kept_to(tmp_path: Path, kept: Path) -> None:
    data = tar({f"package/{name}": body for name, body in FILES.items()})
    keep(kept, data)
    folder = site_folder(tmp_path, spec(data))
    with pytest.raises(
        InputError, match=r"made with other content than its manifest says: digest [0-9a-f]{64}"
    ) as error:
        load_site("shop", folder.parent)
    (folder / "site.yaml").write_text(spec(data).replace("0" * 64, error.value.what.rpartition(" ")[2]))
    assert [each.url for each in load_site("shop", folder.parent).objects] == [
        "shop.test/index.html",
        "shop.test/css/a.css",
    ]


@pytest.mark.parametrize("name", ["data.tar.xz", "data.tar"])
def test_packages_of_debian(tmp_path: Path, name: str) -> None:
    inner = tar({f"./usr/{name}": body for name, body in FILES.items()})
    file = tmp_path / "x.deb"
    file.write_bytes(deb(lzma.compress(inner) if name.endswith("xz") else inner, name))
    assert files_of(file, "debian", {"usr/dist/index.html", "usr/none"}) == {"usr/dist/index.html": b"<p>page"}


def test_wheels(tmp_path: Path) -> None:
    file = tmp_path / "x.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("shop/index.html", b"<p>page")
    assert files_of(file, "pypi", {"shop/index.html", "shop/other"}) == {"shop/index.html": b"<p>page"}


def test_links_are_followed_inside_the_package_only(tmp_path: Path) -> None:
    links = {
        "a/one": "../real/page",
        "a/folder": "/real",
        "a/out": "../../../etc/passwd",
        "a/absolute": "/etc/passwd",
        "a/loop": "loop",
    }
    file = tmp_path / "x.tar"
    file.write_bytes(tar({"real/page": b"here"}, links))
    wanted = {"a/one", "a/folder/page", "a/out", "a/absolute", "a/loop"}
    assert files_of(file, "npm", wanted) == {"a/one": b"here", "a/folder/page": b"here"}


@pytest.mark.parametrize("kind", ["npm", "pypi", "debian"])
@pytest.mark.parametrize("data", [b"", b"no package at all", deb(b"no tar"), tar({"a": b"b" * 9000})[:5000]])
def test_broken_packages_are_said_to_be(tmp_path: Path, kind: str, data: bytes) -> None:
    file = tmp_path / "package"
    file.write_bytes(data)
    with pytest.raises(InputError, match="cannot read the package"):
        files_of(file, kind, {"a"})


def test_a_file_that_no_package_has(tmp_path: Path, kept: Path) -> None:
    data = tar({"package/dist/index.html": b"x"})
    keep(kept, data)
    text = spec(data)
    with pytest.raises(InputError, match=r"shop.test/css/a.css is in none of the site's packages \(shop 1.0.0\)"):
        make(site_folder(tmp_path, text), parse_manifest(text, "site.yaml"))


@pytest.mark.usefixtures("kept")
def test_without_a_client_it_says_what_to_do() -> None:
    package = Package("debian", "shop", "1.0.0", "0" * 64, "", "shop.test/")
    with pytest.raises(BuildError, match="there is no apt-get here"):
        package_file(package)


@pytest.mark.parametrize(("says", "status", "expected"), [
    ("no route", 1, "with apt-get.*Check the network"),
    ("", 0, "apt-get gave 0 files instead of one"),
])  # fmt: skip
@pytest.mark.usefixtures("kept")
def test_what_a_client_says_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, status: int, expected: str
) -> None:
    client(tmp_path / "nothing", f"echo {says} >&2; exit {status}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'nothing'}:/usr/bin:/bin")
    with pytest.raises(BuildError, match=expected) as error:
        package_file(Package("debian", "shop", "1.0.0", "0" * 64, "", "shop.test/"))
    assert says in error.value.output


def test_another_package_than_the_manifest_says_is_refused(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client(tmp_path / "nothing", "echo other >shop.deb")
    monkeypatch.setenv("PATH", f"{tmp_path / 'nothing'}:/usr/bin:/bin")
    found = hashlib.sha256(b"other\n").hexdigest()
    with pytest.raises(BuildError, match=rf"is another one than the site's manifest says: its sha256 is {found}"):
        package_file(Package("debian", "shop", "1.0.0", "0" * 64, "", "shop.test/"))
    place = package_file(Package("debian", "shop", "1.0.0", found, "", "shop.test/"))
    assert place.read_bytes() == b"other\n"
    assert sorted(file.name for file in kept.iterdir()) == [".lock", found]


def client(folder: Path, script: str) -> None:
    """What stands in the place of apt-get."""
    folder.mkdir(parents=True)
    (folder / "apt-get").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "apt-get").chmod(0o700)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("from: npm", "from: nmp", "'nmp' is not one of them. Did you mean npm?"),
        ("package: shop", "package: --help", "'--help' is no name of a package"),
        ("package: shop", "package: ../shop", "'../shop' is no name of a package"),
        ("version: 1.0.0", "version: -g", "'-g' is no version"),
        ("root: package/dist", "root: ../dist", "'../dist' is no folder inside the package"),
        ("root: package/dist", "root: /dist", "'/dist' is no folder inside the package"),
        ("at: shop.test/", "at: shop.test", "'shop.test' is no host and path"),
        ("sha256: ", "sha: ", "there is no such key"),
        ("- shop.test/css/a.css", "- shop.test/index.html", "shop.test/index.html is there twice"),
        ("- shop.test/css/a.css", "- nothing", "'nothing' is no host and path"),
    ],
)
def test_errors_name_the_line(old: str, new: str, said: str) -> None:
    text = spec(b"").replace(old, new)
    with pytest.raises(InputError) as error:
        parse_fetch(text, "site.yaml")
    assert said in str(error.value)
    assert str(error.value).startswith("site.yaml:")


@pytest.mark.parametrize("name", [name for name in site_names(PROJECT / "sites-archive") if read_site_manifest(
    name, PROJECT / "sites-archive").fetch])  # fmt: skip
def test_sites_to_fetch_are_whole(name: str) -> None:
    """Read, licensed, and with every object in the place of a package: what can be said without fetching them."""
    manifest = read_site_manifest(name, PROJECT / "sites-archive")
    fetch = read_fetch(PROJECT / "sites-archive" / name / "site.yaml")
    assert manifest.licence
    assert manifest.composition is not None
    assert sum(part.objects for part in manifest.composition.values()) == len(fetch.objects)
    assert manifest.entry in {each.url for each in fetch.objects}
    assert all(any(package.has(each) for package in fetch.packages) for each in fetch.objects)
    assert all(mime_of(each.path) != "application/octet-stream" for each in fetch.objects)
    assert f"| `{name}` |" in (PROJECT / "docs/reference/generate.md").read_text()
