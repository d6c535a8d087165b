"""What every web server of a trial is to the rest of lanelab. To add one, add a folder beside this file and name it in
registry.py; docs/contributing.md shows how."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lanelab.driver.arm.servers.certificates import Leaf
from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.settings.setting import Setting, rows_of
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.node import Node
from lanelab.driver.record.evidence.server import Line
from lanelab.driver.site.site import Site

PORTS = {"http": 80, "https": 443}
LOOPBACK_NETWORK = "127.0.0"  # all of whose addresses a node has: it asks each of its servers at another
LOOPBACK = f"{LOOPBACK_NETWORK}.1"
BACK_END_PORT = 8080  # where a server behind a proxy listens, for its own node alone
NOBODY = "lanelab.invalid"  # the virtual host that answers to every name that the site does not have
# Headers of one connection: the arm decides about connections, and servers say themselves how long a body is.
CONNECTION_HEADERS = frozenset(
    ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "trailer", "upgrade")
)
# What of connections a witness besides the browser has to tell: the server's log, or else the capture.
WITNESSED = frozenset(("remote", "keepalives", "tls", "tls_resumed"))
# What of requests only a capture tells in whose packets they can be read: whole ones, in clear.
PLACED = frozenset(("remote", "began_us", "duration_us"))
# Headers that servers send by themselves.
OWN_HEADERS = frozenset(("content-type", "content-length", "date", "server", "accept-ranges"))
TLS_NAMES = {"1.2": "TLSv1.2", "1.3": "TLSv1.3"}


def require_behind(arm: WireSettings, title: str, able: tuple[str, ...]) -> None:
    """Raises InputError where a server cannot speak what the proxy in front of it speaks. `able`: what it can."""
    if arm.behind and arm.behind not in able:
        what = f"{title} does not speak {arm.behind} behind a proxy"
        raise InputError(what, f"Write proxy_protocol: {' or '.join(able)}, or another server", key="proxy_protocol")


def listens(arm: WireSettings) -> tuple[tuple[str, int, str], ...]:
    """Return the addresses and ports at which a server listens, each with its scheme."""
    if arm.behind:
        return ((LOOPBACK, BACK_END_PORT, "http"),)
    addresses = arm.at or ("0.0.0.0",)  # noqa: S104 - of its own node
    return tuple((address, PORTS[scheme], scheme) for scheme in arm.ports for address in addresses)


def asked_at(arm: WireSettings) -> tuple[tuple[str, int], ...]:
    """Return where its own node asks a server whether it is ready: at each of its ports, from 127.0.0.1, which logs of
    requests leave out."""
    return tuple(dict.fromkeys((arm.at[0] if arm.at else LOOPBACK, port) for _, port, _ in listens(arm)))


@dataclass(frozen=True, slots=True)
class Assignment:
    """Says what a server is to serve, and where on its node its things go."""

    arm: WireSettings
    site: Site
    folder: Path  # on the node, in memory, for servers alone
    leaf: Leaf | None = None  # with TLS
    programs: Mapping[str, Path] = field(default_factory=dict)  # those of `builds`, on this machine
    hints: tuple[str, ...] = ()  # values of Link that are sent in a 103 ahead of the page
    pushed: tuple[str, ...] = ()  # paths of the page's host that are pushed with it
    delays: Mapping[str, Duration] = field(default_factory=dict)  # how long answers wait, by host and path
    log_requests: bool = True  # False: not each, since the cost is not to be measured; see `sampled` of servers


@dataclass(frozen=True, slots=True)
class Content:
    """The content that a server answers from: files in the memory of its node, which are put there once for each
    site."""

    digest: str  # the same for the same files in the same places
    files: Callable[[], Mapping[str, bytes]]  # read when they are to be put there
    folders: tuple[str, ...] = ()  # besides those of the files; each ends with a slash


@dataclass(frozen=True, slots=True)
class QuicStack:
    """The implementation of QUIC within a server. What a link says of TCP is nothing to it."""

    library: str
    congestion_control: str  # by its source; there is no setting for it


@dataclass(frozen=True, slots=True)
class Place:
    """The places of things on the node."""

    folder: str  # the server's own: configuration, logs
    content: str  # the files of its Content

    @property
    def certificate(self) -> str:
        return f"{self.folder}/certificate.pem"

    @property
    def key(self) -> str:
        return f"{self.folder}/key.pem"


@dataclass(frozen=True, slots=True)
class SetUp:
    """A server that can be started."""

    argv: list[str]  # in the foreground
    check_argv: list[str]  # the server's own check of its configuration, without starting
    configuration: str
    files: Mapping[str, bytes]  # in its folder, besides certificate, key and logs
    version: str  # what it calls itself, where its first answer does not say so
    question: bytes = b""  # what any answer shows that it is ready to; empty: HTTP/1.1
    environment: Mapping[str, str] = field(default_factory=dict)
    holds_log: bool = False  # until it ends: it writes the last lines of its log then, and has to have the time


class Program(Protocol):
    """What servers and proxies have in common: a program that listens on the server node for the length of a trial."""

    @property
    def name(self) -> str:
        """Return what experiments call it: `server: nginx`."""

    @property
    def title(self) -> str:
        """Return what messages call it."""

    @property
    def graceful_signal(self) -> int:
        """Asks it to end when what it is doing is done."""

    @property
    def configuration_file(self) -> str:
        """Its name in the program's folder and among the artifacts of a trial."""

    def content(self, assignment: Assignment) -> Content | None:
        """Return what it answers from; None: nothing of its own."""

    def set_up(self, node: Node, assignment: Assignment, place: Place) -> SetUp:
        """Return how it serves this on this node. Raises MissingProgram."""

    def refused_directive(self, words: str, text: str) -> InputError | None:
        """Return the mistake in `server_directives` that its words are about, if they are about one. `text`: its
        configuration."""

    def unexpected(self, lines: Iterable[str]) -> list[str]:
        """Return the lines of its error log that speak against a trial."""


