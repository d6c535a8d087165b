"""The two kinds of settings of a host's TCP. Each has its row, its words for the host, and what the host shows of it.

A setting of a route needs no sysctl, which containers forbid. It can also name a congestion control that the
administrator reserves, which a sysctl of an unprivileged namespace cannot.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.link.impairments.impairment import Words

Value = Any  # a setting's own type: that of its field in Host


def text_of(value: Value) -> str:
    """Return a value as a user would write it."""
    if value is None:
        return "kernel"
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class OfRoute:
    """A setting that the host's routes to the link carry: `ip route replace … WORD VALUE`."""

    row: Setting
    word: str
    writes: Callable[[Value], str | None]  # None: the route says nothing, and the kernel's own is right
    reads: Callable[[str | None], Value]  # what `ip -j route show` has -> the value; None: it shows nothing
    means: Callable[[Value], str]  # in plain words, after "TCP on this route"
    shown_as: str = ""  # by `ip -j route show`, where that is not `word`

    def words(self, value: Value) -> Words | None:
        written = self.writes(value)
        return None if written is None else Words(f"{self.word} {written}", self.means(value))

    def shown(self, metrics: Mapping[str, str]) -> Value:
        return self.reads(metrics.get(self.shown_as or self.word))


@dataclass(frozen=True, slots=True)
class OfKernel:
    """What the host's kernel has to say, and namespaces have of their own: `net.ipv4.…`."""

    row: Setting
    name: str
    writes: Callable[[Value], str | None]  # None: whatever the kernel has by itself
    reads: Callable[[str], Value]  # what the kernel says -> the value
    means: Callable[[Value], str]  # in plain words, after "TCP"
    # What a new namespace has, and what every link puts there that asks for nothing else. "": each kernel has its own,
    # or does not let itself be set, so it is changed where a link asks for it, and put back behind that link.
    usual: str = ""

    def words(self, value: Value) -> Words | None:
        written = self.writes(value)
        if written is None or written == self.usual:
            return None
        return Words(f"{self.name}={written}", f"TCP {self.means(value)}")


def difference(setting: OfRoute | OfKernel, shown: Value, wanted: Value) -> str | None:
    """Return what a host is set to, where that is not what was asked for."""
    if shown == wanted:
        return None
    return f"{setting.row.name} is {text_of(shown)} instead of {text_of(wanted)}"
