"""One request and its answer as they were on the wire: what recordings and archives consist of."""

from dataclasses import dataclass

from lanelab.driver.site.site import Headers


@dataclass(frozen=True, slots=True)
class Exchange:
    """Header fields are as they came, in order, each byte as one character (latin-1)."""

    method: str
    url: str  # absolute
    request_headers: Headers
    request_body: bytes
    status: int
    reason: str
    headers: Headers
    body: bytes  # without transfer coding, with its content coding
    protocol: str  # http/1.0, http/1.1, h2, spdy/3.1, …
    at_utc: str  # ISO 8601
    late: bool = False  # asked for after the load event
    connect_ms: float | None = None  # how long opening its connection took, TCP alone; None: nobody measured
    think_ms: int | None = None  # how long the server took for it beyond a round trip; None: nobody measured
