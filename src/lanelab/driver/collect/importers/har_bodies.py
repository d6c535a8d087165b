"""Bodies of a HAR file: base64, or text. A text's bytes have to be found again: by the charset that the answer or its
page names, and by how many there were, as the file says. Pure."""

import base64
import binascii
import codecs
import re

from lanelab.driver.base.coded import JsonObject

WITHOUT_BODY = frozenset((204, 205, 304))
REDIRECTS = range(300, 400)
# Charsets that browsers read as a larger one, by their names in Python.
AS_BROWSERS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "big5": "big5hkscs",
}  # fmt: skip
USUAL = ("utf-8", "utf-8-sig")  # the second has a mark in front
WITHOUT_NAME = "cp1252"  # a text that names a charset is not taken for it: some tools give as its size its characters
IN_HEAD = 1_024  # characters in which a page names its charset
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
_META = re.compile(r"<meta\s[^>]{0,300}?" + _CHARSET.pattern, re.IGNORECASE)


class LeftOutError(Exception):
    """An entry is no exchange."""


def body_of(content: JsonObject, content_type: str, *, may_be_empty: bool) -> tuple[bytes, str]:
    """Return a body, and words on why it may be another than was recorded; empty where nothing says so. `may_be_empty`:
    an answer of its kind has none. Raises LeftOutError."""
    text, sizes = content.get("text"), _sizes(content)
    if not isinstance(text, str) or (not text and sizes):
        if may_be_empty or content.get("size") == 0:
            return b"", ""
        raise LeftOutError("the file has no body of it")
    is_binary = content.get("encoding") == "base64"
    body = _from_base64(text) if is_binary else _encoded(text, content_type, sizes)
    if may_be_empty or not sizes or len(body) in sizes:
        return body, ""
    return body, f"its body has {len(body):,} bytes, and by its size {min(sizes):,}"


def _sizes(content: JsonObject) -> tuple[int, ...]:
    """Return how long the file says the body was. Some tools give the compressed size, and what compression saved."""
    size, saved = content.get("size"), content.get("compression")
    if not isinstance(size, int) or isinstance(size, bool) or size <= 0:
        return ()
    return (size, size + saved) if isinstance(saved, int) and saved > 0 else (size,)


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise LeftOutError("its body is no base64") from error


def _encoded(text: str, content_type: str, sizes: tuple[int, ...]) -> bytes:
    """Return the bytes of a text: those with the right size, else those of the charset that is named."""
    named = (_CHARSET.search(content_type), _META.search(text[:IN_HEAD]))
    names = [match[1] for match in named if match]
    charsets = (*names, *USUAL) if names else (*USUAL, WITHOUT_NAME)
    bodies = [body for charset in charsets if (body := _in_charset(text, charset)) is not None]
    return next((body for body in bodies if len(body) in sizes), bodies[0])


def _in_charset(text: str, charset: str) -> bytes | None:
    """None: there is no such charset, or it has not all of these characters."""
    try:
        name = codecs.lookup(charset).name
        return text.encode(AS_BROWSERS.get(name, name), "surrogatepass")
    except (LookupError, ValueError):
        return None
