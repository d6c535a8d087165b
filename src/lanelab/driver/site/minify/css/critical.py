"""prioritize_critical_css: the page holds the rules that its elements need, and its sheets load after that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.site.minify.client_scripts import client_script
from lanelab.driver.site.minify.css.rewrite import minified
from lanelab.driver.site.minify.css.scan import has_import, references, tokens, whole
from lanelab.driver.site.minify.css.selectors import Elements
from lanelab.driver.site.minify.css.sheets import affects_screen, found_sheet, is_sheet, moved, without_bom
from lanelab.driver.site.minify.html.nodes import EndTag, Node, RawText, end_tag, start_tag
from lanelab.driver.site.minify.html.page import Element
from lanelab.driver.site.minify.work import Work


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` is what stands before the block. A statement has no block."""

    head: str
    block: str | None  # with its braces

    @property
    def text(self) -> str:
        return self.head + (self.block or "")

    @property
    def at(self) -> str:
        """The word of an at-rule, in lower case; "": a rule with selectors."""
        return self.head.split(maxsplit=1)[0].lower() if self.head.startswith("@") else ""

    @property
    def inner(self) -> str:
        return self.block[1:-1] if self.block else ""


def rules(text: str) -> Iterator[Rule]:
    """Yield the rules of a sheet that is whole. Comments outside of blocks are left out."""
    head: list[str] = []
    braces, others, begin = 0, 0, 0
    for each in tokens(text):
        mark = each.text if each.kind == "other" else ""
        others += (mark in ("(", "[")) - (mark in (")", "]")) if mark and not braces else 0
        if mark == "{" and not others:
            begin = begin if braces else each.start
            braces += 1
        elif mark == "}" and braces:
            braces -= 1
            if not braces:
                yield Rule("".join(head).strip(), text[begin : each.end])
                head = []
        elif not braces and each.kind not in ("comment", "cdo"):
            head.append(each.text)
            if mark == ";" and not others:
                yield Rule("".join(head).strip(), None)
                head = []


LATER = "psa_add_styles"


def prioritize_critical_css(work: Work) -> None:
    """Each sheet is replaced by a style element with its critical rules. The whole sheets follow at the end of the
    body, in a noscript that a script opens once the page has been drawn."""
    elements = Elements.of(work.page)
    edits: dict[int, Sequence[Node]] = {}
    later: list[Node] = []
    for each in work.page.elements("link", "style"):
        if each.in_noscript or not (each.tag.name == "style" or is_sheet(each.tag)):
            continue
        later += [work.page.nodes[place] for place in work.page.whole(each.index)]
        text = _text(work, each)
        if text is not None:
            critical = critical_rules(text, elements)
            edits |= _critical(work, each, critical)
            _postpone(work, each, set(references(text)) - set(references(critical)))
    if not edits:
        return
    before = len(work.page.written())
    script = (
        start_tag("script", ("data-pagespeed-no-defer", None)),
        RawText(client_script("add_styles")),
        end_tag("script"),
    )
    work.page.edit(edits)
    _at_end(work, [start_tag("noscript", ("class", LATER)), *later, end_tag("noscript"), *script])
    work.note("prioritize_critical_css", f"{len(edits)} sheets load later", before, len(work.page.written()))


def _text(work: Work, each: Element) -> str | None:
    """The sheet's text as it would be in the page; None: it stays where it is."""
    if each.tag.name == "style":
        text = work.page.text_in(each.index)
        if (each.tag.get("type") or "text/css").lower() != "text/css":
            return None
    else:
        sheet = found_sheet(work, each.tag.get("href"))
        text = moved(work, without_bom(sheet.text), sheet.address, work.base) if sheet else None
    fine = text is not None and whole(text) and not has_import(text) and "</style" not in text.lower()
    return text if fine else None


def _critical(work: Work, each: Element, text: str) -> dict[int, Sequence[Node]]:
    media = each.tag.get("media") or ""
    alternate = "alternate" in (each.tag.get("rel") or "").lower().split()  # a style element cannot say that
    shown = text and affects_screen(media) and not alternate
    attributes = (("media", media),) if media else ()
    style = (start_tag("style", *attributes), RawText(text), end_tag("style")) if shown else ()
    first, *rest = work.page.whole(each.index)
    return {first: style, **dict.fromkeys(rest, ())}


def _postpone(work: Work, each: Element, addresses: set[str]) -> None:
    """Load the sheet after the page, and what only its other rules name."""
    for written in (each.tag.get("href"), *sorted(addresses)):
        if written:
            work.postpone(written)


def critical_rules(text: str, elements: Elements) -> str:
    """Return those with a selector that has an element, in a medium that a screen may be."""
    return "".join(_kept(rule, elements) for rule in rules(minified(text)))


def _kept(rule: Rule, elements: Elements) -> str:
    if rule.at == "@media":
        inner = critical_rules(rule.inner, elements) if affects_screen(rule.head[len("@media") :].strip()) else ""
        return f"{rule.head}{{{inner}}}" if inner else ""
    if rule.at or rule.block is None:
        return rule.text
    kept = [one for one in selectors_of(rule.head) if elements.have(one)]
    return f"{','.join(kept)}{rule.block}" if kept else ""


def selectors_of(head: str) -> list[str]:
    """A rule's selectors, split at the commas that separate them."""
    selectors, depth = [""], 0
    for each in tokens(head):
        depth += (each.text in ("(", "[")) - (each.text in (")", "]"))
        if each.text == "," and not depth:
            selectors.append("")
        else:
            selectors[-1] += each.text
    return [each.strip() for each in selectors if each.strip()]


def _at_end(work: Work, nodes: Sequence[Node]) -> None:
    """Add text before the body's end tag, or else that of the page, or at its end."""
    page = work.page
    for name in ("body", "html"):
        places = [place for place, node in enumerate(page.nodes) if isinstance(node, EndTag) and node.name == name]
        if places:
            page.edit({places[-1]: (*nodes, page.nodes[places[-1]])})
            return
    page.nodes = [*page.nodes, *nodes]
