"""What ChromeDriver's performance log holds: entries, and the page's DevTools events in them, with the fields that are
used. Pure.

A field that is no `NotRequired` is there, or the log cannot be read. Nothing is checked beyond that: a log has
thousands of entries, and is read while the next trial waits.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NotRequired, TypedDict


class Entry(TypedDict):
    """An entry of the performance log, whose message is JSON, or of the console's."""

    message: str
    level: NotRequired[str]
    source: NotRequired[str]


class SecurityDetails(TypedDict):
    protocol: NotRequired[str]


class RequestData(TypedDict):
    """A request as it is asked for."""

    url: str
    method: str
    urlFragment: NotRequired[str]
    headers: NotRequired[Mapping[str, str]]
    initialPriority: NotRequired[str]
    isLinkPreload: NotRequired[bool]


class Response(TypedDict, total=False):
    status: int
    headers: Mapping[str, str]
    headersText: str
    requestHeaders: Mapping[str, str]
    requestHeadersText: str
    mimeType: str
    protocol: str
    connectionId: float
    remoteIPAddress: str
    remotePort: int
    encodedDataLength: float
    timing: Mapping[str, float]
    securityDetails: SecurityDetails | None
    fromDiskCache: bool
    fromPrefetchCache: bool
    fromEarlyHints: bool


class OfRequest(TypedDict):
    """An event that is about a request."""

    requestId: str


class Initiator(TypedDict):
    type: NotRequired[str]


class WillBeSent(OfRequest):
    request: RequestData
    timestamp: float
    wallTime: NotRequired[float]
    type: NotRequired[str]
    initiator: NotRequired[Initiator | None]
    redirectResponse: NotRequired[Response]
    redirectHasExtraInfo: bool  # of the answer in redirectResponse: there is an ExtraInfo of it, too


class ExtraInfo(OfRequest):
    """Headers as they really were sent or received."""

    headers: Mapping[str, str]
    headersText: NotRequired[str]
    statusCode: NotRequired[int]


class ResponseReceived(OfRequest):
    response: Response
    type: NotRequired[str]


class DataReceived(OfRequest):
    dataLength: int
    encodedDataLength: NotRequired[int]


class LoadingEnd(OfRequest):
    timestamp: float
    encodedDataLength: NotRequired[float]
    blockedReason: NotRequired[str]
    errorText: NotRequired[str]


class Moment(TypedDict):
    timestamp: float


class SocketCreated(OfRequest):
    url: str


def messages(log: Iterable[Entry], target: str | None = None) -> Iterable[tuple[str, Any]]:
    """Yield the method and the parameters of each event, with `target` those of that page alone. The method says which
    of the types above the parameters have."""
    for entry in log:
        event = json.loads(entry["message"])
        if target is None or event.get("webview") in (None, target):
            yield event["message"]["method"], event["message"].get("params", {})
