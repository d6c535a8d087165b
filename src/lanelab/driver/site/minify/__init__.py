"""What mod_pagespeed did to a site, as a step before it is served: bytes in, bytes out, the same every time.

docs/reference/minify.md describes each filter, and where it differs from the module's.
"""

from lanelab.driver.site.minify.effects import Effect, Minified
from lanelab.driver.site.minify.minify_options import GENERATIONS, OFF, SETS, Generation, Wish, parse_minify
from lanelab.driver.site.minify.names import ALIASES, FILTERS
from lanelab.driver.site.minify.pipeline import minify

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
