"""Pages of reports, taken apart."""

from html.parser import HTMLParser

EVIL = "</title><script>alert(1)</script>\x00\x1b[31m&\"'<img src=x>"


class Parsed(HTMLParser):
    """Which elements there are, whether each is closed, and what would load something."""

    VOID = ("meta", "br", "hr")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.styles: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open += [] if tag in self.VOID else [tag]
        self.links += [value or "" for key, value in attrs if key in ("src", "href", "xlink:href", "action", "data")]
        self.styles += [key for key, _ in attrs if key == "style" or key.startswith("on")]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
