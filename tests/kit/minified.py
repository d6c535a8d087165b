"""Small sites for tests of minify, and what a filter makes of them."""

from collections.abc import Mapping
from dataclasses import replace

from lanelab.driver.site.minify import Minified, minify, parse_minify
from lanelab.driver.site.site import SiteObject, StoredObject

HOST = "m.test"
MIMES = {
    "html": "text/html",
    "css": "text/css",
    "js": "application/javascript",
    "png": "image/png",
    "gif": "image/gif",
    "jpg": "image/jpeg",
    "webp": "image/webp",
}
OLD_CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/536.5 (KHTML, like Gecko) Chrome/20.0.1132.47 Safari/536.5"


def stored(path: str, body: bytes, *, host: str = HOST, mime: str = "") -> StoredObject:
    kind = mime or MIMES[path.partition("?")[0].rpartition(".")[2]]
    return StoredObject(SiteObject(host, path, len(body), kind, ""), body)


def minified(page: str, files: Mapping[str, bytes], filters: str, *, user_agent: str = OLD_CHROME) -> Minified:
    """A page in UTF-8 with files of its own host, or with `//host/path` of another."""
    objects = [stored("/index.html", page.encode())]
    for name, body in files.items():
        host, _, path = name.removeprefix("//").partition("/") if name.startswith("//") else (HOST, "", name[1:])
        objects.append(stored("/" + path, body, host=host))
    wish = parse_minify(filters)
    assert wish is not None
    return minify(objects, HOST, "/index.html", replace(wish, user_agent=user_agent))


def page_of(made: Minified) -> str:
    return made.objects[0].body.decode()


def paths_of(made: Minified) -> list[str]:
    """Of what a load asks for after the page."""
    return [each.object.path for each in made.objects[1:] if not each.object.late]


def told(made: Minified, name: str) -> list[str]:
    return [each.what for each in made.effects if each.filter == name]
