"""The skeleton of a site: the same objects, sizes and ways in which one asks for another, with other content. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urljoin

from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.collect.skeleton.contents import image, zipped
from lanelab.driver.collect.skeleton.references import Reference, references
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.exchange import Exchange
from lanelab.driver.site.generate import css, font, html, script
from lanelab.driver.site.generate.noise import letters, noise, prose
from lanelab.driver.site.generate.plan import Piece, TooSmallError
from lanelab.driver.site.generate.recipe import Group
from lanelab.driver.site.site import Headers, Site, SiteObject, StoredObject

KEPT = frozenset(
    (
        *("content-type", "cache-control", "expires", "age", "date", "last-modified", "vary", "pragma", "server"),
        *("accept-ranges", "content-range", "timing-allow-origin", "x-content-type-options"),
        *("access-control-allow-origin", "access-control-allow-credentials", "access-control-allow-methods"),
        *("access-control-allow-headers", "access-control-max-age", "access-control-expose-headers"),
    )
)
FILLER = "X-Left-Out"  # in the place of a field that would do something, or says whose site it was


def skeleton_headers(
    headers: Headers, seed: str, encoding: str | None, location: Callable[[str], str | None]
) -> Headers:
    """Write the headers. `encoding` is the content coding that the body has now, `location` where a redirect leads,
    renamed. `location`: where a redirect leads, renamed."""
    kept = []
    for number, (name, value) in enumerate(headers):
        lower = name.lower()
        if lower == "content-encoding":
            kept += [(name, encoding)] if encoding else []
        elif lower == "location":
            there = location(value)
            kept += [(name, there)] if there else []
        elif lower == "etag":
            kept.append((name, f'"{letters(f"{seed} etag", max(len(value) - 2, 1))}"'))
        elif lower in KEPT:
            kept.append((name, value))
        elif lower != "content-length":
            length = max(1, len(name) + len(value) - len(FILLER))
            kept.append((FILLER, letters(f"{seed} {number}", length)))
    return tuple(kept)


Names = dict[str, str]  # host and path -> the same, renamed
_EXTENSION = re.compile(r"\.[a-z0-9]{1,5}$", re.IGNORECASE)
_WORD = re.compile(r"[^/?&=.]+")


def renamed(objects: Iterable[SiteObject], entry_host: str) -> Names:
    """Return a name for each address. Two that differ stay two."""
    hosts = {entry_host: "site.test"}
    names: Names = {}
    taken: set[str] = set()
    for each in objects:
        if each.url in names:
            continue
        host = hosts.setdefault(each.host, f"host{len(hosts)}.test")
        attempt = 0
        while (name := host + _path(each.path, f"{each.url} {attempt}", attempt)) in taken:
            attempt += 1
        taken.add(name)
        names[each.url] = name
    return names


def _path(path: str, seed: str, longer: int) -> str:
    """The same shape with other words; the end of a file's name says only what it is, and stays."""
    plain, mark, query = path.partition("?")
    extension = _EXTENSION.search(plain)
    end = extension[0].lower() if extension else ""
    stem = plain[: len(plain) - len(end)]
    number = 0

    def other(match: re.Match[str]) -> str:
        nonlocal number
        number += 1
        return letters(f"{seed} {number}", len(match[0]) + longer).replace("-", "x")

    again = "" if not longer or stem.strip("/") else letters(seed, longer)
    return _WORD.sub(other, stem) + again + end + mark + _WORD.sub(other, query)


BUILT = ("page", "frame", "css", "script", "module")
NOT_AWAITED = ("data",)  # what scripts fetch: the load event does not wait for it
LITTLE = Ratio(0)
MARKUP = Ratio(500_000_000)
NOW = Duration.parse("0ms")
ANSWERED = "2012-07-01T12:00:00Z"  # when is no business of those who get the skeleton


@dataclass(frozen=True, slots=True)
class Skeleton:
    exchanges: tuple[Exchange, ...]
    entry: str  # with its scheme
    changed: tuple[str, ...]  # words on what could not be kept


def skeleton_of(site: Site, stored: Sequence[StoredObject], *, keep_addresses: bool) -> Skeleton:
    """`stored` are the site's objects, as they are stored."""
    address = site.entry_host + site.entry_path
    chosen = [each for each in stored if each.object.method == "GET"]
    plain = [decoded(each) for each in chosen]
    entry = next(number for number, each in enumerate(plain) if each.object.url == address)
    objects = [each.object for each in chosen]
    names: Names = {each.url: each.url for each in objects} if keep_addresses else renamed(objects, site.entry_host)
    pieces = _pieces(plain, references(plain, entry), entry, names)
    changed = [f"{len(stored) - len(chosen)} requests that are no GET"] if len(chosen) < len(stored) else []
    exchanges = []
    for piece, kept, open_one in zip(pieces, chosen, plain, strict=True):
        exchange, words = _exchange(pieces, piece, kept, open_one, names)
        exchanges.append(exchange)
        changed += words
    order = [exchanges[entry], *(each for number, each in enumerate(exchanges) if number != entry)]
    scheme = objects[entry].scheme
    return Skeleton(tuple(order), f"{scheme}://{names[address]}", tuple(changed))


