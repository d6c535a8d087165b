"""Where white space and comments mean something: sheets that rcssmin would change, and not only shorten."""

from collections.abc import Sequence

from lanelab.driver.site.minify.css.scan import Token, tokens

SEPARATES = ",>+~"  # white space beside these means nothing in a selector


def mean_nothing(text: str) -> bool:
    """Whether white space can be taken out by who knows CSS as it was before rules stood within rules. There
    " :hover" of a nested rule would become ":hover", another selector; and where a comment stands between two parts of
    a selector, they would come apart: "a/**/.b" would become "a .b"."""
    blocks: list[bool] = []  # of those that are open: whether it is a rule's own, and not of @media or the like
    prelude: list[Token] = []
    for each in tokens(text):
        if each.text == "{":
            is_rule = not _is_at_rule(prelude)
            if (blocks and blocks[-1]) or (is_rule and _has_joint(prelude)):
                return False
            blocks.append(is_rule)
        elif each.text == "}" and blocks:
            blocks.pop()
        prelude = [] if each.kind == "other" and each.text in "{};" else [*prelude, each]
    return True


def _is_at_rule(prelude: Sequence[Token]) -> bool:
    first = next((each for each in prelude if each.kind not in ("space", "comment", "cdo")), None)
    return first is not None and first.kind == "at"


def _separates(token: Token) -> bool:
    return token.kind in ("space", "cdo") or token.text in SEPARATES


def _has_joint(selector: Sequence[Token]) -> bool:
    """Return whether comments alone are between two of its parts."""
    before: Token | None = None
    commented = False
    for each in selector:
        if each.kind == "comment":
            commented = before is not None
            continue
        if commented and before and not _separates(before) and not _separates(each):
            return True
        before, commented = each, False
    return False
