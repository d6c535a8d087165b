"""The settings of arms that tell a browser ahead what a page needs, and how urgent it is."""

from __future__ import annotations

from lanelab.driver.arm.stream_fields import PUSH
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.site.hints import KINDS, LEVELS
from lanelab.driver.site.pushed import OFF

TELLING = ("chromium",)  # browsers whose log says that a 103 came
_WORDS = [f"{kind}={level}" for kind in KINDS for level in LEVELS]
_TEXTS = {"anyOf": [{"type": "string"}, {"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}


def _priorities(value: object, key: str) -> str:
    """One text for one wish."""
    texts = value if isinstance(value, list | tuple) else [value]
    words = [word for text in texts for word in str(text).replace(",", " ").split()]
    if words in (["off"], ["False"], ["false"], ["no"]):
        return OFF
    wrong = [word for word in words if word not in _WORDS]
    if wrong or not words:
        what = f"{wrong[0]!r} is none of them" if wrong else "it names nothing"
        remedy = f"Write off, or KIND=LEVEL: {', '.join(KINDS)}; {' or '.join(LEVELS)}"
        raise InputError(what, remedy, key=key)
    kinds = [word.partition("=")[0] for word in dict.fromkeys(words)]
    twice = [kind for kind in kinds if kinds.count(kind) > 1]
    if twice:
        raise InputError(f"{twice[0]} is there twice", "Write each kind once", key=key)
    return ",".join(sorted(set(words)))


_LISTED = ", ".join(f"`{kind}`" for kind in KINDS)
FETCHPRIORITY = Kind("WHAT", f"`off`, or a list of {_LISTED}, each with `=high` or `=low`", _priorities, _TEXTS)
# fmt: off
HINT_SETTINGS = (
    Setting("preload", PUSH, OFF,
             "what the page names in [links that preload](hints.md), first in its head, in the words of `push`",
             "/style/*", aliases=("preloads",)),
    Setting("fetchpriority", FETCHPRIORITY, OFF,
             "how urgent elements of the page say that they are ([fetchpriority](hints.md)): its first image, images, "
             "scripts and style sheets",
             "first-image=high", aliases=("fetch_priority", "priority_hints")),
    Setting("early_hints", PUSH, OFF,
             "what the server names in [Early Hints](hints.md) (103) ahead of the page, in the words of `push`",
             "critical", aliases=("103", "hints"),
             meaningless_with=tuple(("protocol", each) for each in ("http/1.1", "spdy/3.1", "spdy/3", "spdy/2"))),
)
# fmt: on
USUAL_HINTS = {setting.name: OFF for setting in HINT_SETTINGS}
