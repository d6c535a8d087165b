"""Sites from recipes: the same bytes on every machine, for the same recipe and seed."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lanelab.driver.site.generate import css, font, html, script
from lanelab.driver.site.generate.images import FORMATS
from lanelab.driver.site.generate.images.common import TooSmall
from lanelab.driver.site.generate.plan import TEXTS, Piece, planned
from lanelab.driver.site.generate.recipe import Recipe, read_recipe
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import Headers, SiteObject, StoredObject

MODIFIED = "Sun, 01 Jul 2012 12:00:00 GMT"


def make(folder: Path, manifest: Manifest) -> Iterable[StoredObject]:
    """Return the objects of the site whose recipe lies in that folder."""
    if manifest.recipe is None:
        raise TypeError(f"{folder} has no recipe")
    return generated(read_recipe(folder / manifest.recipe))


def generated(recipe: Recipe) -> Iterator[StoredObject]:
    """Yield all objects of a recipe, the page first."""
    pieces = planned(recipe)
    dimensions = {each.index: _dimensions(each) for each in pieces if each.type == "image"}
    for piece in pieces:
        body = _body(pieces, piece, dimensions)
        if len(body) != piece.size:
            raise AssertionError(f"{piece.url} has {len(body)} bytes instead of {piece.size}")
        yield StoredObject(_object(piece, body), body)


def _object(piece: Piece, body: bytes) -> SiteObject:
    digest = hashlib.sha256(body).hexdigest()
    return SiteObject(
        host=piece.host,
        path=piece.path,
        size=len(body),
        mime=piece.mime,
        sha256=digest,
        headers=_headers(piece, digest),
        late=piece.late,
    )


def _headers(piece: Piece, digest: str) -> Headers:
    """Return what a web server says of a file."""
    charset = "; charset=utf-8" if piece.type in TEXTS and piece.type != "data" else ""
    headers = [
        ("Last-Modified", MODIFIED),
        ("ETag", f'"{digest[:16]}"'),
        ("Accept-Ranges", "bytes"),
        ("Content-Type", piece.mime + charset),
    ]
    if piece.type in ("font", "module", "data"):  # which other origins may have only so
        headers.append(("Access-Control-Allow-Origin", "*"))
    return tuple(headers)


def _dimensions(piece: Piece) -> tuple[int, int]:
    group = piece.group
    if group.width is not None and group.height is not None:
        return group.width, group.height
    return FORMATS[group.format].dimensions(piece.size - _metadata(piece))


def _metadata(piece: Piece) -> int:
    return piece.size * piece.group.metadata.ppb // 10**9


def _body(pieces: Sequence[Piece], piece: Piece, dimensions: dict[int, tuple[int, int]]) -> bytes:
    if piece.type in ("page", "frame"):
        return html.page(pieces, piece, dimensions)
    if piece.type == "css":
        return css.sheet(pieces, piece)
    if piece.type in ("script", "module"):
        return script.script(pieces, piece)
    if piece.type == "data":
        return script.data(piece)
    if piece.type == "font":
        if piece.size < font.least(piece.seed):
            raise piece.too_small(font.least(piece.seed))
        return font.font(piece.seed, piece.size)
    encode = FORMATS[piece.group.format].encode
    try:
        return encode(piece.seed, piece.size, *dimensions[piece.index], _metadata(piece))
    except TooSmall as error:
        raise piece.too_small(error.least) from error