def _pieces(
    plain: Sequence[StoredObject], references: Iterable[Reference], entry: int, names: Names
) -> tuple[Piece, ...]:
    how = {each.child: each for each in references}
    asks: dict[int, list[int]] = {number: [] for number in range(len(plain))}
    for each in how.values():
        asks[each.parent].append(each.child)
    pieces = []
    for number, stored in enumerate(plain):
        host, _, path = names[stored.object.url].partition("/")
        group = _group(stored.object, how.get(number), page=number == entry)
        late = stored.object.late
        pieces.append(
            Piece(
                number, group, host, f"/{path}", len(stored.body), names[stored.object.url], late, tuple(asks[number])
            )
        )
    return tuple(pieces)


def _group(each: SiteObject, how: Reference | None, *, page: bool) -> Group:
    by_script = how is not None and how.type in ("other", "script", "module", "css", "image") and not how.rel
    return Group(
        type="page" if page else how.type if how else "other",
        name="object",
        sizes=(),
        hosts=(),
        parent="",
        chain=False,
        place=how.place if how else "body",
        mode=how.mode if how else "plain",
        think=NOW,
        after=NOW,
        late=each.late and by_script,
        format="png",
        width=None,
        height=None,
        metadata=LITTLE,
        noise=LITTLE,
        markup=MARKUP,
        rel=how.rel if how else "",
        inline=how.inline if how else "",
    )


def _exchange(
    pieces: Sequence[Piece], piece: Piece, stored: StoredObject, plain: StoredObject, names: Names
) -> tuple[Exchange, list[str]]:
    each = stored.object
    was_encoded = len(plain.body) != len(stored.body) or bool(each.encoding)
    body, coding, words = stored.body, None, []
    if not was_encoded:
        body, least = _sized(pieces, piece, plain)
    else:
        least = _least(pieces, piece)
        size = max(piece.size, least)
        _, body = zipped(lambda wanted: _body(pieces, replace(piece, size=wanted), plain), size, len(stored.body),
                         piece.seed, min(least, size))  # fmt: skip
        coding = "gzip"
        if each.encoding not in ("gzip", "x-gzip"):
            words.append(f"the content coding {each.encoding}: gzip in its place")
    if len(body) != len(stored.body):
        words.append(f"{piece.url}: {len(body):,} bytes instead of {len(stored.body):,}")
    headers = skeleton_headers(each.sent_headers, piece.seed, coding, lambda link: _renamed_link(each, link, names))
    exchange = Exchange(
        method="GET",
        url=f"{each.scheme}://{piece.url}",
        request_headers=(),
        request_body=b"",
        status=each.status,
        reason=each.reason,
        headers=headers,
        body=body,
        protocol="http/1.1",
        at_utc=ANSWERED,
        late=each.late or piece.type in NOT_AWAITED,
    )
    return exchange, words


def _renamed_link(each: SiteObject, link: str, names: Mapping[str, str]) -> str | None:
    scheme, _, target = urljoin(f"{each.scheme}://{each.url}", link).partition("://")
    known = names.get(target.partition("#")[0])
    return f"{scheme}://{known}" if known else None


def _sized(pieces: Sequence[Piece], piece: Piece, plain: StoredObject) -> tuple[bytes, int]:
    """Return the body of the piece's size, or of the least that is possible, and that."""
    try:
        return _body(pieces, piece, plain), piece.size
    except TooSmallError:
        least = _least(pieces, piece)
        return _body(pieces, replace(piece, size=least), plain), least


def _least(pieces: Sequence[Piece], piece: Piece) -> int:
    """How small it can be: it has to say what it refers to. A longer page has more sections, which take more again."""
    if piece.type not in BUILT:
        return piece.size
    size = 0
    while True:
        try:
            _text(pieces, replace(piece, size=size))
        except TooSmallError as error:
            size = error.least
        else:
            return size


def _body(pieces: Sequence[Piece], piece: Piece, plain: StoredObject) -> bytes:
    if not plain.body:
        return b""
    if piece.type in BUILT:
        return _text(pieces, piece)
    mime = plain.object.mime
    if piece.type == "image":
        return image(piece.seed, piece.size, mime, plain.body)
    if piece.type == "font" and piece.size >= font.least(piece.seed):
        return font.font(piece.seed, piece.size)
    if mime.startswith("text/") or "json" in mime or "javascript" in mime:
        return prose(piece.seed, piece.size).encode("ascii")
    return noise(piece.seed, piece.size)


def _text(pieces: Sequence[Piece], piece: Piece) -> bytes:
    if piece.type in ("page", "frame"):
        return html.page(pieces, piece, {})
    if piece.type == "css":
        return css.sheet(pieces, piece)
    return script.script(pieces, piece)
