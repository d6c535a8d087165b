"""Pages: what they include, places for what style sheets show, and text up to the size."""

from collections.abc import Sequence

from lanelab.driver.site.generate.css import rules_for
from lanelab.driver.site.generate.noise import letters, prose
from lanelab.driver.site.generate.plan import Piece, below
from lanelab.driver.site.generate.script import ASK, asked_by_script

SHOWN = ("image", "frame", "media")
LEAST_SECTIONS = 3
PER_SECTION = 1200  # bytes of text, about
ICON = 'rel="icon"'
# Waits for the style sheets and applies them. Without it a browser may do so after the load event, and ask for
# backgrounds and fonts only then.
STYLED = "<script>document.body.offsetHeight;</script>\n"
PICTURE = (320, 240)  # of a frame
END = "</p>\n</section>\n"
ITEM = '<li class="item"><a class="item-link" href="/sections/part/index.html">', "</a></li>\n"


def page(pieces: Sequence[Piece], piece: Piece, dimensions: dict[int, tuple[int, int]]) -> bytes:
    """Return a page of exactly its size. `dimensions`: width and height of each image."""
    pieces_asked_for = [pieces[index] for index in piece.asks]
    shown = [
        each for each in pieces_asked_for if each.group.place == "body" and each.type in SHOWN and not _by_itself(each)
    ]
    count = max(LEAST_SECTIONS, len(shown), piece.size // PER_SECTION)
    noise_bytes = piece.size * piece.group.noise.ppb // 10**9
    keys = [letters(f"{piece.seed} key {n}", size) for n, size in enumerate(_parts(noise_bytes, count))]
    head, places = _head(piece, pieces_asked_for), _places(pieces, piece)
    tail = _tail(piece, pieces_asked_for, styled=bool(places))
    spread = [[each for place, each in enumerate(shown) if place * count // max(len(shown), 1) == n]
              for n in range(count)]  # fmt: skip
    sections = [_section(piece, n, keys[n], spread[n], dimensions) + ("" if n else places) for n in range(count)]
    fixed = len(head) + len(tail) + sum(len(section) for section in sections) + len(f"<p>{END}") * count
    if fixed > piece.size:
        raise piece.too_small(fixed)
    markup = piece.size * piece.group.markup.ppb // 10**9
    items = min(markup, (piece.size - fixed) * 9 // 10) // len("".join(ITEM)) // count
    texts = [_text(f"{piece.seed} text {n}", size, items) for n, size in enumerate(_parts(piece.size - fixed, count))]
    written = (f"{section}{text}{END}" for section, text in zip(sections, texts, strict=True))
    return (head + "".join(written) + tail).encode("ascii")


def _text(seed: str, size: int, items: int) -> str:
    """Lines of a list, and a paragraph of what is left: `size` characters without the paragraph's tags."""
    share = (size - items * len("".join(ITEM))) // (items + 1)
    lines = (prose(f"{seed} {number}", share).join(ITEM) for number in range(items))
    written = "".join(lines)
    return f"{written}<p>{prose(seed, size - len(written))}"


def _parts(total: int, count: int) -> list[int]:
    each, more = divmod(total, count)
    return [each + (n < more) for n in range(count)]


def _head(piece: Piece, children: Sequence[Piece]) -> str:
    included = "".join(_include(piece, each) for each in children if _in_head(each))
    rules = "".join(rules_for(piece, each) for each in children if each.group.inline == "style")
    style = f"<style>\n{rules}</style>\n" if rules else ""
    icon = "" if any(each.group.rel == ICON for each in children) else f'<link {ICON} href="data:,">\n'
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>A generated page</title>\n'
        f"{icon}{included}{style}</head>\n<body>\n<h1>A generated page</h1>\n"
    )


def _by_itself(each: Piece) -> bool:
    """Return whether the page asks for it in another way than its tag."""
    return bool(each.group.inline or each.group.rel)


def _in_head(each: Piece) -> bool:
    return bool(each.group.rel) or (not each.group.inline and (each.group.place == "head" or each.type == "css"))


def _tail(piece: Piece, children: Sequence[Piece], *, styled: bool) -> str:
    scripts = (each for each in children if each.group.place == "body" and each.type in ("script", "module"))
    included = "".join(_include(piece, each) for each in scripts if not _by_itself(each))
    lines = "".join(asked_by_script(each) for each in children if each.group.inline == "script")
    script = f"<script>\n(function () {{\n{ASK}{lines}}}());\n</script>\n" if lines else ""
    return f"{included}{script}{STYLED if styled else ''}</body>\n</html>\n"


def _include(piece: Piece, each: Piece) -> str:
    address = each.address_for(piece)
    if each.group.rel:
        return f'<link {each.group.rel} href="{address}">\n'
    if each.type == "css":
        return f'<link rel="stylesheet" href="{address}">\n'
    if each.type == "module":
        return f'<script type="module" src="{address}"></script>\n'
    if each.type == "script":
        mode = "" if each.group.mode == "plain" else f" {each.group.mode}"
        return f'<script src="{address}"{mode}></script>\n'
    return f'<link rel="preload" as="image" href="{address}">\n'  # an image in the head


def _places(pieces: Sequence[Piece], piece: Piece) -> str:
    """Return an element for each background and each font of the page's style sheets, so that they are used."""
    sheets = (each for each in below(pieces, piece) if each.type == "css")
    inline = (index for index in piece.asks if pieces[index].group.inline == "style")
    lines = []
    for index in (*inline, *(index for sheet in sheets for index in sheet.asks)):
        if pieces[index].type == "image":
            lines.append(f'<span class="b{index}"></span>\n')
        elif pieces[index].type == "font":
            lines.append(f'<span class="f{index}">Text</span>\n')
    return "".join(lines)


def _section(
    piece: Piece, number: int, key: str, shown: Sequence[Piece], dimensions: dict[int, tuple[int, int]]
) -> str:
    held = "".join(_shown(piece, each, dimensions) for each in shown)
    key = f' data-key="{key}"' if key else ""
    return f'<section class="part p{number % 8}"{key}>\n<h2>Part {number + 1}</h2>\n{held}'


def _shown(piece: Piece, each: Piece, dimensions: dict[int, tuple[int, int]]) -> str:
    width, height = dimensions.get(each.index, PICTURE)
    address = each.address_for(piece)
    if each.type == "frame":
        return f'<iframe src="{address}" width="{width}" height="{height}"></iframe>\n'
    if each.type == "media":
        return f'<video src="{address}" preload="auto" muted></video>\n'
    return f'<img src="{address}" width="{width}" height="{height}" alt="Picture {each.index}">\n'
