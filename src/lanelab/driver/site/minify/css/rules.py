"""A style sheet's text in rules: blocks with a selector, blocks of at-rules, and statements."""

from collections.abc import Iterator
from dataclasses import dataclass

from lanelab.driver.site.minify.css.scan import tokens


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
