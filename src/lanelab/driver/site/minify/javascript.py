"""Scripts: shortened, put into the page, or combined. Pure; what cannot be done without risk is not done."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import rjsmin  # type: ignore[import-untyped]

INLINE_MAX_BYTES = 2048

_MIME_TYPES = frozenset(
    [
        *(f"{top}/{sub}" for top in ("application", "text") for sub in ("ecmascript", "javascript")),
        *(f"{top}/x-{sub}" for top in ("application", "text") for sub in ("ecmascript", "javascript")),
        *(f"text/javascript1.{version}" for version in range(6)),
        *("text/jscript", "text/livescript"),
    ]
)
# A script that asks for the page's scripts probably looks for itself, by its address.
_LOOKS_ITSELF_UP = (
    b"document.getElementsByTagName('script')",
    b'document.getElementsByTagName("script")',
    b"$('script')",
    b'$("script")',
)
_NAMES_ITSELF = b"currentScript"  # its own tag, which has no address in the page's own text
_LEADING_COMMENT = re.compile(rb"\A\s*<!--[^\r\n]*(?:\r\n?|\n)")
_HEADER = re.compile(rb"\b(?:if|while|for|with)\s*\(")
_AFTER_WORD = re.compile(
    rb"\b(?:typeof|case|in|of|delete|void|throw|instanceof|new|do|else|yield|await|default)\s*/(?![/*])"
)
_AFTER_SIGN = re.compile(rb"(?:\+\+|--|=>)\s*/(?![/*])")
# A line end that ends a statement, and that rjsmin takes away: after a value, before what cannot go on with it.
_ENDS_STATEMENT = re.compile(rb"""[\w$)\]'"`\x80-\xff][ \t]*[\r\n]\s*(?:['"~#@]|\.\d)""")
_STRING_OR_COMMENT = re.compile(
    rb"""("(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`)|//[^\r\n]*|/\*.*?\*/""", re.DOTALL
)
# Names that only the script itself would have, where eval runs it.
_OWN_NAMES = re.compile(rb"\b(?:let|const|class)\s+[\w$\x80-\xff]|\b(?:let|const)\s*[{\[]")
_AFTER_BRACE = re.compile(rb"\}\s*/(?![/*])")
_ARROW_COMMENT = re.compile(rb"^[ \t]*-->", re.MULTILINE)
_PARENTHESIS = re.compile(rb"[()]")
LONGEST_HEADER = 4000  # bytes between the parentheses of a statement
_NESTED_TEMPLATE = re.compile(rb"`[^`]*\$\{[^}`]*`")


@dataclass(frozen=True, slots=True)
class Shortened:
    body: bytes


@dataclass(frozen=True, slots=True)
class Unchanged:
    why: str


def is_javascript(type_: str | None, language: str | None) -> bool:
    """Return whether a script tag with these attributes is JavaScript; None: the attribute is not there, or has no
    value."""
    if type_ is not None:
        return type_ == "" or type_.strip().lower() in _MIME_TYPES
    return not language or f"text/{language.lower()}" in _MIME_TYPES


def shorten(script: bytes) -> Shortened | Unchanged:
    """Return a script without comments and white space that say nothing. Names and structure stay."""
    doubt = _doubt(script)
    if doubt:
        return Unchanged(doubt)
    shorter = bytes(rjsmin.jsmin(_LEADING_COMMENT.sub(b"", script, count=1)))
    if len(shorter) >= len(script):
        return Unchanged("it does not get shorter")
    if shortens_further(shorter):
        return Unchanged("shortening it twice gives something else than once: its syntax was misread")
    return Shortened(shorter)


def shortens_further(shortened: bytes) -> bool:
    """A sign that quotes or slashes were misread."""
    return bytes(rjsmin.jsmin(shortened)) != shortened


def looks_itself_up(script: bytes) -> bool:
    return any(words in script for words in _LOOKS_ITSELF_UP)


