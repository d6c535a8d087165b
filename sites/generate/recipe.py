"""A recipe: what a generated site consists of, read strictly. docs/reference/generate.md describes it for users."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from model.errors import InputError
from model.settings.kinds import DURATION, FLAG, LARGEST_SEED, PERCENT, Kind, choice, count, near_miss, one_line
from model.settings.setting import Setting, Table
from model.settings.source import Written, read_yaml
from model.units import Duration, Ratio
from sites.generate.sizes import drawn, shared

REFERENCE = "See docs/reference/generate.md"
PAGE = "page"  # what the group without a parent is called
LARGEST_BYTES = 100_000_000
MOST_OBJECTS = 20_000
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


def _text(what: str, regex: str, metavar: str) -> Kind:
    def parse(value: object, key: str) -> str:
        text = one_line(value, key, what)
        if not re.fullmatch(regex, text):
            raise InputError(f"{text!r} is no {what}", REFERENCE, key=key)
        return text

    return Kind(metavar, what, parse)


def _sizes(value: object, key: str) -> tuple[int, ...]:
    return tuple(BYTES.parse(part.strip(), key) for part in str(value).split(","))


def _spread(value: object, key: str) -> Decimal:
    text = str(value)
    if not re.fullmatch(r"[0-3](\.[0-9]{1,3})?", text) or Decimal(text) > 3:
        raise InputError(f"{text!r} is no spread", "Write a number from 0 to 3, like 0.8", key=key)
    return Decimal(text)


_LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
HOST = _text("host", rf"(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL})*\.test", "HOST.test")
NAME = _text("name", r"[a-z0-9][a-z0-9-]{0,40}", "NAME")
BYTES = count("BYTES", "bytes", 0, LARGEST_BYTES)
SPREAD = Kind("SPREAD", "0 to 3", _spread)
NOTHING = Duration.parse("0ms")

# fmt: off
RECIPE = Table(
    (
        Setting("title", Kind("TEXT", "text", lambda v, k: one_line(v, k, "title")), "", "what the site is",
                "A page of 20 pictures", required=True),
        Setting("source", Kind("TEXT", "text", lambda v, k: one_line(v, k, "source")), "made from a recipe",
                "why it is as it is, or after whom", "after table 2 of a report"),
        Setting("seed", count("SEED", "a number", 0, LARGEST_SEED), "1", "another seed gives another content of the same "
                "composition", "7"),
        Setting("host", HOST, "", "the page's origin. All hosts end in `.test`, which nobody can own", "shop.test",
                required=True),
        Setting("page", None, "", "the HTML of the page: keys as for objects, of which it needs `size`",
                "{size: 14000}", written="a mapping", required=True),
        Setting("objects", None, "", "everything else, in groups of equal objects", "[{type: css, size: 900}]",
                written="a list of mappings", default_words="none"),
    )
)
GROUP = Table(
    (
        Setting("type", choice("TYPE", "css", "script", "module", "image", "font", "frame", "data"), "", "what the objects "
                "are. `module`: a JavaScript module; `frame`: a page in an iframe; `data`: JSON that a script fetches",
                "image", required=True),
        Setting("name", NAME, "", "of the group: what its files are called, and what `from` of other groups says",
                "photo", default_words="its type, with a number where that is taken"),
        Setting("count", count("N", "objects", 1, MOST_OBJECTS), "1", "how many objects", "9"),
        Setting("size", BYTES, "", "of each object", "3500", default_words="one of the four must be there"),
        Setting("sizes", Kind("BYTES, …", "bytes with commas between", _sizes), "", "of each object, one after the other",
                "900, 1200, 4000", default_words="one of the four must be there"),
        Setting("total", BYTES, "", "of all of them together", "24000", default_words="one of the four must be there"),
        Setting("median", BYTES, "", "of sizes that vary by `spread`", "4000",
                default_words="one of the four must be there"),
        Setting("spread", SPREAD, "0", "how much sizes vary: the standard deviation of their natural logarithm. With `total` "
                "their sum stays, with `median` they lie around it; pages of the web have about 1", "0.8"),
        Setting("host", HOST, "", "the origin", "img.shop.test", default_words="the page's"),
        Setting("hosts", Kind("HOST, …", "hosts with commas between", lambda v, k: tuple(
                HOST.parse(part.strip(), k) for part in str(v).split(","))), "", "several origins, each in its turn",
                "img1.shop.test, img2.shop.test", default_words="the page's"),
        Setting("from", NAME, "page", "the group that refers to them; where it has several objects, each in its turn",
                "style"),
        Setting("chain", FLAG, "false", "whether only the first is referred to by `from`, and each other one by the one "
                "before it: the depth of what depends on each other", "true"),
        Setting("place", choice("PLACE", "head", "body"), "", "where in a page it stands", "body",
                default_words="`head` for css and scripts, `body` for others"),
        Setting("mode", choice("MODE", "plain", "async", "defer"), "plain", "how a page includes a script", "defer"),
        Setting("think", DURATION, "0ms", "how long the script computes before it asks for them. The page waits",
                "30ms"),
        Setting("after", DURATION, "0ms", "how long the script waits before it asks. The page need not wait, so they count "
                "as late", "200ms"),
        Setting("late", FLAG, "false", "whether the script asks for them after the load event", "true"),
        Setting("format", choice("FORMAT", "png", "jpeg", "gif", "webp", also={"jpg": "jpeg"}), "png", "of images",
                "jpeg"),
        Setting("width", count("PIXELS", "pixels", 1, WIDEST), "", "of images", "32",
                default_words="what the size is enough for, at 4:3"),
        Setting("height", count("PIXELS", "pixels", 1, WIDEST), "", "of images", "32", default_words="likewise"),
        Setting("metadata", PERCENT, "0%", "share of an image's bytes that an optimiser throws away", "50%"),
        Setting("noise", PERCENT, "0%", "share of a text's bytes that hardly compress: names and numbers that nobody reads",
                "10%"),
        Setting("markup", PERCENT, "30%", "share of a page's bytes that are tags which repeat, and compress well: the more "
                "of them, the better the page compresses", "50%"),
    )
)
# fmt: on
PAGE_TABLE = Table(tuple(GROUP.by_name[name] for name in ("size", "noise", "markup")))
SIZED_BY = ("size", "sizes", "total", "median")
ONLY_FOR: Mapping[str, tuple[str, ...]] = {
    "mode": ("script",),
    "format": ("image",),
    "width": ("image",),
    "height": ("image",),
    "metadata": ("image",),
    "noise": ("css", "script", "module", "frame", "data"),
    "markup": ("frame",),
}


@dataclass(frozen=True, slots=True)
class Group:
    """Objects that are alike. Field names are those of the recipe, but for `parent`, which is `from` there."""

    type: str
    name: str
    sizes: tuple[int, ...]  # one for each object
    hosts: tuple[str, ...]
    parent: str
    chain: bool
    place: str
    mode: str
    think: Duration
    after: Duration
    late: bool
    format: str
    width: int | None
    height: int | None
    metadata: Ratio
    noise: Ratio
    markup: Ratio


@dataclass(frozen=True, slots=True)
class Recipe:
    title: str
    source: str
    seed: int
    host: str
    page_size: int
    page_noise: Ratio
    page_markup: Ratio
    groups: tuple[Group, ...]


def read_recipe(file: Path, seed: int | None = None) -> Recipe:
    """`seed` takes the place of the recipe's own."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot read the recipe {file}: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise InputError(what, REFERENCE) from error
    return parse_recipe(text, str(file), seed)


