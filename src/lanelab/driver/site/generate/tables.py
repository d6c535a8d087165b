"""The tables of a recipe: what may be written, and what may refer to what."""

import re
from collections.abc import Mapping
from decimal import Decimal

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import (
    DURATION,
    FLAG,
    LARGEST_SEED,
    PERCENT,
    PROSE,
    Kind,
    choice,
    count,
    one_line,
)
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.units import Duration

REFERENCE = "See docs/reference/generate.md"
PAGE = "page"  # what the group without a parent is called; of a site with several it means all of them
ENTRY = "index"  # the file of the first page
LARGEST_BYTES = 100_000_000
MOST_OBJECTS = 20_000
MOST_BYTES = 1_000_000_000  # of all objects together: a server has them in memory
WIDEST = 16_383  # pixels, which WebP can say

PAGE_LIKE, SCRIPTS = ("page", "frame"), ("script", "module")
# What may refer to what, and how it does: docs/reference/generate.md has the same in words.
MAY_ASK: Mapping[str, tuple[str, ...]] = {
    "page": ("css", "script", "module", "image", "frame"),
    "frame": ("css", "script", "module", "image", "frame"),
    "css": ("css", "image", "font"),
    "script": ("css", "script", "module", "image", "frame", "data"),
    "module": ("css", "script", "module", "image", "frame", "data"),
    "image": (),
    "font": (),
    "data": (),
}


def _text(what: str, regex: str, metavar: str, remedy: str = REFERENCE) -> Kind:
    def parse(value: object, key: str) -> str:
        text = one_line(value, key, what)
        if not re.fullmatch(regex, text):
            raise InputError(f"{text!r} is no {what}", remedy, key=key)
        return text

    return Kind(metavar, what, parse, {"type": ["string", "number"], "pattern": f"^{regex}$"})


def _sizes(value: object, key: str) -> tuple[int, ...]:
    return tuple(BYTES.parse(part.strip(), key) for part in str(value).split(","))


def _spread(value: object, key: str) -> Decimal:
    text = str(value)
    if not re.fullmatch(r"[0-3](\.[0-9]{1,3})?", text) or Decimal(text) > 3:
        raise InputError(f"{text!r} is no spread", "Write a number from 0 to 3, like 0.8", key=key)
    return Decimal(text)


