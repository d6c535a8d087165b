"""Numbers and words that look like chance and are the same everywhere: SHA-256 of a counter."""

import hashlib
from collections.abc import Iterator, Sequence
from decimal import Decimal, localcontext

_ALPHABET = b"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-"
_LETTERS = bytes(_ALPHABET[value % 64] for value in range(256))
_UNIFORMS = 12  # so many added up are nearly normal, with a variance of 1

_TEXT = (
    "a page is loaded when everything it needs has come and most of that time is spent on waiting some of it for the "
    "line which carries so many bytes a second and some for the road which is long whatever the line can do a reader "
    "sees none of this but sees a page that is there or is not yet there so whoever makes pages puts what matters "
    "first keeps pictures small and asks for few things rather than many while whoever makes protocols lets one "
    "connection carry what took six before the words here were chosen to fill a place as words of a newspaper or a "
    "shop would and their order is chance so they mean nothing at all between them however often they are read today"
)
WORDS: Sequence[str] = tuple(dict.fromkeys(_TEXT.split()))


def noise(seed: str, count: int) -> bytes:
    """Return `count` bytes that do not compress."""
    blocks = (hashlib.sha256(f"{seed}/{block}".encode()).digest() for block in range((count + 31) // 32))
    return b"".join(blocks)[:count]


def letters(seed: str, count: int) -> str:
    """Return letters, digits, _ and -: 6 bits in each, so a quarter of it can be compressed."""
    return noise(seed, count).translate(_LETTERS).decode("ascii")


def numbers(seed: str, below: int) -> Iterator[int]:
    """Whole numbers from 0 on, without end."""
    block = 0
    while True:
        digest = hashlib.sha256(f"{seed}/{block}".encode()).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big") % below
        block += 1


def words(seed: str) -> Iterator[str]:
    return (WORDS[number] for number in numbers(seed, len(WORDS)))


def prose(seed: str, size: int) -> str:
    """Return text of exactly that many characters, in sentences."""
    if size <= 0:
        return ""
    parts: list[str] = []
    length, since = 0, 0
    for word in words(seed):
        since += 1
        written = word.capitalize() if since == 1 else word
        ends = since > 6 and len(word) > 4
        parts.append(written + (". " if ends else " "))
        length += len(parts[-1])
        since = 0 if ends else since
        if length >= size:
            break
    text = "".join(parts)[: max(size - 1, 0)].rstrip()
    return text + "." * (size - len(text))


def lognormal(seed: str, count: int, spread: Decimal) -> list[Decimal]:
    """Return factors around 1. Decimal rounds in one way everywhere, which floats do not."""
    chance = numbers(seed, 1 << 20)
    with localcontext() as context:
        context.prec = 12
        factors = []
        for _ in range(count):
            drawn = sum(next(chance) for _ in range(_UNIFORMS))
            deviate = Decimal(drawn) / (1 << 20) - _UNIFORMS // 2
            factors.append((deviate * spread).exp())
        return factors