def parse_recipe(text: str, source: str, seed: int | None = None) -> Recipe:
    """The recipe in that text. Errors name `source`, the line and the key."""
    root = read_yaml(text, source, REFERENCE)
    entries = RECIPE.entries(root)
    values = RECIPE.values_of(entries)
    page_entries = PAGE_TABLE.entries(entries["page"])
    page = PAGE_TABLE.values_of(page_entries)
    if page["size"] is None:
        raise entries["page"].error("size is missing", "Write one like size: 14000")
    seed = values["seed"] if seed is None else seed
    groups = tuple(_groups(entries, values["host"], seed))
    about_page = (page["size"], page["noise"], page["markup"])
    return Recipe(values["title"], values["source"], seed, values["host"], *about_page, groups)


def _groups(entries: Mapping[str, Written], host: str, seed: int) -> Iterator[Group]:
    known: dict[str, str] = {PAGE: PAGE}
    written = entries["objects"].elements() if "objects" in entries else []
    read = [(each, GROUP.entries(each)) for each in written]
    total = 0
    for each, found in read:
        group = _group(each, found, known, host, seed)
        total += len(group.sizes)
        if total > MOST_OBJECTS:
            raise each.error(f"there are more than {MOST_OBJECTS} objects", "Write fewer")
        known[group.name] = group.type
        yield group


