"""The load of a server in the bed process: the web server and its client, both in the server node."""

from __future__ import annotations

import time

from driver.bed.node import Node
from driver.experiment.model import LoadSettings
from driver.servers.apache import PORTS
from driver.workloads.server_load import client
from driver.workloads.server_load.client import H2LOAD, SPDY_LOAD, Target
from driver.workloads.serving import Served
from driver.workloads.spec import TrialSpec
from driver.workloads.workload import BedPlace
from model.clock import utc_now
from model.errors import BedError
from model.evidence.server_load import LoadReport, SecondReport, ServedBy, ServerLoadEvidence
from model.metrics import SERVER_LOAD
from model.reasons import Failure, Reason
from model.record import TrialRecord

LAST_WORDS = 3  # lines of a client that failed


class ServerLoadOnBed:
    """One load at a time."""

    def __init__(self, place: BedPlace) -> None:
        self._place = place
        self._node: Node = place.substrate.node("server")
        self._program = ""  # spdy-load on the node
        self._spec: TrialSpec | None = None
        self._served: Served | None = None
        self._failures: list[Failure] = []
        self._prepare_s = 0.0

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        """Start the server."""
        started = time.monotonic()
        self._spec, self._failures = spec, []
        try:
            self._served = self._place.serving.start(spec)
            if not self._program:
                target = f"{self._place.folder}/{SPDY_LOAD}"
                self._node.put(spec.built[SPDY_LOAD], target, 0o755)
                self._program = target
        except BedError as error:
            self._failures.append(Failure(Reason.SERVER_FAILED, str(error)))
        self._prepare_s = time.monotonic() - started
        return tuple(self._failures)

    def run(self) -> TrialRecord:
        """Load the server with our client; then, where it can and there is one, with the other."""
        if self._spec is None:
            raise BedError("no trial was prepared")
        spec, started_utc, began = self._spec, utc_now(), time.monotonic()
        report, second, asked = None, None, False
        if self._served and not self._failures:
            load, target = LoadSettings.from_json(spec.options), target_of(spec)
            report = self._load(load, target, spec.timeout_s)
            other = self._second_client() if target.protocol == "h2" else ""
            asked = bool(other)
            second = self._load_again(client.h2load(other, load, target), spec.timeout_s) if other else None
        evidence = ServerLoadEvidence(report, second, asked, self._server())
        marks = {"prepare_s": round(self._prepare_s, 4), "load_s": round(time.monotonic() - began, 4)}
        failures, files = tuple(self._failures), tuple(sorted(path.name for path in spec.folder.iterdir()))
        return TrialRecord(SERVER_LOAD, started_utc, {}, {}, (), failures, files, marks, evidence)

    def _load(self, load: LoadSettings, target: Target, timeout_s: float) -> LoadReport | None:
        try:
            done = self._node.run(client.spdy_load(self._program, load, target), check=False, timeout_s=timeout_s)
        except BedError as error:
            self._failures.append(Failure(Reason.TIMEOUT, str(error)))
            return None
        report = client.read_spdy_load(done.stdout)
        if report is None:
            said = "; ".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-LAST_WORDS:])
            self._failures.append(
                Failure(Reason.FAILED_REQUESTS, f"the client ended with status {done.status}: {said}")
            )
        return report

    def _load_again(self, argv: list[str], timeout_s: float) -> SecondReport | None:
        try:
            return client.read_h2load(self._node.run(argv, check=False, timeout_s=timeout_s).stdout)
        except BedError as error:
            self._failures.append(Failure(Reason.TIMEOUT, str(error)))
            return None

    def _second_client(self) -> str:
        """Where h2load is on the node; "" where it is not."""
        found = self._node.run(["sh", "-c", f"command -v {H2LOAD}"], check=False)
        return found.stdout.strip() if found.status == 0 else ""

    def _server(self) -> ServedBy | None:
        if self._served is None:
            return None
        server = self._served.server
        try:
            server.require_alive()
            return ServedBy(server.version, server.configuration, tuple(server.error_lines()))
        except BedError as error:
            self._failures.append(Failure(Reason.SERVER_FAILED, str(error)))
            return None

    def end(self) -> None:
        """End the server."""
        served, self._served, self._spec = self._served, None, None
        if served:
            served.stop()


def target_of(spec: TrialSpec) -> Target:
    """The site's entry, asked for on the server's own loopback."""
    scheme = spec.arm.scheme
    return Target(spec.site.url(scheme), f"127.0.0.1:{PORTS[scheme]}", spec.arm.protocol, client.entry_size(spec.site))
