"""A recipe: what a generated site consists of, read strictly. docs/reference/generate.md describes it for users."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.setting import Values
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.base.units import Duration, Ratio
from lanelab.driver.site.generate.noise import lognormal
from lanelab.driver.site.generate.tables import (
    ENTRY,
    GROUP,
    MAY_ASK,
    MOST_BYTES,
    MOST_OBJECTS,
    NOTHING,
    ONLY_FOR,
    ONLY_PLACE,
    PAGE,
    PAGE_LIKE,
    PAGE_TABLE,
    RECIPE,
    REFERENCE,
    SCRIPTS,
    SIZED_BY,
)
from lanelab.driver.site.manifest import PAGE_NAME


def drawn(seed: str, median: int, count: int, spread: Decimal, step: int = 1) -> tuple[int, ...]:
    """Draw numbers around a median; multiples of `step`."""
    return tuple(int(median * factor) // step * step for factor in lognormal(seed, count, spread))


def shared(seed: str, total: int, count: int, spread: Decimal, step: int = 1) -> tuple[int, ...]:
    """Divide a sum into parts, which stay its sum to the byte. What rounding leaves goes to the largest part."""
    factors = lognormal(seed, count, spread)
    whole = sum(factors)
    sizes = [int(total * factor / whole) // step * step for factor in factors]
    sizes[sizes.index(max(sizes))] += total - sum(sizes)
    return tuple(sizes)


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
    wait: Duration = NOTHING
    # What no recipe says, but the skeleton of a recorded site does:
    rel: str = ""  # how a page's link names it, where it is none of the above
    inline: str = ""  # style or script: that of the page itself refers to it


@dataclass(frozen=True, slots=True)
class RecipePage:
    """A page of the site."""

    name: str
    size: int
    noise: Ratio
    markup: Ratio


@dataclass(frozen=True, slots=True)
class Recipe:
    title: str
    source: str
    seed: int
    host: str
    pages: tuple[RecipePage, ...]  # the entry first
    groups: tuple[Group, ...]


def read_recipe(file: Path) -> Recipe:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot read the recipe {file}: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise InputError(what, REFERENCE) from error
    return parse_recipe(text, str(file))


def parse_recipe(text: str, source: str, seed: int | None = None) -> Recipe:
    """Return the recipe in that text. Errors name `source`, the line and the key. `seed` takes the place of its own."""
    root = read_yaml(text, source, REFERENCE)
    entries = RECIPE.entries(root)
    values = RECIPE.values_of(entries)
    pages = tuple(_pages(root, entries))
    seed = values["seed"] if seed is None else seed
    groups = tuple(_groups(entries, [page.name for page in pages], values["host"], seed))
    return Recipe(values["title"], values["source"], seed, values["host"], pages, groups)


def _pages(root: Written, entries: Mapping[str, Written]) -> Iterator[RecipePage]:
    """Yield the page, which has the name of all of them, or each of several by its own."""
    if "pages" not in entries:
        if "page" not in entries:
            raise root.error("page is missing", "Write one like page: {size: 14000}, or several below pages")
        yield _page(PAGE, entries["page"])
        return
    if "page" in entries:
        raise entries["pages"].error("page is there as well", "Leave one of them out")
    listed = entries["pages"].entries()
    if len(listed) < 2:
        raise entries["pages"].error("there are fewer than two", "Write several, or one as page: {size: 14000}")
    for number, (name, each) in enumerate(listed.items()):
        if name == PAGE or not PAGE_NAME.fullmatch(name) or (number and name == ENTRY):
            names = f"not {PAGE}, which means all of them, nor {ENTRY}, which is the file of the first"
            remedy = f"Write a to z, 0 to 9 and '-', like article-2; {names}"
            raise each.error(f"{name[:40]!r} cannot name a page", remedy)
        yield _page(name, each)


def _page(name: str, written: Written) -> RecipePage:
    values = PAGE_TABLE.values_of(PAGE_TABLE.entries(written))
    if values["size"] is None:
        raise written.error("size is missing", "Write one like size: 14000")
    return RecipePage(name, values["size"], values["noise"], values["markup"])


def _groups(entries: Mapping[str, Written], pages: Sequence[str], host: str, seed: int) -> Iterator[Group]:
    known: dict[str, str] = {PAGE: PAGE, **dict.fromkeys(pages, PAGE)}
    written = entries["objects"].elements() if "objects" in entries else []
    read = [(each, GROUP.entries(each)) for each in written]
    total = total_bytes = 0
    for each, entry in read:
        group = _group(each, entry, known, host, seed)
        total += len(group.sizes)
        total_bytes += sum(group.sizes)
        if total > MOST_OBJECTS:
            raise each.error(f"there are more than {MOST_OBJECTS} objects", "Write fewer")
        if total_bytes > MOST_BYTES:
            raise each.error(
                f"the objects have {total_bytes:,} bytes together, more than {MOST_BYTES:,}", "Write fewer"
            )
        known[group.name] = group.type
        yield group


def _group(written: Written, entries: Mapping[str, Written], known: Mapping[str, str], host: str, seed: int) -> Group:
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
        **{key: values[key] for key in ("mode", "think", "wait", "after", "late", "format")},
        **{key: values[key] for key in ("width", "height", "metadata", "noise", "markup")},
    )


def _free(kind: str, known: Mapping[str, str]) -> str:
    return next(name for name in (kind, *(f"{kind}{n}" for n in range(2, MOST_OBJECTS))) if name not in known)


def _check_parent(entries: Mapping[str, Written], written: Written, values: Values, known: Mapping[str, str]) -> None:
    parent, kind = values["from"], values["type"]
    where = entries.get("from", written)
    if parent not in known:
        near = near_miss(parent, known)
        raise where.error(f"there is no group {parent!r} above", f"{near}Groups so far are {', '.join(known)}")
    if kind not in MAY_ASK[known[parent]]:
        able = [name for name, kinds in MAY_ASK.items() if kind in kinds]
        raise where.error(f"a {known[parent]} cannot refer to a {kind}", f"These can: {', '.join(able)}")
    if values["chain"] and kind not in MAY_ASK[kind]:
        raise entries["chain"].error(f"a {kind} cannot refer to a {kind}", "Leave chain out")
    _check_waits(entries, values, known[parent])
    _check_place(entries, values, known[parent])


def _check_waits(entries: Mapping[str, Written], values: Values, parent_type: str) -> None:
    for key in ("after", "late"):
        if key in entries and "wait" in entries:
            raise entries[key].error("wait keeps the page waiting, and this does not", "Leave one of them out")
    for key in ("think", "wait", "after", "late"):
        if key in entries and parent_type not in SCRIPTS:
            raise entries[key].error(f"a {parent_type} does not wait", "Let a script refer to them: from: NAME")
    for key in ("think", "wait", "after"):  # what is asked for by what is late is late
        if key in entries and values["chain"] and values["type"] not in SCRIPTS:
            what = f"a {values['type']} does not wait, so only the first of the chain would"
            raise entries[key].error(what, "Leave one of them out")


def _check_place(entries: Mapping[str, Written], values: Values, parent_type: str) -> None:
    for key in ("place", "mode"):
        if key in entries and parent_type not in PAGE_LIKE:
            raise entries[key].error(f"{key} is for what a page includes", "Leave it out")
    place = ONLY_PLACE.get(values["type"], values["place"])
    if "place" in entries and values["place"] != place:
        raise entries["place"].error(f"a {values['type']} stands in the {place} of a page", "Leave it out")


def _sized(written: Written, entries: Mapping[str, Written], values: Values, seed: str) -> tuple[int, ...]:
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
