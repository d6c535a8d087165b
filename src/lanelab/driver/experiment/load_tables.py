"""The keys of `workload` in an experiment file: of a server under load, and of a fetch."""

import re
from fractions import Fraction

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import FLAG, NUMBER, Kind, choice, count, pattern
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.units import Duration, Size
from lanelab.driver.record.metrics import FETCH, LOAD, PAGE_LOAD
from lanelab.driver.trial.load_settings import PAGE
from lanelab.driver.trial.server_load.registry import DEFAULT, GENERATORS

MOST_USERS = 100_000
FETCH_KEYS = ("objects", "at_once", "warm")  # which mean nothing where a server is put under load
_MINUTES = re.compile(rf"\s*(?P<number>{NUMBER})\s*min\s*")


def _most(value: object, key: str) -> int:
    size = Size.parse(value, key=key)
    if not size:
        raise InputError("no request could be made", "Write a size like 100MB", key=key)
    return size.bytes


def read_long_duration(value: object, key: str) -> Duration:
    """Return a duration, also in minutes: loads take that long."""
    minutes = _MINUTES.fullmatch(value) if isinstance(value, str) else None
    if minutes:
        return Duration(int(Fraction(minutes["number"]) * 60 * 10**9))
    return Duration.parse(value, key=key)


LONG_DURATION = Kind(
    "DURATION",
    "`ms`, `s`, `min`",
    read_long_duration,
    pattern(rf"^\s*{NUMBER}\s*([nuµμmNUM]?[sS]|min)\s*$"),
    numeric=True,
)
# fmt: off
WORKLOAD = Table((
    Setting("kind", choice("WORKLOAD", PAGE_LOAD, LOAD, FETCH), PAGE_LOAD, "what a trial does", LOAD),
    Setting("generator", choice("GENERATOR", *GENERATORS), DEFAULT,
        "what loads the server: users with k6, or one of the programs that ask for objects as fast as they "
        "can", "wrk"),
    Setting("script", None, PAGE,
        "what each user does again and again: `page` loads the page and all that its host has, as a browser would; "
        "`object` asks for the objects in turn; `slow` for an answer that takes its time; or a "
        "k6 script of your own", "users.js",
        "`page`, `object`, `slow`, or a path below the file's folder"),
    Setting("users", None, "", "how many users there are, each of whom waits for a page before the next",
        "{from: 1, to: 1000, over: 20min}", "a number with `duration`, a list of such numbers, or [keys](#users)",
        "this, or `arrivals`"),
    Setting("arrivals", None, "", "how many pages begin per second, however slow the server is", "50",
        "as `users`", "this, or `users`"),
    Setting("duration", LONG_DURATION, "", "how long a steady number, or wrk, goes on", "60s",
        default_words="none; with wrk `10s`"),
    Setting("think", LONG_DURATION, "0s", "how long a user waits after each page", "5s"),
    Setting("limit", LONG_DURATION, "3s", "the service level: how long a page may take", "2s"),
    Setting("warm_up", LONG_DURATION, "0s", "the beginning that counts in series only", "10s"),
    Setting("request_timeout", LONG_DURATION, "60s", "how long a request may take", "10s"),
    Setting("parameters", None, "", "what the script is given", "{lines: 100, every_ms: 10000}",
        "a mapping of names and values", "none"),
    Setting("thresholds", None, "", "the highest value that a metric may have; the report says which were passed",
        "{page_95: 3000}", "a mapping of metrics, each with a number in its unit", "none"),
    Setting("connections", count("CONNECTIONS", "connections", 1, 20_000), "8",
        "connections, all open before the clock starts; not with k6", "[1, 10, 100]", "1 to 20000, or a list"),
    Setting("streams", count("STREAMS", "requests", 1, 1000), "1",
        "requests under way at once on each connection; not with k6", "16"),
    Setting("requests", count("REQUESTS", "requests", 1, 100_000_000), "10000",
        "how many are made in a trial; not with k6 and wrk", "1000"),
    Setting("most", Kind("SIZE", "`kB`, `MB`, `GB`", _most), "100GB",
        "of large objects fewer requests are made: so many that the answers are no more than this; not with k6",
        "100MB"),
    Setting("objects", None, "",
        "which objects of the site are fetched, in its order: patterns of addresses, or of paths where they begin "
        "with /",
        "[\"/img/*\", \"*.css\"]", "a pattern or a list; `*` is anything, `?` one character", "all"),
    Setting("at_once", count("OBJECTS", "objects", 1, 1000), "1", "how many objects are under way at once", "[1, 6]",
        "1 to 1000, or a list"),
    Setting("warm", FLAG, "false",
        "whether all is fetched once before, unmeasured, over the connections that then carry what is measured",
        "true"),
), of=" of a workload")
LOAD_USERS = Table((
    Setting("from", count("USERS", "users", 0, MOST_USERS), "0", "how many there are at the beginning", "1"),
    Setting("to", count("USERS", "users", 0, MOST_USERS), "", "how many there are at the end", "1000",
        default_words="none"),
    Setting("over", LONG_DURATION, "", "how long it takes from the one to the other", "20min", default_words="none"),
    Setting("stages", None, "", "instead of `to` and `over`: one such after the other",
        "[{to: 100, over: 10s}, {to: 100, over: 60s}]", "a list of `{to, over}`", "none"),
), of=" of users")
LOAD_STAGE = Table(LOAD_USERS.settings[1:3], of=" of a stage")
# fmt: on
