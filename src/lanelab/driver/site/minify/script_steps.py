"""What the filters do to the scripts of a page."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from lanelab.driver.site.minify.addresses import escape_segment, joined_names, names_in_common_folder, rewritten_leaf
from lanelab.driver.site.minify.client_scripts import client_script
from lanelab.driver.site.minify.clients import takes_deferred_scripts
from lanelab.driver.site.minify.html.nodes import Comment, EndTag, Node, RawText, StartTag, end_tag, start_tag
from lanelab.driver.site.minify.html.page import Element
from lanelab.driver.site.minify.image_steps import script_nodes
from lanelab.driver.site.minify.javascript import (
    Shortened,
    call_of,
    combination,
    is_javascript,
    looks_itself_up,
    not_combined,
    not_inlined,
    shorten,
)
from lanelab.driver.site.minify.resources import Resource
from lanelab.driver.site.minify.work import Work

MINIFIED_ID, COMBINED_ID = "jm", "jc"
EXTERNAL, INLINE = "rewrite_javascript_external", "rewrite_javascript_inline"
CDATA_BEGIN, CDATA_END = "//<![CDATA[\n", "\n//]]>"
DEFERRED_TYPE, NO_DEFER = "text/psajs", "pagespeed_no_defer"


def rewrite_javascript(work: Work) -> None:
    """Shorten scripts, those of the page and those in files."""
    edits: dict[int, list[Node]] = {}
    for element in _scripts(work):
        if not element.tag.has("src"):
            if work.wish.has(INLINE) and (text := work.page.text_in(element.index)):
                _shorten_inline(work, element.index + 1, text, edits)
        elif work.wish.has(EXTERNAL) and (file := _file(work, element)):
            if work.keeps_hash(EXTERNAL, element.tag, file):
                continue
            shorter = _shortened(work, file)
            if shorter is not None:
                work.use(file, shorter)
                edits[element.index] = [element.tag.with_value("src", work.written(shorter))]
    work.page.edit(edits)


def inline_javascript(work: Work) -> None:
    """Make small script files part of the page."""
    edits: dict[int, list[Node]] = {}
    for element in _scripts(work):
        file = _file(work, element)
        text = work.page.text_in(element.index)
        if file is None or text is None or text.strip() or not runs_at_once(element.tag):
            continue
        why = not_inlined(file.body, work.wish.generation.js_inline_bytes) or _foreign_text(work, element.tag, file)
        if why is None and work.page.xhtml and b"]]>" in file.body:
            why = "it has ]]> in it"
        if why:
            work.note("inline_javascript", f"kept: {why}", file.size, file.size, file.address)
            continue
        body = f"{CDATA_BEGIN}{file.text}{CDATA_END}" if work.page.xhtml else file.text
        edits |= {place: [] for place in work.page.whole(element.index)}
        edits[element.index] = [element.tag.without("src"), RawText(body), end_tag("script")]
        work.use(file)
        work.note("inline_javascript", "became part of the page", file.size, len(body), file.address)
    work.page.edit(edits)


@dataclass(slots=True)
class _Run:
    """Scripts that may become one, in the order of the page."""

    charset: str = ""
    size: int = 0
    members: list[tuple[Element, Resource]] = field(default_factory=list)


def combine_javascript(work: Work) -> None:
    """Files become one that has the text of each in a variable; where each was, the page runs it."""
    edits: dict[int, list[Node]] = {}
    for run in _runs(work):
        if len(run.members) > 1:
            _combine(work, run, edits)
    work.page.edit(edits)


def defer_javascript(work: Work) -> None:
    """Run scripts after the page has loaded, in their order."""
    ends = (index for index, node in enumerate(work.page.nodes) if isinstance(node, EndTag) and node.name == "head")
    head = next(ends, None)
    if head is None or not takes_deferred_scripts(work.wish.user_agent):
        return
    edits: dict[int, list[Node]] = {}
    number = 0
    for element in work.page.elements():
        new = _with_deferred_onload(element.tag)
        if element.tag.name == "script" and _is_one(element.tag) and not element.tag.has(NO_DEFER):
            new = _deferred(new, number)
            number += 1
            work.resources.scripts_later = True
            if (source := element.tag.get("src")) is not None:
                work.postpone(source)
        if new is not element.tag:
            edits[element.index] = [new]
    if edits:
        edits[head] = [*script_nodes(client_script("defer_javascript")), work.page.nodes[head]]
        before = len(work.page.written())
        work.page.edit(edits)
        work.note("defer_javascript", f"{number} scripts run after the page", before, len(work.page.written()))


def runs_at_once(tag: StartTag) -> bool:
    """Tell whether a script runs at once: neither async nor defer, nor Internet Explorer's for and event."""
    if tag.has("async") or tag.has("defer"):
        return False
    if not (tag.has("for") and tag.has("event")):
        return True
    target, event = ((tag.get(name) or "").strip().lower() for name in ("for", "event"))
    return target == "window" and event in ("onload", "onload()")


def _scripts(work: Work) -> Iterator[Element]:
    return (element for element in work.page.elements("script") if _is_one(element.tag))


def _is_one(tag: StartTag) -> bool:
    if any(tag.has(name) and tag.get(name) is None and tag.unreadable for name in ("type", "language")):
        return False
    return is_javascript(tag.get("type"), tag.get("language"))


def _file(work: Work, element: Element) -> Resource | None:
    file = work.find(element.tag.get("src"))
    return file if file and file.is_script else None


