"""Style sheets: imports, fonts and backgrounds of elements that the page has, and rules that match its parts."""

from collections.abc import Iterator, Sequence

from lanelab.driver.site.generate.noise import letters, numbers, prose
from lanelab.driver.site.generate.plan import Piece

SELECTORS = (".part h2", ".part p", ".part img", "section.part", "body h1", "body", ".part span", "body p", ".part")
COLOURS = ("color", "background-color", "border-color", "outline-color")
LENGTHS = ("margin-bottom", "padding-left", "padding-right", "border-radius")
COMMENT = len("/*  */\n")
RULES = 9  # of ten bytes that are free, so many go to rules; the others are a comment


def sheet(pieces: Sequence[Piece], piece: Piece) -> bytes:
    """Return a style sheet of exactly its size."""
    pieces_asked_for = [pieces[index] for index in piece.asks]
    imports = "".join(f'@import url("{each.address_for(piece)}");\n' for each in pieces_asked_for if each.type == "css")
    used = "".join(rules_for(piece, each) for each in pieces_asked_for if each.type != "css")
    noise_bytes = piece.size * piece.group.noise.ppb // 10**9
    key = f"html {{\n  --key: {letters(f'{piece.seed} key', noise_bytes)};\n}}\n\n" if noise_bytes else ""
    text = imports + used + key
    if len(text) > piece.size:
        raise piece.too_small(len(text))
    rest = piece.size - len(text)
    rules, length = [], 0
    for rule in _rules(piece.seed):
        if length + len(rule) > rest * RULES // 10:
            break
        rules.append(rule)
        length += len(rule)
    rest -= length
    end = f"/* {prose(f'{piece.seed} comment', rest - COMMENT)} */\n" if rest >= COMMENT else "\n" * rest
    return (text + "".join(rules) + end).encode("ascii")


def rules_for(piece: Piece, each: Piece) -> str:
    """The rules that use an image or a font; the page has an element for them."""
    address = each.address_for(piece)
    if each.type == "font":
        return (
            f'@font-face {{\n  font-family: "f{each.index}";\n  src: url("{address}") format("truetype");\n}}\n\n'
            f'.f{each.index} {{\n  font-family: "f{each.index}", serif;\n}}\n\n'
        )
    return (
        f".b{each.index} {{\n  display: inline-block;\n  width: 16px;\n  height: 16px;\n"
        f'  background-image: url("{address}");\n}}\n\n'
    )


def _rules(seed: str) -> Iterator[str]:
    """Yield rules without end, from the numbers of `seed`."""
    chance = numbers(f"{seed} rules", 1 << 24)
    while True:
        place = next(chance)
        selector = SELECTORS[place % len(SELECTORS)]
        if selector.startswith(".part ") and place % 3:
            selector = f".p{place % 8}{selector.removeprefix('.part')}"
        colour, length = COLOURS[next(chance) % len(COLOURS)], LENGTHS[next(chance) % len(LENGTHS)]
        # Dark on bright, so that whatever rule wins, the text can be read.
        shade = next(chance) & 0x3F3F3F if colour != "background-color" else next(chance) | 0xE0E0E0
        value = next(chance) % 90
        yield f"{selector} {{\n  {colour}: #{shade:06x};\n  {length}: 0.{value:02}em;\n}}\n\n"
