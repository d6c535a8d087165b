"""What all generators share that ask for objects of one host as fast as they can. Pure."""

from collections.abc import Collection, Sequence
from urllib.parse import SplitResult, urlsplit

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.record.evidence.load import ErrorCount
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load import targets
from lanelab.driver.trial.server_load.generator import Output, Target
from lanelab.driver.trial.server_load.targets import requests_wanted

SHIPPED = ("recorded", "off")  # compressions with which the answers have the sizes of the site's objects
# What a generator says that it takes, where answers are to be compressed.
ENCODINGS = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}
LAST_LINES = 3
HTTP_1 = "http/1.1"


def requests_of(target: Target) -> int:
    """Return how many to make."""
    return requests_wanted(target.settings, target.body_sizes)


def connections_of(target: Target) -> int:
    """Return the connections, which are no more than requests: h2load and ab refuse that."""
    return min(target.settings.connections, requests_of(target))


def bytes_of(target: Target, answers: int) -> int | None:
    """Return the bytes of the bodies of that many answers, in turn; None where only the server knows."""
    known = [size for size in target.body_sizes if size is not None]
    if target.arm.compression not in SHIPPED or len(known) < len(target.body_sizes):
        return None
    return targets.bytes_of(answers, known)


def other_bytes(expected: int | None, received: int) -> bool:
    """Return whether the answers are not the site's objects, by their length."""
    return expected is not None and received != expected


def one_host(target: Target) -> tuple[SplitResult, ...]:
    """Return the URLs, taken apart. Raises InputError where they are on several hosts."""
    urls = tuple(urlsplit(url) for url in target.urls)
    if len({url.netloc for url in urls}) > 1:
        what = f"{target.settings.generator} asks one host, and these objects are on several"
        raise InputError(what, "Name a site with a path, or site/* for all objects of its first host", key="sites")
    return urls


def path_of(url: SplitResult) -> str:
    return f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"


def accepted(arm: Arm) -> str:
    """Return what goes into Accept-Encoding; "" where nothing does."""
    return ENCODINGS.get(arm.compression, "")


def check_protocol(settings: LoadSettings, arm: Arm, spoken: Collection[str]) -> None:
    """Raises InputError where the generator does not speak what the arm does."""
    if arm.protocol in spoken:
        return
    what = f"{settings.generator} speaks {' and '.join(spoken)}, and the arm {arm.name!r} has {arm.protocol}"
    raise InputError(what, f"Write another generator: {_others(arm.protocol)}", key="generator")


def _others(protocol: str) -> str:
    others = {HTTP_1: "k6, wrk, h2load or ab", "h2": "k6, h2load or spdy-load", "h3": "k6"}
    return others.get(protocol, "k6 or spdy-load")


def check_streams(settings: LoadSettings, arm: Arm) -> None:
    """Raises InputError for more than one request at once on a connection that carries one."""
    if arm.protocol == HTTP_1 and settings.streams > 1:
        what = f"HTTP/1.1 carries one request after the other, so {settings.streams} streams do nothing"
        raise InputError(what, "Leave streams out, and write more connections", key="streams")


def check_requests(settings: LoadSettings, most: int) -> None:
    """Raises InputError where there are too few requests for all connections, or too many to write each down."""
    if settings.requests < settings.connections:
        what = f"{settings.requests} requests are too few for {settings.connections} connections"
        raise InputError(what, "Write more requests", key="requests")
    if settings.requests > most:
        what = f"{settings.generator} writes each request down, in memory, so it makes {most:,} at most in a trial"
        raise InputError(what, "Write fewer requests, or generator: wrk", key="requests")


def last_words(output: Output) -> str:
    """Return why a generator came to no report."""
    lines = [line.strip() for line in f"{output.stdout}\n{output.stderr}".splitlines() if line.strip()]
    words = "; ".join(lines[-LAST_LINES:]) or "it said nothing"
    status = "" if output.status is None else f" with status {output.status}"
    return f"it ended{status} and without a report: {words}"


def text_of(data: bytes, name: str) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise RecordError("is no text", "Run the trial again", key=name) from None


def counted(ms: Sequence[float]) -> ErrorCount:
    """Return requests that failed in one way, with how long each took."""
    ordered = sorted(ms)
    return ErrorCount(len(ordered), ordered[(len(ordered) - 1) // 2], ordered[-1])


def of_unknown_time(count: int) -> ErrorCount:
    return ErrorCount(count, None, None)
