"""The server node's part of a trial: the web server with the site, and where names are looked up the resolver.

Every workload serves a site in the same way. What was started for one trial is ended before the next.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.groups import groups
from lanelab.driver.arm.proxies.registry import proxy_of
from lanelab.driver.arm.servers.certificates import Authority, Leaf
from lanelab.driver.arm.servers.life import Running, RunningServer, check_configuration
from lanelab.driver.arm.servers.resolver import Resolver, use_resolver
from lanelab.driver.arm.servers.server import LOOPBACK_NETWORK, Assignment
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.addresses import origin_addresses
from lanelab.driver.bed.commands import run_ip
from lanelab.driver.bed.dead_addresses import dead_addresses, dropping_line, is_dead
from lanelab.driver.bed.node import Node
from lanelab.driver.link import Link
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.site.hints import hints
from lanelab.driver.site.push_plan import pushed_paths
from lanelab.driver.site.site import Site
from lanelab.driver.trial.spec import TrialSpec

TLS = "https"
RECORDED_ALPN = ("h3", "h2")  # in the order of preference


def spoken_by_record(arm: Arm) -> tuple[str, ...]:
    """What the HTTPS records of an arm's names say that its server speaks; nothing where there are none."""
    return RECORDED_ALPN if arm.protocol == "h3" and arm.h3_discovery == "https-record" else ()


def addresses_of(arm: Arm, site: Site, link: Link) -> dict[str, str]:
    """Return the address of each host of a site. The router tells by it how far away the host is."""
    dead = dead_addresses(ThirdParties.of(arm, site).dead_hosts)
    return {**origin_addresses(site.hosts, arm.addresses, link.distance_to), **dead}


def sockets_at(arm: Arm, addresses: Iterable[str], number: int = 0, *, beside: bool = False) -> tuple[str, ...]:
    """Return the addresses at each of which a server has a socket of its own; none: one socket does for all. By QUIC it
    would answer from the node's own address then, whichever of a site's it was asked at; and `beside` others it has to
    leave theirs free. At the first address it is asked whether it is ready: `number` is that of the server."""
    if arm.addresses == "shared" or not (beside or arm.protocol == "h3"):
        return ()
    return (f"{LOOPBACK_NETWORK}.{number + 1}", *(each for each in addresses if not is_dead(each)))


@dataclass(frozen=True, slots=True)
class Served:
    """The programs that run in the server node for one trial."""

    server: RunningServer
    resolver: Resolver | None
    proxy: Running | None = None  # in front of the server; clients meet it
    others: tuple[RunningServer, ...] = ()  # beside the server of the page: of hosts with one of their own

    @property
    def folders(self) -> Mapping[str, str]:
        """The folder in which the processes of each role work, and nobody else's. Roles are those of
        driver/record/load_series.py."""
        if self.proxy:
            return {"proxy": self.proxy.folder, "back_end": self.server.folder}
        return {"server": self.server.folder}

    @property
    def servers(self) -> tuple[RunningServer, ...]:
        return (self.server, *self.others)

    def require_alive(self) -> None:
        """Raises ServerError when a server or its proxy has ended by itself."""
        for each in self.servers:
            each.require_alive()
        if self.proxy:
            self.proxy.require_alive()

    def forget(self) -> None:
        """Leave out of the logs what was asked until now."""
        for each in self.servers:
            each.requests()
            each.error_lines()
        if self.proxy:
            self.proxy.error_lines()
        if self.resolver:
            self.resolver.queries()

    def stop(self) -> None:
        self._end(lambda running: running.stop())

    def kill(self) -> None:
        """End all at once. Nothing more is read of them."""
        self._end(lambda running: running.kill())

    def _end(self, end: Callable[[Running], None]) -> None:
        with ExitStack() as stack:  # each of them, whatever becomes of the others
            if self.resolver:
                stack.callback(self.resolver.stop)
            for each in self.servers:
                stack.callback(end, each)
            if self.proxy:
                stack.callback(end, self.proxy)


