"""What servers in the server node tell of a trial: the web server's log of requests, and the resolver's queries."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.record.evidence.ends import Ends


@dataclass(frozen=True, slots=True)
class ServedRequest(Coded):
    """A line of the web server's log of requests. docs/reference/server.md explains each key."""

    began_us: int  # since 1970: when it was read
    duration_us: int
    host: str | None
    method: str
    path: str | None
    status: int
    body_bytes: int
    sent_bytes: int | None  # None: the server does not say
    received_bytes: int | None  # likewise
    protocol: str | None  # None: the line was no request
    remote: str  # address:port of the client
    local: str  # the address is empty where the server does not say it
    keepalives: int | None  # requests before this one on its connection; None: the server does not say
    connection: str | None  # how it was left: + kept, - closed, X broken off; None: the server does not say
    encoding: str | None
    tls: str | None  # TLSv1.2, TLSv1.3; None without TLS, or where the server does not say
    tls_resumed: bool | None  # None without TLS, or where the server does not say
    spdy: str | None  # the version of SPDY, where it was spoken
    match: str | None  # how the answer was found: exact, stripped, nearest, none; None: the server does not say

    @property
    def ends(self) -> Ends:
        """Return the ends of its connection."""
        return Ends.of(self.remote, self.local)


@dataclass(frozen=True, slots=True)
class LoggedRequest(Coded):
    """A line of a log that names no port of the client, as those in the common format. The client's capture tells of
    which connection it is, and when it was asked: then it is a ServedRequest."""

    client: str  # address
    method: str
    host: str | None  # None: the server does not say
    path: str | None  # None: the line was no request
    protocol: str | None  # likewise
    status: int
    body_bytes: int | None  # None: the server does not say
    connection_bytes: int | None  # all that its connection had carried to the client until then; None: likewise
    why: str | None = None  # the capture does not tell its connection; None: nobody has looked


Line = ServedRequest | LoggedRequest


@dataclass(frozen=True, slots=True)
class ServerLog(Coded):
    """Says what the web server was, and what it reports of the trial."""

    program: str  # as it calls itself
    configuration: str
    error_lines: tuple[str, ...]  # unexpected ones
    requests: tuple[ServedRequest, ...]
    unplaced: tuple[LoggedRequest, ...] = ()  # of these nobody knows the connection


@dataclass(frozen=True, slots=True)
class Query(Coded):
    """A name that the resolver was asked for."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class ResolverLog(Coded):
    queries: tuple[Query, ...]
