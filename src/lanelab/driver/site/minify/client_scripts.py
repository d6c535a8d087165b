"""The scripts that some filters put into pages: written for lanelab, to do what those of mod_pagespeed did."""

from functools import cache
from pathlib import Path

import rjsmin  # type: ignore[import-untyped]

_FOLDER = Path(__file__).parent / "scripts"
# A white GIF of one pixel. The module's has a comment in it; so has this one, with its own words.
BLANK_IMAGE = "data:image/gif;base64,R0lGODlhAQABAIAAAP///////yH+B2xhbmVsYWIALAAAAAABAAEAAAICRAEAOw=="


@cache
def client_script(name: str) -> str:
    """Return `lazyload_images`, `delay_images` or `defer_javascript`, shortened."""
    return str(rjsmin.jsmin((_FOLDER / f"{name}.js").read_text()))


def lazyload_script() -> str:
    return f'{client_script("lazyload_images")}pagespeed.lazyLoadInit(false,"{BLANK_IMAGE}");'
