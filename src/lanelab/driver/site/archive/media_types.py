"""The media type of an answer: what its head says; where it says nothing that can be used, what the body looks like."""

import re
from collections.abc import Callable

_TYPE = re.compile(r"\s*([a-z0-9!#$&^_.+-]+/[a-z0-9!#$&^_.+-]+)\s*(?:[;,].*)?", re.IGNORECASE | re.DOTALL)
UNKNOWN = "application/octet-stream"
HTML, TEXT = "text/html", "text/plain"

# The first bytes of a body, and what has them.
MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"wOF2", "font/woff2"),
    (b"wOFF", "font/woff"),
    (b"\x00\x01\x00\x00\x00", "font/ttf"),
    (b"OTTO", "font/otf"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"%PDF-", "application/pdf"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1f\x8b", "application/gzip"),
)
# The end of a path, and what has it.
EXTENSIONS = {
    "html": HTML, "htm": HTML, "xhtml": "application/xhtml+xml", "css": "text/css", "js": "text/javascript",
    "mjs": "text/javascript", "json": "application/json", "map": "application/json", "xml": "application/xml",
    "txt": TEXT, "svg": "image/svg+xml", "png": "image/png", "gif": "image/gif", "jpg": "image/jpeg",
    "jpeg": "image/jpeg", "webp": "image/webp", "avif": "image/avif", "ico": "image/x-icon", "bmp": "image/bmp",
    "woff2": "font/woff2", "woff": "font/woff", "ttf": "font/ttf", "otf": "font/otf",
    "eot": "application/vnd.ms-fontobject",
    "mp4": "video/mp4", "webm": "video/webm", "mp3": "audio/mpeg", "ogg": "application/ogg", "wav": "audio/wav",
    "pdf": "application/pdf", "wasm": "application/wasm", "webmanifest": "application/manifest+json",
    "swf": "application/x-shockwave-flash", "vtt": "text/vtt", "zip": "application/zip", "gz": "application/gzip",
}  # fmt: skip
_MARKUP = re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)*<(?:!doctype html|html|head|body|script|title)\b", re.I | re.S)
_SNIFFED: tuple[tuple[Callable[[bytes], bool], str], ...] = (
    (lambda body: body[:4] == b"RIFF" and body[8:12] == b"WEBP", "image/webp"),
    (lambda body: body[4:12] == b"ftypavif", "image/avif"),
    (lambda body: body[4:8] == b"ftyp", "video/mp4"),
    (lambda body: bool(_MARKUP.match(body[:2_000])), HTML),
    (lambda body: body.lstrip()[:5] == b"<?xml" and b"<svg" in body[:2_000], "image/svg+xml"),
    (lambda body: body.lstrip()[:4] == b"<svg", "image/svg+xml"),
)


def media_type(content_type: str, path: str, body: bytes) -> str:
    """`content_type`: the Content-Type, empty where there is none. `body` decoded, or empty where it is encoded."""
    match = _TYPE.fullmatch(content_type)
    return match[1].lower() if match else sniffed(path, body)


def is_media_type(content_type: str) -> bool:
    """Return whether nothing else has to be looked at."""
    return _TYPE.fullmatch(content_type) is not None


def sniffed(path: str, body: bytes) -> str:
    """Tell the type by the first bytes, then by the end of the path, then text or not."""
    for start, name in MAGIC:
        if body.startswith(start):
            return name
    for matches, name in _SNIFFED:
        if matches(body):
            return name
    if named := by_extension(path):
        return named
    return TEXT if body and not any(each < 9 for each in body[:1_000]) else UNKNOWN


def by_extension(path: str) -> str | None:
    file = path.partition("?")[0].rpartition("/")[2]
    return EXTENSIONS.get(file.rpartition(".")[2].lower()) if "." in file else None
