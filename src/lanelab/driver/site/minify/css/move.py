"""move_css_to_head, move_css_above_scripts: style sheets go where the browser meets them early."""

from lanelab.driver.site.minify.css.sheets import is_sheet
from lanelab.driver.site.minify.html.nodes import EndTag, Node
from lanelab.driver.site.minify.work import Work


def move_css(work: Work) -> None:
    """Move sheets, in their order, to the end of the head or before the first script: to the earlier of those asked
    for."""
    page = work.page
    target, before = _target(work)
    if target is None:
        return
    moved: list[int] = []
    for each in page.elements("link", "style"):
        if each.index > target and not each.in_noscript and (each.tag.name == "style" or is_sheet(each.tag)):
            moved += page.whole(each.index)
    if not moved:
        return
    nodes: list[Node] = [page.nodes[index] for index in moved]
    anchor = page.nodes[target]
    page.edit({**dict.fromkeys(moved, ()), target: (*nodes, anchor)})
    size = len(page.written())
    work.note("move_css_above_scripts" if before else "move_css_to_head", f"{len(moved)} nodes moved", size, size)


def _target(work: Work) -> tuple[int | None, bool]:
    """Return the node before which they go, and whether that is a script."""
    for index, node in enumerate(work.page.nodes):
        if isinstance(node, EndTag) and node.name == "head" and work.wish.has("move_css_to_head"):
            return index, False
        if isinstance(node, EndTag) and node.name == "script" and work.wish.has("move_css_above_scripts"):
            start = next(
                (each.index for each in work.page.elements("script") if work.page.end_of(each.index) == index), None
            )
            return start, True
    return None, False