def _shorten_inline(work: Work, place: int, text: str, edits: dict[int, list[Node]]) -> None:
    result = shorten(text.encode("latin-1"))
    if not isinstance(result, Shortened):
        return
    shortened = result.body.decode("latin-1")
    if work.page.xhtml and "<![CDATA[" in text:
        shortened = f"{CDATA_BEGIN}{shortened}{CDATA_END}"
    if len(shortened) < len(text):
        edits[place] = [RawText(shortened)]
        work.note(INLINE, "a script of the page was shortened", len(text), len(shortened))


def _shortened(work: Work, file: Resource) -> Resource | None:
    if file.address.rewritten:
        return None
    result = shorten(file.body)
    if looks_itself_up(file.body):
        why = "it looks for scripts in the page, and would not find itself"
    elif isinstance(result, Shortened):
        before = len(work.resources.additions)
        name = escape_segment(file.address.leaf)
        resource = work.resources.add((file,), name, MINIFIED_ID, result.body, "js")
        if len(work.resources.additions) > before:
            work.note(EXTERNAL, "shortened", file.size, resource.size, file.address)
        return resource
    else:
        why = result.why
    work.note(EXTERNAL, f"kept: {why}", file.size, file.size, file.address)
    return None


def _foreign_text(work: Work, tag: StartTag, file: Resource) -> str | None:
    """Return why the file's characters would be others in the page; None: they are the same."""
    if file.body.isascii():
        return None
    charset = (tag.get("charset") or file.charset).lower()
    page = work.charset
    return None if page and charset in ("", page) else "its encoding may be another one than the page's"


def _runs(work: Work) -> Iterator[_Run]:
    """What stands between two scripts does not matter: each runs in its own place."""
    run = _Run()
    for index, node in enumerate(work.page.nodes):
        ends_run = isinstance(node, Comment) and node.conditional
        if isinstance(node, StartTag) and node.name == "script":
            element = Element(index, node, in_noscript=False, in_head=False)
            ends_run = not _can_be_one_of_many(work, element)
            file = None if ends_run else _file(work, element)
            if file is not None:
                why = _kept_apart(file)
                if why or not _fits(work, run, element.tag, file):
                    yield run
                    run = _Run()
                if why:
                    work.note("combine_javascript", f"kept: {why}", file.size, file.size, file.address)
                else:
                    run.charset = _charset(work, element.tag, file)
                    run.size += file.size
                    run.members.append((element, file))
        if ends_run:
            yield run
            run = _Run()
    yield run


def _can_be_one_of_many(work: Work, element: Element) -> bool:
    tag = element.tag
    inside = any(each.index == element.index and each.in_noscript for each in work.page.elements("script"))
    text = work.page.text_in(element.index)
    return (
        _is_one(tag)
        and tag.has("src")
        and not tag.has("nomodule")  # what calls it would run where it does not
        and not inside
        and runs_at_once(tag)
        and text is not None
        and not text.strip()
    )


def _kept_apart(file: Resource) -> str | None:
    if file.address.rewritten and f".pagespeed.{MINIFIED_ID}." not in file.address.path:
        return "it is a combination"
    return not_combined(file.body)


def _charset(work: Work, tag: StartTag, file: Resource) -> str:
    return (tag.get("charset") or file.charset or work.charset).lower()


def _fits(work: Work, run: _Run, tag: StartTag, file: Resource) -> bool:
    """Return whether the run may take one more: of its encoding, not too large, and with a name that is not too
    long."""
    if not run.members:
        return True
    generation = work.wish.generation
    folder, leaves = names_in_common_folder([*(each.address for _, each in run.members), file.address])
    leaf = len(rewritten_leaf(joined_names(leaves), COMBINED_ID, b"", "js")) + generation.url_slack_bytes
    whole = len(f"{work.scheme}://{folder.host}{folder.path}") + leaf
    return (
        run.charset == _charset(work, tag, file)
        and (generation.combined_js_bytes is None or run.size + file.size <= generation.combined_js_bytes)
        and leaf <= generation.url_segment_bytes
        and whole <= generation.url_bytes
    )


def _combine(work: Work, run: _Run, edits: dict[int, list[Node]]) -> None:
    sources = [file for _, file in run.members]
    # The last release shortened each of them here; that of 2012 had done so before.
    shortens = work.wish.has(EXTERNAL) and not work.wish.generation.javascript_before_combining
    body = combination([(each.address.path, _shortest(each.body) if shortens else each.body) for each in sources])
    folder, leaves = names_in_common_folder([file.address for file in sources])
    leaf = rewritten_leaf(joined_names(leaves), COMBINED_ID, body, "js")
    combined = work.resources.add_at(folder, sources, leaf, body)
    for element, file in run.members:
        work.use(file, combined)
        edits |= {place: [] for place in work.page.whole(element.index)}
        edits[element.index] = [start_tag("script"), RawText(call_of(file.address.path)), end_tag("script")]
    first = run.members[0][0].index
    edits[first] = [start_tag("script", ("src", work.written(combined))), end_tag("script"), *edits[first]]
    what = f"{len(sources)} scripts became one"
    work.note("combine_javascript", what, sum(each.size for each in sources), combined.size, combined.address)


def _shortest(script: bytes) -> bytes:
    result = shorten(script)
    return result.body if isinstance(result, Shortened) else script


def _deferred(tag: StartTag, number: int) -> StartTag:
    new = tag
    if (source := tag.get("src")) is not None:
        new = new.without("src").with_value("orig_src", source)
    if (type_ := tag.get("type")) is not None:
        new = new.without("type").with_value("orig_type", type_)
    return new.with_value("type", DEFERRED_TYPE).with_value("orig_index", str(number))


def _with_deferred_onload(tag: StartTag) -> StartTag:
    code = tag.get("onload")
    if not code:
        return tag
    return tag.with_value("onload", f"pagespeed.deferJs.addOnloadListeners(this, function() {{{code}}});")
