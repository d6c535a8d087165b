"""sprite_images: backgrounds that show whole boxes of known size become parts of one image, a strip from top to bottom.

Only what looks the same afterwards is done: the box has a width and a height in pixels, and lies within its image.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import Image

from lanelab.driver.site.minify import image_codecs as codecs
from lanelab.driver.site.minify.addresses import Address, joined_names, names_in_common_folder, rewritten_leaf
from lanelab.driver.site.minify.css.scan import Token, tokens, url
from lanelab.driver.site.minify.image_files import Kind, kind_of
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

FILTER_ID = "is"
SPRITED = (Kind.PNG, Kind.GIF)
PLACES = {"left", "right", "center", "top", "bottom"}
SAYS_PLACE = ("background-position", "background-position-x", "background-position-y")
HAS_IMAGE = ("background", "background-image")
FRACTIONS = (".", "%", "/", ",", "(")  # of numbers and lists that are not looked into
FORBIDS = ("background-size", "padding", "background-origin", "background-clip", "background-attachment")


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str
    values: tuple[Token, ...]  # without space and comments


@dataclass(frozen=True, slots=True)
class Background:
    """An image that a block shows, and where in the text its address and place stand."""

    image: Resource
    picture: Image.Image
    address: Token
    place: tuple[Token, ...]  # none, or two that say x and y
    x: int
    y: int

    @property
    def key(self) -> Address:
        return self.image.address


def sprited(work: Work, text: str, sheet: Address) -> str:
    """Return the text with the addresses and places of the sprite."""
    backgrounds = list(_backgrounds(work, text, sheet))
    images = _taken(work, {each.key: each for each in backgrounds})
    if len(images) < 2:
        return text
    body, tops = _strip([each.picture for each in images])
    sources = [each.image for each in images]
    folder, leaves = names_in_common_folder([each.address for each in sources])
    sprite = work.resources.add_at(folder, sources, rewritten_leaf(joined_names(leaves), FILTER_ID, body, "png"), body)
    top_of = {each.key: top for each, top in zip(images, tops, strict=True)}
    edits: list[tuple[int, int, str]] = []
    for each in backgrounds:
        if each.key in top_of:
            edits += _edits(each, url(work.written(sprite, sheet), each.address.text), top_of[each.key])
            work.use(each.image, sprite)
    before = sum(each.size for each in sources)
    work.note("sprite_images", f"{len(images)} images became one", before, len(body), sprite.address)
    return _edited(text, edits)


def _backgrounds(work: Work, text: str, sheet: Address) -> Iterator[Background]:
    """A place without an image belongs to an image of another block, which nobody finds: then none is taken."""
    blocks = [(block, _images(block)) for block in _blocks(text)]
    if any(not images and any(each.name in SAYS_PLACE for each in block) for block, images in blocks):
        return
    for block, images in blocks:
        if len(images) == 1 and images[0][0].name in HAS_IMAGE and not any(map(_forbids, block)):
            background = _background(work, block, images[0][1], sheet)
            if background is not None:
                yield background


def _images(block: Sequence[Declaration]) -> list[tuple[Declaration, Token]]:
    return [(each, value) for each in block for value in each.values if value.kind == "url"]


def _background(work: Work, block: Sequence[Declaration], address: Token, sheet: Address) -> Background | None:
    image = work.find(address.address, sheet)
    width, height = (_pixels_of(block, name) for name in ("width", "height"))
    place = _place(block)
    if image is None or image.address.rewritten or width is None or height is None or place is None:
        return None
    picture = _picture(image, transparent=not work.wish.generation.png_by_gif)
    if picture is None:
        return None
    x, y = (
        _offset(value, box, side)
        for value, box, side in zip(place or (None, None), (width, height), picture.size, strict=True)
    )
    if x is None or y is None:
        return None
    inside = x <= 0 and y <= 0 and width - x <= picture.width and height - y <= picture.height
    return Background(image, picture, address, place, x, y) if inside else None


def _picture(image: Resource, *, transparent: bool) -> Image.Image | None:
    """A PNG or GIF of one frame; opaque unless the release could do others."""
    if kind_of(image.body) not in SPRITED:
        return None
    try:
        picture = codecs.decode(image.body)
        whole = codecs.frames_of(picture) == 1 and not codecs.is_animated_png(image.body)
        return picture if whole and (transparent or codecs.is_opaque(picture)) else None
    except codecs.Undecodable:
        return None


def _place(block: Sequence[Declaration]) -> tuple[Token, ...] | None:
    """Return the two values that say where the image begins; none where nothing does. None: it cannot be told."""
    names = [each.name for each in block]
    if "background-position" in names:
        at = len(names) - 1 - names[::-1].index("background-position")
        values = block[at].values
        first = "background" not in names[at:]  # which would take the place back
        return values if first and len(values) == 2 and all(map(_says_place, values)) else None
    if "background" not in names:
        return ()
    written = block[len(names) - 1 - names[::-1].index("background")].values
    if any(value.text in FRACTIONS for value in written):
        return None
    before = (None, *written)
    places = [
        value
        for value, last in zip(written, before, strict=False)
        if _says_place(value) and not (last is not None and last.text == "#")
    ]
    return tuple(places) if len(places) in (0, 2) else None


def _offset(value: Token | None, box: int, side: int) -> int | None:
    """In pixels from the box's edge; None: it cannot be told."""
    if value is None:
        return 0
    word = value.text.lower()
    words = {"left": 0, "top": 0, "right": box - side, "bottom": box - side}
    return words.get(word, _pixels(word))


