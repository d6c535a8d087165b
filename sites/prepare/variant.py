"""How an arm wants a site: the part of its settings that changes what a server answers with."""

from __future__ import annotations

from dataclasses import dataclass

RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Variant:
    """Arms that agree in these are served with the same bytes."""

    schemes: str = RECORDED  # or http, https: every address of the site's hosts is changed to it
    compression: str = RECORDED  # or off, gzip, brotli, zstd
    minify: str = "off"  # as the arm's setting has it
    user_agent: str = ""  # what minify does depends on the browser; empty without it

    @property
    def text(self) -> str:
        """For run folders and caches."""
        return "_".join((self.schemes, self.compression, self.minify, *filter(None, (self.user_agent,))))


AS_ARCHIVED = Variant()
