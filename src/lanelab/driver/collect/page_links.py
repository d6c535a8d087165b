"""What a page loads, found by reading its HTML and CSS. What scripts ask for is not found so."""

import html
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urldefrag, urljoin

LONGEST = 8_000  # characters of an address
_URL = re.compile(r"""url\(\s*(?:"([^"]{1,8000})"|'([^']{1,8000})'|([^\s"'()]{1,8000}))\s*\)""", re.IGNORECASE)
_IMPORT = re.compile(r"""@import\s+(?:"([^"]{1,8000})"|'([^']{1,8000})')""", re.IGNORECASE)
_IMPORT_URL = re.compile(r"@import\s+" + _URL.pattern, re.IGNORECASE)
_CANDIDATE = re.compile(r"[\s,]*([^\s,]\S*)[^,]*,?")
_OPEN = re.compile(r"<(?:(!--)|([a-zA-Z][^\s/>]*))")
_GAP = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"""([^\s/>=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?""")
_NO_MARKUP = {
    tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in ("script", "style", "title", "textarea", "xmp", "noframes")
}
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
# What every load asks for. Of fonts, backgrounds, icons, variants of an image and lazy ones it asks for some.
ALWAYS_LOADED = frozenset(("img", "script", "iframe", "frame", "embed", "object"))
ALWAYS_RELATIONS = frozenset(("stylesheet", "modulepreload"))
Links = Iterator[str]


def links_of(kind: str, text: str, base: str, *, always: bool = False) -> list[str]:
    """Return absolute addresses without fragment, in order, each once. `kind`: the media type. `always`: only what
    every load asks for."""
    if kind in ("text/html", "application/xhtml+xml"):
        links = _of_html(text, base, always=always)
    elif kind in ("text/css", "image/svg+xml"):
        links = [_absolute(base, each) for each in _of_css(text, always=always)]
    else:
        return []
    return list(dict.fromkeys(each for each in links if each is not None))


def _of_html(text: str, base: str, *, always: bool) -> list[str | None]:
    links: list[str] = []
    for tag, values, content in _tags(text):
        if tag == "base" and "href" in values:
            base = _absolute(base, values["href"]) or base
        links += _always_of_tag(tag, values) if always else _of_tag(tag, values)
        if tag == "style":
            links += _of_css(content, always=always)
    return [_absolute(base, each) for each in links]


def _always_of_tag(tag: str, values: Mapping[str, str]) -> Links:
    away = values.get("loading", "").lower() == "lazy" or "srcset" in values
    if tag in ALWAYS_LOADED and not away:
        yield from (values[name] for name in LOADED[tag] if name in values)
    elif tag == "link" and ALWAYS_RELATIONS & set(values.get("rel", "").lower().split()):
        yield values.get("href", "")


def _of_tag(tag: str, values: Mapping[str, str]) -> Links:
    """Return what a browser would load, as it is written."""
    yield from (values[name] for name in LOADED.get(tag, ()) if name in values)
    for name in SETS.get(tag, ()):
        yield from _of_set(values.get(name, ""))
    yield from _of_css(values.get("style", ""))
    if tag == "link" and RELATIONS & set(values.get("rel", "").lower().split()):
        yield values.get("href", "")
    elif tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
        yield from _REFRESH.findall(values.get("content", ""))


def _tags(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield each start tag with its attributes and, of those whose content is no markup, the content. Reads each
    character a few times at most: Python's own parser takes hours for some pages."""
    at = 0
    while match := _OPEN.search(text, at):
        at = match.end()
        if match[1]:
            end = text.find("-->", at)
            at = end + 3 if end >= 0 else len(text)
            continue
        values, at = _attributes(text, at)
        tag, content = match[2].lower(), ""
        if tag in _NO_MARKUP:
            end_tag = _NO_MARKUP[tag].search(text, at)
            end = end_tag.start() if end_tag else len(text)
            content, at = text[at:end], end
        yield tag, values, content


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """Return those of a tag, each as it is there first, and where the tag ends."""
    values: dict[str, str] = {}
    while True:
        gap = _GAP.match(text, at)
        at = gap.end() if gap else at
        if at >= len(text) or text[at] == ">":
            return values, at + 1
        match = _ATTRIBUTE.match(text, at)
        if not match:
            at += 1
            continue
        at = match.end()
        value = next((part for part in match.groups()[1:] if part is not None), "")
        if value:
            values.setdefault(match[1].lower(), html.unescape(value))


def _of_set(text: str) -> Links:
    """Return the links of several images with their widths or densities."""
    at = 0
    while match := _CANDIDATE.match(text, at):
        yield match[1].rstrip(",")
        at = match.end(1) if match[1].endswith(",") else match.end()


def _of_css(text: str, *, always: bool = False) -> Links:
    plain = _without_comments(text)
    for pattern in (_IMPORT, _IMPORT_URL) if always else (_IMPORT, _URL):
        for match in pattern.finditer(plain):
            yield next(part for part in match.groups() if part)


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (begin := text.find("/*", at)) >= 0:
        parts.append(text[at:begin])
        end = text.find("*/", begin + 2)
        at = end + 2 if end >= 0 else len(text)
    return "".join([*parts, text[at:]])


def _absolute(base: str, link: str) -> str | None:
    if len(link) > LONGEST:
        return None
    try:
        url = urldefrag(urljoin(base, link.strip()))[0]
    except ValueError:
        return None
    return url if url.startswith(("http://", "https://")) else None