_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
HOST = _text("host", rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.test", "HOST.test", "Write one that ends in .test")
NAME = _text("name", r"[a-z0-9][a-z0-9-]{0,40}", "NAME")
BYTES = count("BYTES", "bytes", 0, LARGEST_BYTES)
_LINE = Kind("TEXT", "text", lambda value, key: one_line(value, key, key), PROSE.schema)
SPREAD = Kind("SPREAD", "0 to 3", _spread, {"type": "number", "minimum": 0, "maximum": 3})
NOTHING = Duration.parse("0ms")

# fmt: off
RECIPE = Table(
    (
        Setting("title", _LINE, "", "what the site is", "A page of 20 pictures", required=True),
        Setting("source", _LINE, "made from a recipe", "why it is as it is, or after whom",
                "after table 2 of a report"),
        Setting("seed", count("SEED", "a number", 0, LARGEST_SEED), "1", "another seed gives another content of the "
                "same composition", "7"),
        Setting("host", HOST, "", "the page's origin. All hosts end in `.test`, which nobody can own", "shop.test",
                required=True),
        Setting("page", None, "", "the HTML of the page: keys as for objects, of which it needs `size`",
                "{size: 14000}", written="a mapping", default_words="this or `pages` must be there"),
        Setting("pages", None, "", "of a site with [several](#several-pages): the HTML of each, by its name. The first "
                "is the entry", "{home: {size: 14000}, article: {size: 9000}}",
                written="a mapping of names, each with a mapping", default_words="one page"),
        Setting("objects", None, "", "everything else, in groups of equal objects", "[{type: css, size: 900}]",
                written="a list of mappings", default_words="none"),
    )
)
GROUP = Table(
    (
        Setting("type", choice("TYPE", "css", "script", "module", "image", "font", "frame", "data"), "", "what they "
                "are. `module`: a JavaScript module; `frame`: a page in an iframe; `data`: JSON that a script fetches",
                "image", required=True),
        Setting("name", NAME, "", "of the group: what its files are called, and what `from` of other groups says",
                "photo", default_words="its type, with a number where that is taken"),
        Setting("count", count("N", "objects", 1, MOST_OBJECTS), "1", "how many objects", "9"),
        Setting("size", BYTES, "", "of each object", "3500", default_words="one of the four must be there"),
        Setting("sizes", Kind("BYTES, …", "bytes with commas between", _sizes, {"type": ["string", "integer"]}), "",
                "of each object, one after the other", "900, 1200, 4000",
                default_words="one of the four must be there"),
        Setting("total", BYTES, "", "of all of them together", "24000", default_words="one of the four must be there"),
        Setting("median", BYTES, "", "of sizes that vary by `spread`", "4000",
                default_words="one of the four must be there"),
        Setting("spread", SPREAD, "0", "how much sizes vary: the standard deviation of their natural logarithm. With "
                "`total` their sum stays, with `median` they lie around it; pages of the web have about 1", "0.8"),
        Setting("host", HOST, "", "the origin", "img.shop.test", default_words="the page's"),
        Setting("hosts", Kind("HOST, …", "hosts with commas between", lambda v, k: tuple(
                HOST.parse(part.strip(), k) for part in str(v).split(","))), "", "several origins, each in its turn",
                "img1.shop.test, img2.shop.test", default_words="the page's"),
        Setting("from", NAME, "page", "the group that refers to them; where it has several objects, each in its turn. "
                "Of several pages `page` means each, and a name that one", "style"),
        Setting("chain", FLAG, "false", "whether only the first is referred to by `from`, and each other one by the "
                "one before it: the depth of what depends on each other", "true"),
        Setting("place", choice("PLACE", "head", "body"), "", "where in a page it stands; css only in the head, a "
                "frame only in the body", "body",
                default_words="`head` for css and scripts, `body` for others"),
        Setting("mode", choice("MODE", "plain", "async", "defer"), "plain", "how a page includes a script", "defer"),
        Setting("think", DURATION, "0ms", "how long the script computes before it asks for them. The page waits",
                "30ms"),
        Setting("wait", DURATION, "0ms", "how long after the script began it asks for them, without computing. The "
                "page waits", "200ms"),
        Setting("after", DURATION, "0ms", "how long the script waits before it asks. The page need not wait, so they "
                "count as late", "200ms"),
        Setting("late", FLAG, "false", "whether the script asks for them after the load event", "true"),
        Setting("format", choice("FORMAT", "png", "jpeg", "gif", "webp", also={"jpg": "jpeg"}), "png", "of images",
                "jpeg"),
        Setting("width", count("PIXELS", "pixels", 1, WIDEST), "", "of images", "32",
                default_words="what the size is enough for, at 4:3"),
        Setting("height", count("PIXELS", "pixels", 1, WIDEST), "", "of images", "32", default_words="likewise"),
        Setting("metadata", PERCENT, "0%", "share of an image's bytes that an optimiser throws away", "50%"),
        Setting("noise", PERCENT, "0%", "share of a text's bytes that hardly compress: names and numbers that nobody "
                "reads", "10%"),
        Setting("markup", PERCENT, "30%", "share of a page's bytes that are tags which repeat, and compress well: the "
                "more of them, the better the page compresses", "50%"),
    )
)
# fmt: on
PAGE_TABLE = Table(tuple(GROUP.by_name[name] for name in ("size", "noise", "markup")))
SIZED_BY = ("size", "sizes", "total", "median")
ONLY_PLACE: Mapping[str, str] = {"css": "head", "frame": "body"}  # of a page
ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "mode": ("script",),
    "format": ("image",),
    "width": ("image",),
    "height": ("image",),
    "metadata": ("image",),
    "noise": ("css", "script", "module", "frame", "data"),
    "markup": ("frame",),
}
