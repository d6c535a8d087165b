"""What mod_pagespeed did to a site, as a step before it is served: bytes in, bytes out, the same every time.

docs/reference/minify.md describes each filter, and where it differs from the module's.
"""

from __future__ import annotations

from sites.minify.effects import Effect, Minified
from sites.minify.names import ALIASES, FILTERS
from sites.minify.pipeline import minify
from sites.minify.wish import GENERATIONS, OFF, SETS, Generation, Wish, parse_minify

__all__ = [
    "ALIASES",
    "FILTERS",
    "GENERATIONS",
    "OFF",
    "SETS",
    "Effect",
    "Generation",
    "Minified",
    "Wish",
    "minify",
    "parse_minify",
]
