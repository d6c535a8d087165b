"""What a record says about requests, in the words of the verdict and of the bound. Pure."""

import functools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from urllib.parse import urlsplit

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.record.evidence.browser import OnTheLink, Request
from lanelab.driver.record.evidence.gateway import GatewayRequest
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.site.prepare.variant import RECORDED
from lanelab.driver.site.redirects import leads_to
from lanelab.driver.site.site import SiteObject

RequestKey = tuple[str, str]  # method, host with path
INEXACT = ("stripped", "nearest")  # how the server found an answer
DOUBTFUL = ("nearest",)  # the other is the same object, asked for past a cache
OWN_REDIRECT = "non-authoritative-reason"
CONDITIONS = ("if-modified-since", "if-none-match")
WEB = ("http:", "https:")
REMEMBERED = 8192  # addresses: those of a large page, which each judge wants to have read


def on_network(requests: Iterable[Request]) -> list[Request]:
    """Return the requests that reach a server; data:, blob: and about: are the browser's own."""
    return [each for each in requests if each.url.startswith(WEB)]


def fetched(requests: Iterable[Request]) -> list[Request]:
    """Return the requests that were answered over the network."""
    return [each for each in on_network(requests) if not each.from_cache and was_answered(each)]


def fetched_from(hosts: Collection[str], requests: Iterable[Request]) -> list[Request]:
    """Return the requests that these hosts answered over the network."""
    return [each for each in fetched(requests) if host(each) in hosts]


def was_answered(request: Request) -> bool:
    """What began after the load event may still be under way when the trial ends: then the browser knows a status and
    no connection, and nothing else is known of it."""
    under_way = request.connection is None and not request.before_load
    return request.error is None and request.status is not None and not under_way


def is_own_redirect(request: Request) -> bool:
    """Return whether the browser gave this answer to itself: it knows already that the host wants TLS."""
    return any(name.lower() == OWN_REDIRECT for name, _ in request.response_headers)


def with_wire(requests: Sequence[Request], carried: Sequence[GatewayRequest]) -> tuple[Request, ...]:
    """The browser's requests, each with what the gateway noted of its way over the link as `wire`: those for the same
    thing in the order of asking. None where the browser had it without the gateway."""
    waiting: dict[str, list[GatewayRequest]] = {}
    for each in sorted(carried, key=lambda each: each.queued_ms):
        waiting.setdefault(each.url, []).append(each)
    joined = []
    for request in sorted(requests, key=lambda each: each.started_ms):
        same = [] if request.from_cache else waiting.get(target(request), [])
        joined.append(replace(request, wire=_on_the_link(same.pop(0)) if same else None))
    return tuple(joined)


def _on_the_link(carried: GatewayRequest) -> OnTheLink:
    return OnTheLink(**{field.name: getattr(carried, field.name) for field in fields(OnTheLink)})


def encoding(request: Request) -> str | None:
    """Return what the answer's body was compressed with."""
    return next((value for name, value in request.response_headers if name.lower() == "content-encoding"), None)


def led_to(requests: Iterable[Request]) -> set[str]:
    """Return the addresses to which redirects led."""
    led = (leads_to(each.url, each.status, each.response_headers) for each in requests)
    return {there for there in led if there}


def host(request: Request) -> str:
    return _name(request.url)


@functools.lru_cache(REMEMBERED)
def _name(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".")


def in_clear(arm: Arm, server_port: int | None) -> bool:
    """Return whether what goes to that port goes without TLS, in an arm that has TLS for the others: as the site's own
    addresses want it."""
    return arm.schemes == RECORDED and server_port == PORTS["http"]


def target(request: Request) -> str:
    return address_of(request.url)


@functools.lru_cache(REMEMBERED)
def address_of(url: str) -> str:
    """As a manifest names it: host, path and query, which may be there and empty. Sites are served at the usual ports:
    what is asked for at another one is another thing."""
    parts = urlsplit(url)
    has_query = "?" in url.partition("#")[0]
    port = "" if parts.port in (None, PORTS.get(parts.scheme)) else f":{parts.port}"
    return _name(url) + port + (parts.path or "/") + (f"?{parts.query}" if has_query else "")


def path_of(url: str) -> str:
    """Return the path without the query."""
    return url.partition("?")[0]


def asked_of(request: Request) -> RequestKey:
    return request.method, target(request)


def asked_for(each: SiteObject) -> RequestKey:
    """Return the key of the requests that it answers."""
    return each.method, each.url


def asked_for_a_part(request: Request) -> bool:
    """Of a video, say; media elements always do."""
    return request.type == "Media" or any(name.lower() == "range" for name, _ in request.request_headers)


def is_conditional(request: Request) -> bool:
    """Return whether the browser has an answer, and asks for one only if it has changed."""
    return any(name.lower() in CONDITIONS for name, _ in request.request_headers)


def inexact_targets(evidence: PageLoadEvidence, how: Collection[str] = INEXACT) -> list[str]:
    """Return what the server answered with an object that was recorded with another query, by its own log."""
    served = evidence.server.requests if evidence.server else ()
    return [f"{each.host}{each.path}" for each in served if each.match in how]


def few(items: list[str], most: int = 3) -> str:
    """Return the first of a list, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more