def _says_place(value: Token) -> bool:
    return value.kind == "word" and (value.text.lower() in PLACES or value.text[:1] in "-0123456789.")


def _pixels_of(block: Sequence[Declaration], name: str) -> int | None:
    values = [each.values for each in block if each.name == name]
    return _pixels(values[-1][0].text.lower()) if values and len(values[-1]) == 1 else None


def _pixels(word: str) -> int | None:
    number = word.removesuffix("px")
    if not number.removeprefix("-").isascii() or not number.removeprefix("-").isdigit() or len(number) > 6:
        return None
    return int(number) if word.endswith("px") or int(number) == 0 else None


def _forbids(each: Declaration) -> bool:
    """Say whether this cannot be taken into account: another size or box of the background, and what is important."""
    return (
        each.name.startswith(FORBIDS) or each.name in SAYS_PLACE[1:] or any(value.text == "!" for value in each.values)
    )


def _taken(work: Work, by_address: dict[Address, Background]) -> list[Background]:
    """Take as many backgrounds as the name of a sprite may have."""
    limits = work.wish.generation
    taken: list[Background] = []
    for each in by_address.values():
        if sum(one.picture.width * one.picture.height for one in (*taken, each)) * 2 > codecs.PIXELS_MAX:
            break
        folder, leaves = names_in_common_folder([one.key for one in (*taken, each)])
        leaf = len(rewritten_leaf(joined_names(leaves), FILTER_ID, b"", "png")) + limits.url_slack_bytes
        base = len(f"{work.scheme}://{folder.host}{folder.path}")
        if leaf <= limits.url_segment_bytes and leaf + base <= limits.url_bytes:
            taken.append(each)
    return taken


def _strip(pictures: Sequence[Image.Image]) -> tuple[bytes, list[int]]:
    """Return all of them below each other, and where each begins."""
    opaque = all(map(codecs.is_opaque, pictures))
    mode = "RGB" if opaque else "RGBA"
    tops = [sum(each.height for each in pictures[:index]) for index in range(len(pictures))]
    size = max(each.width for each in pictures), sum(each.height for each in pictures)
    canvas = Image.new(mode, size)
    for top, each in zip(tops, pictures, strict=True):
        canvas.paste(each.convert(mode), (0, top))
    return codecs.to_png(canvas), tops


def _edits(each: Background, address: str, top: int) -> list[tuple[int, int, str]]:
    place = (each.x, each.y - top)
    if each.place:
        moved = [(old.start, old.end, _written(new)) for old, new in zip(each.place, place, strict=True)]
        return [(each.address.start, each.address.end, address), *moved]
    return [(each.address.start, each.address.end, address), (-1, each.address.end, " ".join(map(_written, place)))]


def _written(pixels: int) -> str:
    return f"{pixels}px" if pixels else "0"


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """Edit a text. A start of -1 is a place for the block that this is in, whatever it said before."""
    for start, end, new in sorted(edits, key=lambda edit: edit[1], reverse=True):
        if start >= 0:
            text = text[:start] + new + text[end:]
        else:
            close = text.index("}", end)
            text = f"{text[:close].rstrip().rstrip(';')};background-position:{new}{text[close:]}"
    return text


def _blocks(text: str) -> Iterator[list[Declaration]]:
    """Yield the declarations of each innermost block."""
    inside: list[Token] = []
    for token in tokens(text):
        if token.kind in ("space", "comment"):
            continue
        if token.text == "{" and token.kind == "other":
            inside = []
        elif token.text == "}" and token.kind == "other":
            yield list(_declarations(inside))
            inside = []
        else:
            inside.append(token)


def _declarations(inside: Sequence[Token]) -> Iterator[Declaration]:
    part: list[Token] = []
    for token in (*inside, None):
        if token is not None and not (token.kind == "other" and token.text == ";"):
            part.append(token)
            continue
        if len(part) > 2 and part[0].kind == "word" and part[1].text == ":":
            yield Declaration(part[0].text.lower(), tuple(part[2:]))
        part = []
