"""combine_css: adjacent style sheets become one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from lanelab.driver.site.minify.addresses import (
    HASH_CHARACTERS,
    escape_segment,
    joined_names,
    names_in_common_folder,
    rewritten_leaf,
)
from lanelab.driver.site.minify.css.scan import has_import, whole
from lanelab.driver.site.minify.css.sheets import (
    found_sheet,
    is_sheet,
    moved,
    plain_link,
    same_characters,
    sheet_charset,
    without_bom,
)
from lanelab.driver.site.minify.html.nodes import Comment, Declaration, Node, StartTag
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

ID, EXTENSION = "cc", "css"
OVERHEAD = len(".pagespeed.") + len(ID) + 1 + HASH_CHARACTERS + 1 + len(EXTENSION)


@dataclass(slots=True)
class Run:
    """Links that may become one, with their sheets."""

    media: str = ""
    places: list[int] = field(default_factory=list)
    sheets: list[Resource] = field(default_factory=list)


def combine_css(work: Work) -> None:
    """The first link names the combination, the others go."""
    edits: dict[int, Sequence[Node]] = {}
    for run in _runs(work):
        if len(run.sheets) > 1:
            edits |= _combined(work, run)
    work.page.edit(edits)


def _runs(work: Work) -> list[Run]:
    """Return the runs of sheets in order. What ends one: a style element, a conditional comment, noscript, and every
    sheet that cannot join."""
    runs = [Run()]
    elements = {each.index: each for each in work.page.elements("link", "style", "noscript")}
    for index, node in enumerate(work.page.nodes):
        if (isinstance(node, Comment) and node.conditional) or (isinstance(node, Declaration) and "[" in node.raw[:4]):
            runs.append(Run())
        if index not in elements:
            continue
        each = elements[index]
        if each.tag.name != "link":
            runs.append(Run())
        elif is_sheet(each.tag):
            _join(work, runs, index, each.tag, each.in_noscript)
    return runs


def _join(work: Work, runs: list[Run], index: int, tag: StartTag, in_noscript: bool) -> None:
    link = plain_link(tag)
    sheet = found_sheet(work, link.href) if link and not in_noscript else None
    if link is None or sheet is None or not whole(sheet.text):
        runs.append(Run())
        return
    run = runs[-1]
    if run.sheets and not (run.media == link.media and _fits(work, run, sheet)):
        run = Run()
        runs.append(run)
    run.media = link.media
    run.places.append(index)
    run.sheets.append(sheet)


def _fits(work: Work, run: Run, sheet: Resource) -> bool:
    charset, first = sheet_charset(work, sheet), sheet_charset(work, run.sheets[0])
    if has_import(sheet.text) or not same_characters(sheet.text, charset, first):
        return False
    if any(not same_characters(each.text, sheet_charset(work, each), charset) for each in run.sheets):
        return False
    folder, leaves = names_in_common_folder([each.address for each in (*run.sheets, sheet)])
    limits = work.wish.generation
    size = len(escape_segment(joined_names(leaves))) + OVERHEAD + limits.url_slack_bytes
    base = len(f"{work.scheme}://{folder.host}{folder.path}")
    return size <= limits.url_segment_bytes and size + base <= limits.url_bytes


def _combined(work: Work, run: Run) -> dict[int, Sequence[Node]]:
    folder, leaves = names_in_common_folder([each.address for each in run.sheets])
    texts = [moved(work, each.text, each.address, folder) for each in run.sheets]
    body = "".join([texts[0], *(without_bom(each) for each in texts[1:])]).encode("latin-1")
    combination = work.resources.add_at(
        folder, run.sheets, rewritten_leaf(joined_names(leaves), ID, body, EXTENSION), body
    )
    for each in run.sheets:
        work.use(each, combination)
    names = ", ".join(each.address.path for each in run.sheets)
    before = sum(each.size for each in run.sheets)
    work.note("combine_css", f"{len(run.sheets)} sheets became one: {names}", before, len(body), combination.address)
    first = work.page.nodes[run.places[0]]
    edits: dict[int, Sequence[Node]] = dict.fromkeys(run.places[1:], ())
    if isinstance(first, StartTag):
        edits[run.places[0]] = (first.with_value("href", work.written(combination)),)
    return edits
