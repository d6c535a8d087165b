"""A recipe as a list of objects with addresses, and who asks for which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Ratio
from lanelab.driver.site.generate import font
from lanelab.driver.site.generate.images import FORMATS
from lanelab.driver.site.generate.recipe import Group, Recipe, RecipePage
from lanelab.driver.site.generate.tables import ENTRY, NOTHING, PAGE, REFERENCE

FOLDERS = {
    "css": ("css", "css"),
    "script": ("js", "js"),
    "module": ("js", "js"),
    "font": ("fonts", "ttf"),
    "frame": ("frames", "html"),
    "data": ("data", "json"),
}
MIMES = {
    "page": "text/html",
    "css": "text/css",
    "script": "application/javascript",
    "module": "application/javascript",
    "font": font.MIME,
    "frame": "text/html",
    "data": "application/json",
}
TEXTS = ("page", "css", "script", "module", "frame", "data")


class TooSmallError(InputError):
    """An object cannot be as small as it should be; `least` bytes would do."""

    def __init__(self, what: str, remedy: str, least: int) -> None:
        super().__init__(what, remedy, key="size")
        self.least = least


@dataclass(frozen=True, slots=True)
class Piece:
    """One object to be made."""

    index: int
    group: Group
    host: str
    path: str
    size: int
    seed: str
    late: bool  # whether the page is loaded without it
    asks: tuple[int, ...]  # the pieces that it refers to, in order

    @property
    def type(self) -> str:
        return self.group.type

    @property
    def mime(self) -> str:
        return FORMATS[self.group.format].mime if self.type == "image" else MIMES[self.type]

    @property
    def url(self) -> str:
        return self.host + self.path

    def address_for(self, other: "Piece") -> str:
        """Return the address as `other` refers to it: without a scheme, which an arm decides."""
        return self.path if self.host == other.host else f"//{self.host}{self.path}"

    def too_small(self, least: int) -> TooSmallError:
        what = f"{self.group.name} {self.path} cannot be as small as {self.size} bytes"
        return TooSmallError(what, f"It takes {least} or more. {REFERENCE}", least)


def planned(recipe: Recipe) -> tuple[Piece, ...]:
    """Plan the pieces of a recipe, its pages first."""
    pieces = [_page(recipe, page, index) for index, page in enumerate(recipe.pages)]
    of_group = {page.name: [index] for index, page in enumerate(recipe.pages)}
    of_group[PAGE] = list(range(len(pieces)))
    for group in recipe.groups:
        places: list[int] = []
        for number, size in enumerate(group.sizes):
            index = len(pieces)
            above = of_group[group.parent]
            if group.chain and places:
                parents = [places[-1]]
            else:
                parents = above if group.parent == PAGE else [above[number % len(above)]]
            late = pieces[parents[0]].late or group.late or group.after != NOTHING or group.type == "data"
            host = group.hosts[number % len(group.hosts)]
            seed = f"{recipe.seed}/{group.name}/{number}"
            pieces.append(Piece(index, group, host, _path(group, number), size, seed, late, ()))
            for parent in parents:
                pieces[parent] = replace(pieces[parent], asks=(*pieces[parent].asks, index))
            places.append(index)
        of_group[group.name] = places
    _require_own_addresses(pieces)
    return tuple(pieces)


def _require_own_addresses(pieces: Sequence[Piece]) -> None:
    """Raises InputError where two are called alike, as the second of a group `a` and the group `a-2`."""
    known: dict[str, Piece] = {}
    for piece in pieces:
        if other := known.get(piece.url):
            what = f"objects of {other.group.name} and {piece.group.name} have one address, {piece.url}"
            raise InputError(what, "Give one of the groups another name", key="name")
        known[piece.url] = piece


def below(pieces: Sequence[Piece], top: Piece) -> Iterator[Piece]:
    """Return all that belongs to a page, without what is in its frames: that is theirs."""
    waiting = [*reversed(top.asks)]
    while waiting:
        piece = pieces[waiting.pop()]
        yield piece
        if piece.type != "frame":
            waiting += reversed(piece.asks)


def needed(pieces: Sequence[Piece], page: Piece) -> tuple[str, ...]:
    """Return the addresses of what a load of that page alone asks for by its load event, its own first."""
    addresses, waiting = dict[str, None](), [page.index]
    while waiting:
        piece = pieces[waiting.pop(0)]
        if not piece.late and piece.url not in addresses:
            addresses[piece.url] = None
            waiting += piece.asks
    return tuple(addresses)


def _page(recipe: Recipe, page: RecipePage, index: int) -> Piece:
    group = Group(
        type="page",
        name=page.name,
        sizes=(page.size,),
        hosts=(recipe.host,),
        parent="",
        chain=False,
        place="",
        mode="plain",
        think=NOTHING,
        after=NOTHING,
        late=False,
        format="png",
        width=None,
        height=None,
        metadata=Ratio(0),
        noise=page.noise,
        markup=page.markup,
    )
    path = f"/{page.name if index else ENTRY}.html"
    return Piece(index, group, recipe.host, path, page.size, f"{recipe.seed}/{page.name}", False, ())


def _path(group: Group, number: int) -> str:
    if group.type == "image":
        folder, extension = "images", FORMATS[group.format].extension
    else:
        folder, extension = FOLDERS[group.type]
    digits = len(str(len(group.sizes)))
    name = group.name if len(group.sizes) == 1 else f"{group.name}-{number + 1:0{digits}}"
    return f"/{folder}/{name}.{extension}"
