"""The load of a server in the bed process: the web server and its client, both in the server node."""

from __future__ import annotations

import time

from driver.bed.node import NODE_NAMES, Completed, Node
from driver.experiment.model import ServerLoadSettings
from driver.recorders.of_trial import TrialRecorders
from driver.recorders.recorder import Context
from driver.servers.server import PORTS
from driver.workloads.server_load import client
from driver.workloads.server_load.client import H2LOAD, SPDY_LOAD, Target
from driver.workloads.serving import Served
from driver.workloads.spec import TrialSpec
from driver.workloads.workload import BedPlace
from model.clock import utc_now
from model.errors import BedError, RecordError
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
        self._recorders = TrialRecorders({})
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
        self._start_recorders(spec)
        self._prepare_s = time.monotonic() - started
        return tuple(self._failures)

    def _start_recorders(self, spec: TrialSpec) -> None:
        substrate, scratch = self._place.substrate, self._place.folder
        nodes = {name: substrate.node(name) for name in NODE_NAMES}
        self._recorders = TrialRecorders(spec.recorders)
        self._recorders.start(Context(nodes, substrate.machines(), scratch, spec.folder))

    def run(self) -> TrialRecord:
        """Load the server with our client; then, where it can and there is one, with the other."""
        if self._spec is None:
            raise BedError("no trial was prepared")
        spec, started_utc, began = self._spec, utc_now(), time.monotonic()
        deadline = began + spec.timeout_s
        report, second, asked = None, None, False
        if self._served and not self._failures:
            load, target = ServerLoadSettings.from_json(spec.options), target_of(spec)
            self._recorders.load_begins()
            report = self._load(load, target, deadline)
            self._recorders.load_ended()
            other = self._second_client() if target.protocol == "h2" else ""
            asked = bool(other)
            second = self._load_again(client.h2load(other, load, target), deadline) if other else None
        evidence = ServerLoadEvidence(report, second, asked, self._server())
        marks = {"prepare_s": round(self._prepare_s, 4), "load_s": round(time.monotonic() - began, 4)}
        recordings = self._recorders.stop(loaded=True)
        recorded = recordings.values()
        failures = (*self._failures, *self._recorders.failures)
        return TrialRecord(
            workload=SERVER_LOAD,
            started_utc=started_utc,
            measures={name: value for each in recorded for name, value in each.measures.items()},
            series={name: series for each in recorded for name, series in each.series.items()},
            requests=(),
            failures=failures,
            artifacts=tuple(sorted(path.name for path in spec.folder.iterdir())),
            marks=marks,
            evidence=evidence,
            flags=tuple(flag for each in recorded for flag in each.flags),
            recordings={name: each.evidence for name, each in recordings.items() if each.evidence},
        )

    def _load(self, load: ServerLoadSettings, target: Target, deadline: float) -> LoadReport | None:
        try:
            done = self._run(client.spdy_load(self._program, load, target), deadline)
            report = client.read_spdy_load(done.stdout)
        except BedError as error:
            self._failures.append(Failure(Reason.TIMEOUT, str(error)))
            return None
        except RecordError as error:
            self._failures.append(Failure(Reason.EVIDENCE_MISSING, str(error)))
            return None
        if report is None:
            last_words = "; ".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-LAST_WORDS:])
            self._failures.append(
                Failure(Reason.FAILED_REQUESTS, f"the client ended with status {done.status}: {last_words}")
            )
        return report

    def _load_again(self, argv: list[str], deadline: float) -> SecondReport | None:
        try:
            return client.read_h2load(self._run(argv, deadline).stdout)
        except BedError as error:
            self._failures.append(Failure(Reason.TIMEOUT, str(error)))
            return None

    def _run(self, argv: list[str], deadline: float) -> Completed:
        return self._node.run(argv, check=False, timeout_s=max(0.1, deadline - time.monotonic()))

    def _second_client(self) -> str:
        """Where h2load is on the node; "" where it is not."""
        located = self._node.run(["sh", "-c", f"command -v {H2LOAD}"], check=False)
        return located.stdout.strip() if located.status == 0 else ""

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

    def halt(self) -> None:
        """A load of this kind takes seconds: it may end by itself."""

    def end(self) -> None:
        """End the server."""
        self._recorders.close()
        served, self._served, self._spec = self._served, None, None
        if served:
            served.stop()


def target_of(spec: TrialSpec) -> Target:
    """What is asked for, on the server's own loopback."""
    scheme, load = spec.arm.scheme, ServerLoadSettings.from_json(spec.options)
    asked = client.objects(spec.site)
    return Target(
        urls=tuple(f"{scheme}://{each.url}" for each in asked),
        connect=f"127.0.0.1:{PORTS[scheme]}",
        protocol=spec.arm.protocol,
        requests=client.requests(load, client.sizes(spec.site)),
    )
