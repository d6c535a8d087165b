"""extend_cache: what no other filter rewrote gets a name by its content, and lives a year."""

from collections.abc import Sequence

from lanelab.driver.site.minify.addresses import escape_segment
from lanelab.driver.site.minify.css.sheets import is_sheet
from lanelab.driver.site.minify.html.nodes import Node, StartTag
from lanelab.driver.site.minify.javascript import looks_itself_up
from lanelab.driver.site.minify.resources import EXTENSIONS, Resource
from lanelab.driver.site.minify.work import Work

CSS, IMAGES, SCRIPTS = "extend_cache_css", "extend_cache_images", "extend_cache_scripts"


def extend_cache(work: Work) -> None:
    edits: dict[int, Sequence[Node]] = {}
    for each in work.page.elements("link", "img", "input", "script"):
        name = _reference(each.tag)
        old = work.find(each.tag.get(name)) if name else None
        new = extended(work, old) if old else None
        if old and new:
            work.use(old, new)
            edits[each.index] = (each.tag.with_value(name, work.written(new)),)
    work.page.edit(edits)


def _reference(tag: StartTag) -> str:
    """Return the attribute that names what this tag loads; "": none."""
    if tag.name == "link":
        return "href" if is_sheet(tag) else ""
    if tag.name == "input":
        return "src" if (tag.get("type") or "").lower() == "image" else ""
    # Under a second name a module would be a second one, since other modules import it by the first.
    return "" if tag.name == "script" and (tag.get("type") or "").strip().lower() == "module" else "src"


def extended(work: Work, old: Resource) -> Resource | None:
    """Return the same content under the name that says so. None: it lives long enough, or was rewritten already."""
    name = CSS if old.is_css else IMAGES if old.is_image else SCRIPTS if old.is_script else ""
    limits = work.wish.generation
    if not name or not work.wish.has(name) or old.address.rewritten:
        return None
    if old.is_script and looks_itself_up(old.body):
        return None  # under another name it would not find itself
    lifetime = old.lifetime_s(limits.implicit_lifetime_s)
    if lifetime >= limits.extend_below_s:
        return None
    longer = work.resources.add([old], escape_segment(old.address.leaf), "ce", old.body, EXTENSIONS[old.mime])
    what = f"lives {limits.lifetime_s} s instead of {lifetime}, as {longer.address.leaf}"
    work.note(name, what, old.size, old.size, old.address)
    return longer
