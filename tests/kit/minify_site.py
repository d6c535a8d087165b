"""Small sites for the tests of minify."""

from collections.abc import Sequence
from typing import Any

from lanelab.driver.site.minify import Minified, Wish, minify, parse_minify
from lanelab.driver.site.site import SiteObject, StoredObject

HOST = "page.test"
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "png": "image/png", "gif": "image/gif"}


def stored(path: str, body: str | bytes, host: str = HOST, **others: Any) -> StoredObject:
    content = body if isinstance(body, bytes) else body.encode("latin-1")
    mime = TYPES.get(path.partition("?")[0].rpartition(".")[2], "text/html")
    facts: dict[str, Any] = {"host": host, "path": path, "size": len(content), "mime": mime, "sha256": "", **others}
    return StoredObject(SiteObject(**facts), content)


def wish(*names: str) -> Wish:
    found = parse_minify(list(names))
    assert found is not None
    return found


def run(names: Sequence[str], page: str | bytes, *others: StoredObject, **facts: Any) -> Minified:
    return minify([stored("/index.html", page, **facts), *others], HOST, "/index.html", wish(*names))


def page_of(made: Minified) -> str:
    return next(each.body.decode("latin-1") for each in made.objects if each.object.path == "/index.html")


def html(names: Sequence[str], page: str, *others: StoredObject) -> str:
    """The page after these filters."""
    return page_of(run(names, page, *others))


def paths(made: Minified) -> list[str]:
    return [each.object.host + each.object.path for each in made.objects]


def body_of(made: Minified, ending: str) -> str:
    """Of the one object whose path ends so."""
    (body,) = (each.body.decode("latin-1") for each in made.objects if each.object.path.endswith(ending))
    return body
