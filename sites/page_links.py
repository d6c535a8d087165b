"""What a page loads, found by reading its HTML and CSS. What scripts ask for is not found so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin

LONGEST = 8_000  # characters of an address
_URL = re.compile(r"""url\(\s*(?:"([^"]{1,8000})"|'([^']{1,8000})'|([^\s"'()]{1,8000}))\s*\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s+(?:"([^"]{1,8000})"|'([^']{1,8000})')""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SRCSET = re.compile(r"[^\s,]\S*[^\s,]|[^\s,]")
_REFRESH = re.compile(r"""\s*[\d.]+\s*[;,]\s*(?:url\s*=)?\s*["']?([^"'\s]+)""", re.IGNORECASE)

LOADED = {
    "img": ("src",), "script": ("src",), "iframe": ("src",), "frame": ("src",), "embed": ("src",), "source": ("src",),
    "track": ("src",), "audio": ("src",), "video": ("src", "poster"), "input": ("src",), "object": ("data",),
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"), "body": ("background",), "table": ("background",),
    "td": ("background",), "th": ("background",), "amp-img": ("src",),
}  # fmt: skip
SETS = {"img": ("srcset",), "source": ("srcset",), "link": ("imagesrcset",)}
RELATIONS = frozenset(
    ("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "preload", "modulepreload",
     "manifest", "prefetch")
)  # fmt: skip
Links = Iterator[str]


def links_of(kind: str, text: str, base: str) -> list[str]:
    """Absolute addresses without fragment, in order, each once. `kind`: the media type."""
    if kind in ("text/html", "application/xhtml+xml"):
        found = _of_html(text, base)
    elif kind in ("text/css", "image/svg+xml"):
        found = [_absolute(base, each) for each in _of_css(text)]
    else:
        return []
    return list(dict.fromkeys(each for each in found if each is not None))


def _of_html(text: str, base: str) -> list[str | None]:
    reader = _Reader(base)
    reader.feed(text)
    reader.close()
    return [_absolute(reader.base, each) for each in reader.found]


def _of_css(text: str) -> Links:
    plain = _COMMENT.sub("", text)
    for pattern in (_IMPORT, _URL):
        for match in pattern.finditer(plain):
            yield next(part for part in match.groups() if part)


def _absolute(base: str, link: str) -> str | None:
    if len(link) > LONGEST:
        return None
    try:
        url = urldefrag(urljoin(base, link.strip()))[0]
    except ValueError:
        return None
    return url if url.startswith(("http://", "https://")) else None


class _Reader(HTMLParser):
    """Collects what a browser would load, as it is written."""

    def __init__(self, base: str) -> None:
        super().__init__(convert_charrefs=True)
        self.base = base
        self.found: list[str] = []
        self._style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in reversed(attrs) if value}
        self.found += [values[name] for name in LOADED.get(tag, ()) if name in values]
        for name in SETS.get(tag, ()):
            self.found += [part for part in _SRCSET.findall(values.get(name, "")) if not _is_size(part)]
        self.found += _of_css(values.get("style", ""))
        self._style = tag == "style"
        if tag == "link" and RELATIONS & set(values.get("rel", "").lower().split()):
            self.found.append(values.get("href", ""))
        elif tag == "base" and "href" in values:
            self.base = _absolute(self.base, values["href"]) or self.base
        elif tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
            self.found += _REFRESH.findall(values.get("content", ""))

    def handle_endtag(self, tag: str) -> None:
        if tag == "style":
            self._style = False

    def handle_data(self, data: str) -> None:
        if self._style:
            self.found += _of_css(data)


def _is_size(word: str) -> bool:
    """The width or density of one of several images."""
    return bool(re.fullmatch(r"[\d.]+[wxh],?", word))
