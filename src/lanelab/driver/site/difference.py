"""What two sites have of the same, and what not. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.archive.read_warc import shown
from lanelab.driver.site.site import SiteObject

Key = tuple[str, str, str | None]
SHOWN = 60  # characters of a header's value


@dataclass(frozen=True, slots=True)
class Change(Coded):
    """One request that both answer, in different ways."""

    method: str
    url: str
    what: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference(Coded):
    same: int
    added: tuple[str, ...]  # METHOD url
    removed: tuple[str, ...]
    changed: tuple[Change, ...]

    @property
    def nothing(self) -> bool:
        return not (self.added or self.removed or self.changed)


def difference(old: Iterable[SiteObject], new: Iterable[SiteObject]) -> Difference:
    """Compare one site with another. Objects are the same by method, URL without scheme, and the request's body."""
    before, after = ({_key(each): each for each in objects} for objects in (old, new))
    both = [key for key in before if key in after]
    changes = (Change(before[key].method, before[key].url, tuple(_what(before[key], after[key]))) for key in both)
    changed = tuple(each for each in changes if each.what)
    return Difference(
        same=len(both) - len(changed),
        added=tuple(_named(each) for key, each in after.items() if key not in before),
        removed=tuple(_named(each) for key, each in before.items() if key not in after),
        changed=changed,
    )


def _key(each: SiteObject) -> Key:
    return each.method, each.url, each.request_sha1


def _named(each: SiteObject) -> str:
    return f"{each.method} {each.url}"


def _what(old: SiteObject, new: SiteObject) -> Iterator[str]:
    if (old.status, old.reason) != (new.status, new.reason):
        yield f"status {old.status} {shown(old.reason)} -> {new.status} {shown(new.reason)}"
    if old.scheme != new.scheme:
        yield f"scheme {old.scheme} -> {new.scheme}"
    if old.mime != new.mime:
        yield f"mime {old.mime} -> {new.mime}"
    yield from _headers(_by_name(old), _by_name(new))
    if old.sha256 != new.sha256:
        size = "other content" if old.size == new.size else f"{old.size} -> {new.size} bytes"
        yield f"body {size}"
    if old.late != new.late:
        yield "is late now" if new.late else "is not late any more"


def _by_name(each: SiteObject) -> dict[str, list[str]]:
    values: dict[str, list[str]] = defaultdict(list)
    for name, value in each.headers:
        values[name.lower()].append(value)
    return values


def _headers(old: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield f"{name} {_values(old.get(name))} -> {_values(new.get(name))}"


def _values(values: Sequence[str] | None) -> str:
    if values is None:
        return "none"
    text = "; ".join(values)
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}...")