def _group(
    written: Written, entries: Mapping[str, Written], known: Mapping[str, str], host: str, seed: int
) -> Group:
    values = GROUP.values_of(dict(entries))
    kind, name = values["type"], values["name"] or _free(values["type"], known)
    if name in known:
        raise entries.get("name", written).error(f"there is a group {name!r} already", "Give this one another name")
    _check_parent(entries, written, values, known)
    for key, types in ONLY_FOR.items():
        if key in entries and kind not in types:
            raise entries[key].error(f"{key} means nothing for the type {kind}", f"It is for {', '.join(types)}")
    if "host" in entries and "hosts" in entries:
        raise entries["hosts"].error("host is there as well", "Leave one of them out")
    if (values["width"] is None) != (values["height"] is None):
        key = "width" if values["width"] is not None else "height"
        raise entries[key].error("width and height go together", "Write both, or neither")
    return Group(
        type=kind,
        name=name,
        sizes=_sized(written, entries, values, f"{seed} {name}"),
        hosts=values["hosts"] or (values["host"] or host,),
        parent=values["from"],
        chain=values["chain"],
        place=values["place"] or ("head" if kind in ("css", *SCRIPTS) else "body"),
        **{key: values[key] for key in ("mode", "think", "after", "late", "format")},
        **{key: values[key] for key in ("width", "height", "metadata", "noise", "markup")},
    )


def _free(kind: str, known: Mapping[str, str]) -> str:
    return next(name for name in (kind, *(f"{kind}{n}" for n in range(2, MOST_OBJECTS))) if name not in known)


def _check_parent(
    entries: Mapping[str, Written], written: Written, values: Mapping[str, Any], known: Mapping[str, str]
) -> None:
    parent, kind = values["from"], values["type"]
    where = entries.get("from", written)
    if parent not in known:
        near = near_miss(parent, known)
        raise where.error(f"there is no group {parent!r} above", f"{near}Groups so far are {', '.join(known)}")
    if kind not in MAY_ASK[known[parent]]:
        able = [name for name, asked in MAY_ASK.items() if kind in asked]
        raise where.error(f"a {known[parent]} cannot refer to a {kind}", f"These can: {', '.join(able)}")
    if values["chain"] and kind not in MAY_ASK[kind]:
        raise entries["chain"].error(f"a {kind} cannot refer to a {kind}", "Leave chain out")
    from_script = known[parent] in SCRIPTS
    for key in ("think", "after", "late"):
        if key in entries and not from_script:
            raise entries[key].error(f"a {known[parent]} does not wait", "Let a script refer to them: from: NAME")
    for key in ("place", "mode"):
        if key in entries and known[parent] not in PAGE_LIKE:
            raise entries[key].error(f"{key} is for what a page includes", "Leave it out")


def _sized(written: Written, entries: Mapping[str, Written], values: Mapping[str, Any], seed: str) -> tuple[int, ...]:
    given = [key for key in SIZED_BY if key in entries]
    if not given:
        raise written.error("size is missing", f"Write one of {', '.join(SIZED_BY)}")
    if len(given) > 1:
        raise entries[given[1]].error(f"{given[0]} says the size already", "Leave one of them out")
    key, many = given[0], values["count"]
    step = 2 if values["format"] == "webp" and values["type"] == "image" else 1
    sizes: tuple[int, ...] = (values[key],) * many if key == "size" else ()
    if key == "sizes":
        sizes = values["sizes"]
        if "count" in entries and many != len(sizes):
            raise entries["count"].error(f"there are {len(sizes)} sizes", "Leave count out")
    elif key == "total":
        sizes = shared(seed, values["total"], many, values["spread"], step)
    elif key == "median":
        sizes = drawn(seed, values["median"], many, values["spread"], step)
    if key in ("size", "sizes") and "spread" in entries:
        raise entries["spread"].error(f"{key} says the size of each", "Write total or median instead")
    if any(size % step for size in sizes):
        raise entries[key].error("a WebP file has an even number of bytes", "Write one byte more or less")
    return sizes