class Serving:
    """Serves the sites of one bed's trials, one after the other."""

    def __init__(
        self, client: Node, server: Node, folder: Path, link: Callable[[], Link] = lambda: Link.parse({})
    ) -> None:
        """Begin with nothing that runs. `folder` is in memory on the server node; `link`: that the bed has now."""
        self._link = link
        self._client, self._server, self._folder = client, server, folder
        self._client_asks_resolver = self._drops_packets = False
        self._leaves: dict[tuple[Path, tuple[str, ...], str], Leaf] = {}

    def addresses(self, spec: TrialSpec) -> Mapping[str, str]:
        """Of the site's hosts."""
        return addresses_of(spec.arm, spec.site, self._link())

    def certificate(self, spec: TrialSpec) -> Leaf | None:
        """Return what the server shows; None without TLS."""
        return self.certificate_of_kind(spec, spec.arm.tls_certificate) if spec.arm.scheme == TLS else None

    def certificate_of_kind(self, spec: TrialSpec, kind: str) -> Leaf:
        """Return a certificate for all hosts of the site. It is made once."""
        key = (spec.authority, spec.site.hosts, kind)
        if key not in self._leaves:
            self._leaves[key] = Authority.make(spec.authority).leaf(spec.site.hosts, kind)
        return self._leaves[key]

    def authority(self, spec: TrialSpec) -> bytes:
        """Return the certificate with which those of the servers are signed, as PEM."""
        return Authority.make(spec.authority).certificate.read_bytes()

    def let_client_ask(self) -> None:
        """The client looks names up at the resolver, for as long as the bed lives: other trials look up none."""
        if not self._client_asks_resolver:
            use_resolver(self._client)
            self._client_asks_resolver = True

    def _drop_packets(self) -> None:
        """Let the server node drop what is for dead addresses, for as long as the bed lives: other trials ask none."""
        if not self._drops_packets:
            run_ip([dropping_line()], node=self._server)
            self._drops_packets = True

    def start(self, spec: TrialSpec) -> Served:
        """Start what the trial needs. Raises ServerError; InputError where the server refuses an arm's directives."""
        if spec.arm.unreachable:
            self._drop_packets()
        resolver = None
        if spec.arm.dns == "resolver":
            folder, spoken = self._folder / "resolver", spoken_by_record(spec.arm)
            resolver = Resolver.start(self._server, self.addresses(spec), folder, spoken)
        started: list[Running] = []
        servers: list[RunningServer] = []
        try:
            for assignment in self._assignments(spec, "server"):
                servers.append(RunningServer.start(self._server, assignment))
                started.append(servers[-1])
            proxy = self._start_proxy(spec)
        except BaseException:
            for running in started:
                running.stop()
            if resolver:
                resolver.stop()
            raise
        return Served(servers[0], resolver, proxy, tuple(servers[1:]))

    def _start_proxy(self, spec: TrialSpec) -> Running | None:
        """Start the proxy in front of the server, which answers already."""
        proxy = proxy_of(spec.arm)
        return Running.begin(self._server, self._assignment(spec, "proxy"), proxy) if proxy else None

    def check(self, spec: TrialSpec) -> None:
        """Let the server read its configuration: only it knows all directives. Raises InputError."""
        try:
            for assignment in self._assignments(spec, "check"):
                check_configuration(self._server, assignment)
            if proxy := proxy_of(spec.arm):
                check_configuration(self._server, self._assignment(spec, "check-proxy"), proxy)
        except InputError as error:
            error.key = f"arms.{spec.arm.name}.{error.key or 'server_directives'}"
            raise

    def _assignments(self, spec: TrialSpec, folder: str) -> Iterator[Assignment]:
        """Yield what each server of the trial serves, that of the page first."""
        parts = groups(spec.arm, spec.site)
        if len(parts) == 1:
            yield self._behind(spec, folder)
            return
        whole, addresses = self._assignment(spec, folder), self.addresses(spec)
        for number, part in enumerate(parts):
            hosts = part.site.hosts
            at = sockets_at(part.arm, (addresses[host] for host in hosts), number, beside=True)
            yield replace(
                whole,
                arm=replace(part.arm, at=at),
                site=part.site,
                folder=self._folder / (f"{folder}-{number}" if number else folder),
                pushed=() if number else whole.pushed,
                hints=() if number else whole.hints,
                delays={url: wait for url, wait in whole.delays.items() if url.partition("/")[0] in hosts},
            )

    def _assignment(self, spec: TrialSpec, folder: str) -> Assignment:
        return Assignment(
            arm=replace(spec.arm, at=sockets_at(spec.arm, self.addresses(spec).values())),
            site=spec.site,
            folder=self._folder / folder,
            leaf=self.certificate(spec),
            programs=spec.built,
            pushed=pushed_paths(spec.site, spec.arm.push),
            hints=tuple(each.header for each in hints(spec.site, spec.arm.early_hints, "early_hints")),
            delays=ThirdParties.of(spec.arm, spec.site).delays,
            log_requests=spec.workload != LOAD,  # no judge of a load reads them, and they cost it requests
        )

    def _behind(self, spec: TrialSpec, folder: str) -> Assignment:
        """Return what the server serves: to its proxy, in clear, where it has one."""
        arm, assignment = spec.arm.back_end(), self._assignment(spec, folder)
        if arm is spec.arm:
            return assignment
        objects = tuple(replace(each, scheme="http") for each in spec.site.objects)
        return replace(assignment, arm=arm, site=replace(spec.site, objects=objects), leaf=None)
