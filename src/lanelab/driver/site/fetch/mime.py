"""Media types by the ends of file names. A table of our own: that of the system differs from one to the next."""

import posixpath

OTHER = "application/octet-stream"
_TYPES = {
    "html": "text/html",
    "htm": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "mjs": "text/javascript",
    "json": "application/json",
    "map": "application/json",
    "webmanifest": "application/manifest+json",
    "xml": "application/xml",
    "txt": "text/plain",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "svg": "image/svg+xml",
    "ico": "image/vnd.microsoft.icon",
    "woff": "font/woff",
    "woff2": "font/woff2",
    "ttf": "font/ttf",
    "otf": "font/otf",
    "eot": "application/vnd.ms-fontobject",
    "mp4": "video/mp4",
    "webm": "video/webm",
    "mp3": "audio/mpeg",
    "wasm": "application/wasm",
}


def mime_of(path: str) -> str:
    """By the path of an address, of which the query says nothing; a folder's page is HTML."""
    name = posixpath.basename(path.partition("?")[0])
    return _TYPES.get(name.rpartition(".")[2].lower(), OTHER) if name else "text/html"
