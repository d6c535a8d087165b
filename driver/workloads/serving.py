"""The server node's part of a trial: the web server with the site, and where names are looked up the resolver.

Every workload serves a site in the same way. What was started for one trial is ended before the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from driver.bed.node import Node
from driver.servers.certificates import Authority, Leaf
from driver.servers.life import RunningServer, check_configuration
from driver.servers.resolver import Resolver, use_resolver
from driver.servers.server import Assignment
from driver.shaping.addresses import origin_addresses
from driver.workloads.spec import TrialSpec
from model.errors import InputError
from model.metrics import PAGE_LOAD

TLS = "https"


@dataclass(frozen=True, slots=True)
class Served:
    """What runs in the server node for one trial."""

    server: RunningServer
    resolver: Resolver | None

    def require_alive(self) -> None:
        """Raises ServerError when a server has ended by itself."""
        self.server.require_alive()

    def forget(self) -> None:
        """Leave out of the logs what was asked until now."""
        self.server.requests()
        self.server.error_lines()
        if self.resolver:
            self.resolver.queries()

    def stop(self) -> None:
        self.server.stop()
        if self.resolver:
            self.resolver.stop()


class Serving:
    """Serves the sites of one bed's trials, one after the other."""

    def __init__(self, client: Node, server: Node, folder: Path) -> None:
        """`folder`: in memory on the server node."""
        self._client, self._server, self._folder = client, server, folder
        self._client_asks_resolver = False
        self._leaves: dict[tuple[Path, tuple[str, ...], str], Leaf] = {}

    def addresses(self, spec: TrialSpec) -> Mapping[str, str]:
        """Of the site's hosts."""
        return origin_addresses(spec.site.hosts, spec.arm.addresses)

    def certificate(self, spec: TrialSpec) -> Leaf | None:
        """What the server shows; None without TLS."""
        return self.certificate_of_kind(spec, spec.arm.tls_certificate) if spec.arm.scheme == TLS else None

    def certificate_of_kind(self, spec: TrialSpec, kind: str) -> Leaf:
        """A certificate for all hosts of the site. It is made once."""
        key = (spec.authority, spec.site.hosts, kind)
        if key not in self._leaves:
            self._leaves[key] = Authority.make(spec.authority).leaf(spec.site.hosts, kind)
        return self._leaves[key]

    def authority(self, spec: TrialSpec) -> bytes:
        """The certificate with which those of the servers are signed, as PEM."""
        return Authority.make(spec.authority).certificate.read_bytes()

    def let_client_ask(self) -> None:
        """The client looks names up at the resolver, for as long as the bed lives: other trials look up none."""
        if not self._client_asks_resolver:
            use_resolver(self._client)
            self._client_asks_resolver = True

    def start(self, spec: TrialSpec) -> Served:
        """Start what the trial needs. Raises ServerError; InputError where the server refuses an arm's directives."""
        resolver = None
        if spec.arm.dns == "resolver":
            resolver = Resolver.start(self._server, self.addresses(spec), self._folder / "resolver")
        try:
            server = RunningServer.start(self._server, self._assignment(spec, "server"))
        except BaseException:
            if resolver:
                resolver.stop()
            raise
        return Served(server, resolver)

    def check(self, spec: TrialSpec) -> None:
        """Let the server read its configuration: only it knows all directives. Raises InputError."""
        try:
            check_configuration(self._server, self._assignment(spec, "check"))
        except InputError as error:
            error.key = f"arms.{spec.arm.name}.{error.key or 'server_directives'}"
            raise

    def _assignment(self, spec: TrialSpec, folder: str) -> Assignment:
        return Assignment(
            arm=spec.arm,
            site=spec.site,
            folder=self._folder / folder,
            leaf=self.certificate(spec),
            programs=spec.built,
            log_requests=spec.workload == PAGE_LOAD,  # no judge of a load reads them, and they cost it requests
        )