def not_inlined(script: bytes, most: int = INLINE_MAX_BYTES) -> str | None:
    """Return why this script cannot stand in the page itself; None: it can."""
    if len(script) > most:
        return f"it has more than {most:,} bytes"
    if looks_itself_up(script):
        return "it looks for scripts in the page, and would not find itself"
    if _NAMES_ITSELF in script:
        return "it asks for its own tag, which would have no address"
    if b"</script" in script.lower():
        return "it has </script in it"
    if b"<!--" in script:
        return "it has <!-- in it, which changes how a page is read"
    return None


def not_combined(script: bytes) -> str | None:
    """Return why this script cannot be one of a combination, each of which runs by eval; None: it can."""
    if b"use strict" in script:
        return "it has 'use strict', and would keep its variables for itself"
    if _OWN_NAMES.search(_STRING_OR_COMMENT.sub(b" ", script)):
        return "it has let, const or class, whose names other scripts would not see"
    try:
        script.decode()
    except UnicodeDecodeError:
        return "it is not UTF-8"
    if looks_itself_up(script):
        return "it looks for scripts in the page, and would not find itself"
    if _NAMES_ITSELF in script:
        return "it asks for its own tag, which would have no address"
    return None


def variable_of(path: str) -> str:
    """Return the variable that holds the script of this path in a combination. As the module names it: a hash, MD5 in
    base64 with $ and _."""
    digest = hashlib.md5(path.encode(), usedforsecurity=False).digest()
    return "mod_pagespeed_" + base64.b64encode(digest, b"$_").decode()[:10]


def combination(scripts: Sequence[tuple[str, bytes]]) -> bytes:
    """Return every script, by its path, as text in a variable. The page runs them where they were, one after the
    other."""
    lines = (f"var {variable_of(path)} = {_literal(script)};\n" for path, script in scripts)
    return "".join(lines).encode("utf-8", "surrogateescape")


def call_of(path: str) -> str:
    return f"eval({variable_of(path)});"


def _literal(script: bytes) -> str:
    """A JavaScript string in double quotes that the script, in UTF-8, is. Raises ValueError where it is not UTF-8."""
    text = script.decode("utf-8-sig")
    # The last two end a line in JavaScript, and are no JSON escapes by themselves.
    return json.dumps(text, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _doubt(script: bytes) -> str | None:
    """Return why rjsmin may misread it; None: it reads it right."""
    rest = _LEADING_COMMENT.sub(b"", script, count=1)
    doubts = (
        (b"\0" in rest, "it has NUL bytes"),
        (b"@cc_on" in rest, "it has a comment that Internet Explorer runs"),
        (b"<!--" in rest or _ARROW_COMMENT.search(rest), "it has HTML's comments in it"),
        (_NESTED_TEMPLATE.search(rest), "it has templates within templates"),
        (
            any(each.search(rest) for each in (_AFTER_WORD, _AFTER_SIGN, _AFTER_BRACE)) or _pattern_after_header(rest),
            "it cannot be told whether a slash in it divides or begins a pattern",
        ),
        (
            _ENDS_STATEMENT.search(_without_comments(rest)),
            "one of its statements may end by the end of its line alone",
        ),
    )
    return next((why for applies, why in doubts if applies), None)


def _without_comments(script: bytes) -> bytes:
    return _STRING_OR_COMMENT.sub(lambda match: match[1] or b" ", script)


def _pattern_after_header(script: bytes) -> bool:
    """Tell whether a slash begins a pattern, as behind the parentheses of a statement in `if (x) /pattern/.test(y)`."""
    for match in _HEADER.finditer(script):
        end = _closing(script, match.end())
        follows = script[end:].lstrip()[:2]
        if follows[:1] == b"/" and follows not in (b"//", b"/*"):
            return True
    return False


def _closing(script: bytes, at: int) -> int:
    """Find the place just behind the parenthesis that closes the one before `at`; the end where there is none near."""
    depth = 1
    for match in _PARENTHESIS.finditer(script, at, at + LONGEST_HEADER):
        depth += 1 if match[0] == b"(" else -1
        if depth == 0:
            return match.end()
    return len(script)
