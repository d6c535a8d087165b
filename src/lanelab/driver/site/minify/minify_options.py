"""What is asked of minify: which filters, and with the thresholds of which generation of mod_pagespeed."""

from collections.abc import Iterable
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.site.minify.names import ALIASES, CORE, CORE_2012, FILTERS

OFF = "off"
DAY_S = 24 * 3600


@dataclass(frozen=True, slots=True)
class Generation:
    """The defaults of one release. None: no limit, or not done."""

    name: str
    release: str  # as its header X-Mod-Pagespeed says it
    released: str  # the day, in the form of HTTP: what Last-Modified of rewritten objects says
    css_inline_bytes: int  # inlined up to this, after rewriting
    js_inline_bytes: int  # likewise
    image_inline_bytes: int  # inlined below this, before base64
    css_image_inline_bytes: int  # likewise, in style sheets; 0: never
    jpeg_quality: int | None  # None: without loss
    webp_quality: int
    progressive_jpeg_bytes: int | None  # progressive from this size on; None: never
    png_by_gif: bool  # whether recompressing alone makes a GIF of one frame a PNG
    css_flatten_bytes: int | None
    combined_js_bytes: int | None
    absolute_urls: bool  # what is rewritten is named by its whole address, even where the page had a relative one
    javascript_before_combining: bool  # the order of rewrite_javascript and combine_javascript
    preview_images: int | None  # so many images of a page may get a preview
    preview_from_bytes: int  # images of this size or more
    preview_up_to_bytes: int = 1024 * 1024
    url_bytes: int = 2083  # the longest address: what Internet Explorer could
    url_segment_bytes: int = 1024  # between two slashes
    url_slack_bytes: int = 100  # left for what other filters add
    implicit_lifetime_s: int = 300  # of what has no header about caching
    extend_below_s: int = 30 * DAY_S  # what lives longer is left alone
    lifetime_s: int = 365 * DAY_S  # of what is rewritten


GENERATIONS = {
    "2012": Generation(
        name="2012",
        release="0.10.22.4",
        released="Thu, 31 May 2012 00:00:00 GMT",
        css_inline_bytes=2048,
        js_inline_bytes=2048,
        image_inline_bytes=2048,
        css_image_inline_bytes=2048,
        jpeg_quality=None,
        webp_quality=75,  # its -1 left that to libwebp, whose own default is 75
        progressive_jpeg_bytes=None,
        png_by_gif=True,
        css_flatten_bytes=None,
        combined_js_bytes=None,
        absolute_urls=True,
        javascript_before_combining=True,
        preview_images=5,
        preview_from_bytes=1024,
    ),
    "last": Generation(
        name="last",
        release="1.15.0.0",
        released="Sun, 06 Nov 2022 00:00:00 GMT",
        css_inline_bytes=2048,
        js_inline_bytes=2048,
        image_inline_bytes=3072,
        css_image_inline_bytes=0,
        jpeg_quality=85,
        webp_quality=80,
        progressive_jpeg_bytes=10_240,
        png_by_gif=False,
        css_flatten_bytes=1_024_000,
        combined_js_bytes=92_160,
        absolute_urls=False,
        javascript_before_combining=False,
        preview_images=None,
        preview_from_bytes=3072,
    ),
}


@dataclass(frozen=True, slots=True)
class Wish:
    filters: frozenset[str]  # names of FILTERS
    generation: Generation
    fetches: bool = True  # False: no resource can be had, so that only the page's own text is rewritten
    user_agent: str = ""  # as the browser says it; "": its own, which is a recent Chromium's

    def has(self, *names: str) -> bool:
        """Return whether one of these filters is asked for."""
        return not self.filters.isdisjoint(names)

    @property
    def calls_jpegtran(self) -> bool:
        """Return whether JPEG files may be recompressed: jpegtran must be there, whatever images a site has."""
        return self.fetches and self.has("recompress_jpeg", "convert_jpeg_to_progressive", "resize_images")


# What an arm may say instead of a list of filters.
SETS = {
    "core-2012": Wish(CORE_2012, GENERATIONS["2012"]),
    "page-2012": Wish(CORE_2012, GENERATIONS["2012"], fetches=False),
    "core": Wish(CORE, GENERATIONS["last"]),
}


def parse_minify(value: object, key: str = "minify") -> Wish | None:
    """Return what an arm says: `off`, a set, or a list of filters, which may begin with a set. None: nothing is asked
    for."""
    if isinstance(value, bool) and not value:
        return None  # as YAML reads a bare off
    values = value if isinstance(value, list | tuple) else [value]
    names = [name for each in values for name in str(each).replace(",", " ").split()]
    if names in ([OFF], []):
        return None
    for name in names:
        if name not in FILTERS and name not in ALIASES and name not in SETS:
            choices = [*SETS, *ALIASES, *FILTERS]
            raise InputError(f"{name!r} is no filter", f"{near_miss(name, [OFF, *choices])}{_choose()}", key=key)
    sets = [name for name in names if name in SETS]
    if len(sets) > 1:
        raise InputError(f"{sets[0]} and {sets[1]} cannot be together", "Name one set at most", key=key)
    base = SETS[sets[0]] if sets else Wish(frozenset(), GENERATIONS["last"])
    return Wish(base.filters | _expanded(name for name in names if name not in SETS), base.generation, base.fetches)


def _choose() -> str:
    return f"Write {OFF}, {', '.join(SETS)} or a list of filters; docs/reference/minify.md has them"


def _expanded(names: Iterable[str]) -> frozenset[str]:
    return frozenset(each for name in names for each in ALIASES.get(name, (name,)))
