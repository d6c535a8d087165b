"""A recipe as a list of objects with addresses, and who asks for which."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Ratio
from lanelab.driver.site.generate import font
from lanelab.driver.site.generate.images import FORMATS
from lanelab.driver.site.generate.recipe import Group, Recipe
from lanelab.driver.site.generate.tables import NOTHING, PAGE, REFERENCE

INDEX = 0  # the page
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
    """Plan the pieces of a recipe, the page first."""
    pieces = [_page(recipe)]
    of_group = {PAGE: [INDEX]}
    for group in recipe.groups:
        places: list[int] = []
        for number, size in enumerate(group.sizes):
            index = len(pieces)
            above = of_group[group.parent]
            parent = places[-1] if group.chain and places else above[number % len(above)]
            late = pieces[parent].late or group.late or group.after != NOTHING or group.type == "data"
            host = group.hosts[number % len(group.hosts)]
            seed = f"{recipe.seed}/{group.name}/{number}"
            pieces.append(Piece(index, group, host, _path(group, number), size, seed, late, ()))
            pieces[parent] = replace(pieces[parent], asks=(*pieces[parent].asks, index))
            places.append(index)
        of_group[group.name] = places
    return tuple(pieces)


def below(pieces: Sequence[Piece], top: Piece) -> Iterator[Piece]:
    """Return all that belongs to a page, without what is in its frames: that is theirs."""
    for index in top.asks:
        yield pieces[index]
        if pieces[index].type != "frame":
            yield from below(pieces, pieces[index])


def _page(recipe: Recipe) -> Piece:
    group = Group(
        type="page",
        name=PAGE,
        sizes=(recipe.page_size,),
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
        noise=recipe.page_noise,
        markup=recipe.page_markup,
    )
    return Piece(INDEX, group, recipe.host, "/index.html", recipe.page_size, f"{recipe.seed}/{PAGE}", False, ())


def _path(group: Group, number: int) -> str:
    if group.type == "image":
        folder, extension = "images", FORMATS[group.format].extension
    else:
        folder, extension = FOLDERS[group.type]
    digits = len(str(len(group.sizes)))
    name = group.name if len(group.sizes) == 1 else f"{group.name}-{number + 1:0{digits}}"
    return f"/{folder}/{name}.{extension}"