class Server(Program, Protocol):
    """One kind of web server. What has a value here is so with most."""

    for_page_loads: bool = True  # page loads can be judged: by its log of requests, by the capture for what is `untold`
    speaks_tls: bool = True
    always_offers_h2: bool = False  # with TLS, whatever the arm says: a browser that is to speak HTTP/1.1 must not
    counts_requests: bool = True  # what a connection carries, so that it can end one after a number
    sends_early_hints: bool = False  # 103, by HTTP/2
    delays_answers: bool = False  # as an arm's `answer_delay` says, without keeping other requests waiting
    needs_for_delays: tuple[str, ...] = ()  # besides `needs`
    at_once_on_http2: int | None = None  # requests of one connection that it works on at first; None: any number
    pushes: bool = False  # what an arm's `push` names
    limits_streams: bool = False  # to an arm's `server_max_streams`
    answers_posts: bool = False  # and other methods beside GET and HEAD, as they were recorded
    repeats_last_line: bool = False  # of its log: that of a connection's last request, when the connection ends
    sampled: frozenset[str] = frozenset()  # protocols of whose loads it logs a few requests of each second
    quic: QuicStack | None = None  # where it speaks HTTP/3

    @property
    def processes(self) -> tuple[str, ...]:
        """Return what the kernel calls its processes."""

    @property
    def protocols(self) -> frozenset[str]:
        """The values of `protocol` that an arm may have with it."""

    @property
    def compressions(self) -> frozenset[str]:
        """The values of `compression`, likewise."""

    @property
    def own_kind(self) -> type[OwnSettings]:
        """The settings that only this server has: a frozen dataclass whose fields are their rows."""

    @property
    def settings(self) -> tuple[Setting, ...]:
        return rows_of(self.own_kind)

    @property
    def directives(self) -> Kind:
        """Return how `server_directives` are written."""

    @property
    def clock_us(self) -> int:
        """The resolution of the times in its log of requests."""

    def untold(self, protocol: str) -> frozenset[str]:
        """The facts that its log does not have of requests by this protocol, as `ServedRequest` calls them: judges ask
        others."""

    def check(self, arm: WireSettings) -> None:
        """Raises InputError where settings contradict each other, or it cannot be behind such a proxy."""

    def needs(self, arm: WireSettings) -> tuple[str, ...]:
        """What its node must have installed, in the words of playbooks/vars/packages.yml (`for`)."""

    def builds(self, arm: WireSettings) -> tuple[str, ...]:
        """Return programs of lanelab's own that it needs for this arm, as driver/run/built_programs.py calls them."""

    def content(self, assignment: Assignment) -> Content:
        """Return what this server answers from."""

    def not_reproduced(self, site: Site) -> tuple[str, ...]:
        """Return what it cannot answer as it was recorded, in words, with the object's method and address."""

    def requests(self, lines: Iterable[str]) -> Sequence[Line]:
        """The lines of its log of requests: LoggedRequests where `remote`, `began_us` and `duration_us` are untold."""


def judged_by_capture(server: Server, protocol: str) -> bool:
    """Return whether page loads from it cannot do without a capture of the client."""
    return bool(server.untold(protocol) & WITNESSED)


def read_in_capture(server: Server, protocol: str) -> bool:
    """Return whether that capture must have its requests to be read: whole packets."""
    return bool(server.untold(protocol) & PLACED)
