"""The types that compression makes smaller. Every server compresses exactly these.

Images, sound and fonts (except SVG and the uncompressed kinds) are already compressed."""

COMPRESSED_TYPES = (
    "text/html", "text/css", "text/plain", "text/xml", "text/javascript", "text/x-component", "application/javascript",
    "application/x-javascript", "application/ecmascript", "application/json", "application/ld+json",
    "application/manifest+json", "application/xml", "application/xhtml+xml", "application/rss+xml",
    "application/atom+xml", "application/wasm", "application/vnd.ms-fontobject", "font/ttf", "font/otf",
    "image/svg+xml", "image/x-icon", "image/vnd.microsoft.icon",
)  # fmt: skip
COMPRESSED_BEFORE = ("zstd",)  # codings for which not all servers have a module: bodies are put there compressed
SMALLEST_COMPRESSED = 70  # bytes: mod_deflate leaves alone what is smaller, since it would grow
