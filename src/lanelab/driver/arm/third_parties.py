"""The settings of an arm that make third parties misbehave, and what they mean for a site. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, TypeVar

from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import MOST_LINES, Kind, one_line, whole_milliseconds
from lanelab.driver.base.settings.setting import ROW, Setting
from lanelab.driver.base.units import Duration
from lanelab.driver.site.site import Site
from lanelab.driver.site.third_parties import (
    ALLOWED_EMPTY,
    ANSWER,
    ANSWER_DELAY,
    BLOCK,
    OTHERS,
    RECORDED,
    UNREACHABLE,
    Pairs,
    hosts_of,
    is_host,
    meant,
    read_pattern,
    require_some,
    values_at,
)

OF_THIRD_PARTIES = (BLOCK, UNREACHABLE, ANSWER_DELAY, ANSWER)
LOWEST_ERROR, HIGHEST_ERROR = 400, 599
# Linux sends a SYN again and again, and gives up after 127 s, from version 6.5 on after 131 s. Browsers wait for that:
# a page that needs the host is not loaded before.
GIVES_UP_AFTER = Duration.parse("131s")
PATIENCE_WITH_THE_DEAD = Duration.parse("150s")  # what a trial needs for that, and for the rest of its page
Delays: TypeAlias = Pairs[Duration] | Literal["recorded"]
_LONGEST_DELAY = Duration.parse("60s")
Value = TypeVar("Value")


def _patterns(value: object, key: str) -> tuple[str, ...]:
    words = value if isinstance(value, list | tuple) else str(value).replace(",", " ").split()
    read = tuple(read_pattern(one_line(word, key, "host or address"), key) for word in words)
    _refuse_many(read, key)
    return read


def _hosts(value: object, key: str) -> tuple[str, ...]:
    read = _patterns(value, key)
    for pattern in read:
        if not is_host(pattern):
            what = f"{pattern[:80]} is an address, and packets go to hosts"
            raise InputError(what, f"Write {pattern.partition('/')[0]}", key=key)
    return read


def _refuse_many(read: tuple[str, ...], key: str) -> None:
    if len(read) > MOST_LINES:
        raise InputError(f"there are more than {MOST_LINES}", "Write fewer, with * in them", key=key)
    for pattern in read:
        if read.count(pattern) > 1:
            raise InputError(f"{pattern[:80]} is there twice", "Write it once", key=key)


def _pairs(of: Callable[[object, str], Value], like: str, *, others: bool) -> Callable[[object, str], Pairs[Value]]:
    """Return what reads a mapping of patterns, also as one text of the command line."""

    def parse(value: object, key: str) -> Pairs[Value]:
        if value in ([], ()):  # as none is stored
            return ()
        entries = value if isinstance(value, Mapping) else dict(_entries(str(value), like, key))
        named = {str(name): each for name, each in entries.items()}
        names = tuple(OTHERS if others and name == OTHERS else read_pattern(name, key) for name in named)
        _refuse_many(names, key)
        return tuple((name, of(each, key)) for name, each in zip(names, named.values(), strict=True))

    return parse


def _entries(text: str, like: str, key: str) -> list[tuple[str, str]]:
    entries = []
    for word in text.replace(",", " ").split():
        name, equals, value = word.rpartition("=")
        if not equals:
            raise InputError(f"{word[:80]!r} says nothing of a host or an address", f"Write one like {like}", key=key)
        entries.append((name, value))
    return entries


_DELAY = whole_milliseconds(Duration.parse("1ms"), _LONGEST_DELAY, "an answer cannot wait {time}")


def _status(value: object, key: str) -> int:
    text = str(value).strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) == 3 and not isinstance(value, bool) else 0
    if number not in ALLOWED_EMPTY and not LOWEST_ERROR <= number <= HIGHEST_ERROR:
        empty = " or ".join(map(str, ALLOWED_EMPTY))
        remedy = f"Write {LOWEST_ERROR} to {HIGHEST_ERROR}, or {empty} for an empty answer"
        raise InputError(f"{text[:30]!r} is no status for this", remedy, key=key)
    return number


_LIST: JsonObject = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_PATTERNS = Kind("LIST", "hosts or addresses, a list of them", _patterns, _LIST)
_HOSTS = Kind("LIST", "hosts, a list of them", _hosts, _LIST)


def _delays(value: object, key: str) -> Delays:
    return RECORDED if value == RECORDED else _NAMED_DELAYS(value, key)


_NAMED_DELAYS = _pairs(_DELAY.parse, "ads.example=200ms", others=True)
_DELAYS = Kind(
    "MAPPING",
    "a mapping of hosts or addresses to whole milliseconds, `default` for all others; or `recorded`",
    _delays,
    {"type": ["string", "object"], "additionalProperties": _DELAY.schema},
)
_STATUSES = Kind(
    "MAPPING",
    f"a mapping of hosts or addresses to {LOWEST_ERROR} to {HIGHEST_ERROR}, 200 or 204",
    _pairs(_status, "ads.example/ad.js=503", others=False),
    {"type": ["string", "object"], "additionalProperties": {"type": ["integer", "string"]}},
)


@dataclass(frozen=True, kw_only=True)
class ThirdPartySettings:
    # fmt: off
    block: tuple[str, ...] = field(metadata={ROW: Setting(
        BLOCK, _PATTERNS, "", "[what the browser does not fetch](third-parties.md#block), as with an ad blocker: it "
        "has an error at once, and nothing goes to the network", "ads.example/*.js", default_words="nothing",
        aliases=("blocked", "blocks", "adblock", "block_hosts"))})
    unreachable: tuple[str, ...] = field(metadata={ROW: Setting(
        UNREACHABLE, _HOSTS, "", "[hosts that do not answer](third-parties.md#unreachable): packets to them are "
        "dropped, and each has an address of its own", "ads.example", default_words="none",
        aliases=("dead", "blackhole", "down"))})
    answer_delay: Delays = field(metadata={ROW: Setting(
        ANSWER_DELAY, _DELAYS, "", "[how long the server thinks](third-parties.md#answer_delay) before it answers, by "
        "host or address", "{ads.example: 200ms}", default_words="none",
        aliases=("answer_delays", "think_time", "delay", "server_delay"))})
    answer: Pairs[int] = field(metadata={ROW: Setting(
        ANSWER, _STATUSES, "", "[statuses that are answered](third-parties.md#answer) instead of what was recorded",
        "{ads.example/ad.js: 503}", default_words="as recorded", aliases=("answers", "status", "statuses"))})
    # fmt: on


class Wishes(Protocol):
    """The settings that are read of an arm."""

    @property
    def block(self) -> tuple[str, ...]: ...
    @property
    def unreachable(self) -> tuple[str, ...]: ...
    @property
    def answer_delay(self) -> Delays: ...
    @property
    def answer(self) -> Pairs[int]: ...


@dataclass(frozen=True, slots=True)
class ThirdParties:
    """The addresses and hosts of a site, by what an arm does to them."""

    blocked: frozenset[str]
    blocked_hosts: frozenset[str]  # of which nothing at all is fetched
    dead_hosts: tuple[str, ...]  # whose packets are dropped, in the order of the site
    delays: Mapping[str, Duration]
    answers: Mapping[str, int]

    @classmethod
    def of(cls, arm: Wishes, site: Site) -> "ThirdParties":
        """Return them. Raises InputError where the settings mean nothing of this site, or contradict each other."""
        if not (arm.block or arm.unreachable or arm.answer_delay or arm.answer):
            return NOTHING
        _check(arm, site)
        urls = [each.url for each in site.objects]
        delays = _delays_of(arm, site, urls)
        return cls(
            frozenset(url for url in urls if meant(arm.block, url)),
            frozenset(hosts_of(arm.block, site)),
            hosts_of(arm.unreachable, site),
            {url: wait for url, wait in delays.items() if not _never_asked(arm, url)},
            {url: status for url in urls if (status := values_at(arm.answer, url)) is not None},
        )

    def is_absent(self, url: str) -> bool:
        """Return whether a load cannot have it: it is blocked, or its host is dead."""
        return url in self.blocked or url.partition("/")[0] in (*self.dead_hosts, *self.blocked_hosts)


def _delays_of(arm: Wishes, site: Site, urls: Sequence[str]) -> dict[str, Duration]:
    if arm.answer_delay == RECORDED:
        known = dict(site.think)
        return {url: Duration(known[url] * 1_000_000) for url in urls if url in known}
    return {url: wait for url in urls if (wait := values_at(arm.answer_delay, url)) is not None}


NOTHING = ThirdParties(frozenset(), frozenset(), (), {}, {})


def _never_asked(arm: Wishes, url: str) -> bool:
    return meant((*arm.block, *arm.unreachable), url) is not None


def _check(arm: Wishes, site: Site) -> None:
    if arm.answer_delay == RECORDED and not site.think:
        what = f"{site.name} does not say how long its servers thought"
        raise InputError(what, "Import it from a HAR file, or write times", key=ANSWER_DELAY)
    delays = () if arm.answer_delay == RECORDED else tuple(pattern for pattern, _ in arm.answer_delay)
    answers = tuple(pattern for pattern, _ in arm.answer)
    wishes = {BLOCK: arm.block, UNREACHABLE: arm.unreachable, ANSWER_DELAY: delays, ANSWER: answers}
    page = site.entry_host + site.entry_path
    for key, patterns in wishes.items():
        require_some(patterns, site, key)
        if key != ANSWER_DELAY and (hit := meant(patterns, page)):
            what = f"{hit} means the page of {site.name} itself, and without it there is no load"
            raise InputError(what, f"Name third parties alone; the page is {page}", key=key)
    for key, other in (
        (UNREACHABLE, BLOCK),
        (ANSWER_DELAY, BLOCK),
        (ANSWER, BLOCK),
        (ANSWER_DELAY, UNREACHABLE),
        (ANSWER, UNREACHABLE),
    ):
        for each in site.objects:
            _refuse_both(each.url, (key, wishes[key]), (other, wishes[other]))


def _refuse_both(url: str, one: tuple[str, tuple[str, ...]], other: tuple[str, tuple[str, ...]]) -> None:
    """Raises InputError for an address that two settings mean, of which only one can be."""
    (key, patterns), (other_key, others) = one, other
    first, second = meant([each for each in patterns if each != OTHERS], url), meant(others, url)
    if first and second:
        what = f"{url[:120]} is meant by {first}, and by {second} of {other_key}: nothing of it is fetched"
        raise InputError(what, f"Leave it out of {key} or of {other_key}", key=key)


def check(arm: Wishes, *, protocol: str, via: str, delaying: tuple[str, ...], server: str, title: str) -> None:
    """Raises InputError for what an arm's server and what is spoken cannot do. `delaying`: the servers that wait."""
    if arm.answer_delay and server not in delaying:
        what = f"{title} cannot wait before it answers"
        raise InputError(what, f"Write server: {' or '.join(delaying)}, or leave it out", key=ANSWER_DELAY)
    if arm.unreachable and via == "gateway":
        what = "the gateway gives up connections in its own time, not in a browser's"
        raise InputError(what, "Leave it out, or write via: browser", key=UNREACHABLE)
    if arm.unreachable and protocol == "h3":
        what = (
            "browsers give QUIC up after some seconds and go on by TCP, so a host that is gone is not what is measured"
        )
        raise InputError(what, "Leave it out, or write protocol: h2", key=UNREACHABLE)


def require_room(delays: Mapping[str, Duration], at_once: int | None, title: str, *, shared: bool) -> None:
    """Raises InputError where answers that wait would hold others of their HTTP/2 connection up. `at_once`: requests of
    one connection that the server works on; `shared`: hosts may share a connection."""
    hosts = Counter("" if shared else url.partition("/")[0] for url in delays)
    most = max(hosts.values(), default=0)
    if at_once is not None and most >= at_once:
        what = f"{most} answers of one HTTP/2 connection would wait, and {title} works on {at_once} of it at once"
        remedy = "Name fewer addresses, or write protocol: http/1.1, or addresses: per-origin"
        raise InputError(f"{what}: others would wait for them", remedy, key=ANSWER_DELAY)
