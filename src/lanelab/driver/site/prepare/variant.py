"""How an arm wants a site: the part of its settings that changes what a server answers with."""

from dataclasses import dataclass, replace

RECORDED = "recorded"


@dataclass(frozen=True, slots=True)
class Variant:
    """Arms that agree in these are served with the same bytes."""

    schemes: str = RECORDED  # or http, https: every address of the site's hosts is changed to it
    compression: str = RECORDED  # or off, gzip, brotli, zstd
    minify: str = "off"  # as the arm's setting has it
    preload: str = "off"  # likewise
    fetchpriority: str = "off"  # likewise
    user_agent: str = ""  # what minify does depends on the browser; empty without it
    age_s: int = 0  # how old answers say that they are; 0: as recorded
    aged_for: str = ""  # the browser that counts their age: it guesses how long it keeps some; empty without an age
    answer: tuple[tuple[str, int], ...] = ()  # statuses instead of the recorded ones, as the arm's setting has them

    @property
    def text(self) -> str:
        """Name the variant for run folders and caches."""
        hints = {"preload": self.preload, "fetchpriority": self.fetchpriority}
        words = [f"{name}={value}" for name, value in hints.items() if value != "off"]
        words += [f"{pattern}={status}" for pattern, status in self.answer]
        words += [f"age={self.age_s}", self.aged_for] if self.age_s else []
        return "_".join((self.schemes, self.compression, self.minify, *words, *filter(None, (self.user_agent,))))

    @property
    def without_hints(self) -> "Variant":
        """Return the same variant of a page that says neither what to preload nor what is urgent."""
        return replace(self, preload="off", fetchpriority="off")

    @property
    def as_old_as_recorded(self) -> "Variant":
        """Return the same variant with answers of the recorded age."""
        return replace(self, age_s=0, aged_for="")

    @property
    def as_recorded(self) -> "Variant":
        """Return the same variant with the statuses of the record."""
        return replace(self, answer=())


AS_ARCHIVED = Variant()
