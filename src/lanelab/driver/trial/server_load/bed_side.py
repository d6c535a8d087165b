"""A load in the bed process: servers on the server node, the load generator on the client."""

import re
import shlex
import threading
import time
from collections.abc import Mapping

from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.life import Running
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import PORTS
from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import BedError, InputError, NodeError, RecordError
from lanelab.driver.bed.node import NODE_NAMES, Node
from lanelab.driver.record.evidence.load import LoadEvidence, ServedBy
from lanelab.driver.record.evidence.spoken import NodeDatagrams, SpokenEvidence
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.record.series import Series
from lanelab.driver.trial.datagrams import counted, counted_since
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.recorders.recorder import Context, Role
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from lanelab.driver.trial.server_load.first_packets import FILE, FirstPackets
from lanelab.driver.trial.server_load.generator import Generator, Output, Results, Target
from lanelab.driver.trial.server_load.generator_life import RunningGenerator
from lanelab.driver.trial.server_load.registry import GENERATORS
from lanelab.driver.trial.server_load.spoken import seconds_logged, served_by_protocol
from lanelab.driver.trial.server_load.targets import targets_of
from lanelab.driver.trial.serving import Served
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import BedPlace, BedSide

SHOWN_CHARACTERS = 400
# Of what k6 says: where its own reading of the script failed, and paths of the folder it works in.
_AROUND = re.compile(r"^(?:Error: |could not initialize '[^']*': |could not load JS test '[^']*': )*")
_OF_SCRIPT = re.compile(r"script\.js:\d+:\d+")  # a line of what called what
_FOLDER = re.compile(r"file:///\S*/")


def check_script(node: Node, generator: Generator, target: Target) -> None:
    """Raises InputError with the generator's reason where it cannot run; BedError."""
    invocation = generator.invocation(target)
    if not invocation.script_check:
        return
    for name, data in invocation.files.items():
        node.write(f"{target.folder}/{name}", data)
    variables = [f"{name}={value}" for name, value in invocation.environment.items()]
    checked = node.run(["env", "-C", target.folder, *variables, *invocation.script_check], check=False)
    if checked.status != 0:
        what = f"{generator.name} cannot run {target.settings.script}: {problem(checked.stderr)}"
        raise InputError(what, "docs/reference/load-generator.md says what a script may do", key="workload.script")


def problem(stderr: str) -> str:
    """Return the generator's reason, in one line. Pure."""
    line, _, trace = stderr.strip().partition("\n\t")
    if not line:
        return "it says no reason"
    place = _OF_SCRIPT.search(trace)
    reason = _FOLDER.sub("", _AROUND.sub("", " ".join(line.split())))[:SHOWN_CHARACTERS]
    return f"{reason} ({place[0]})" if place else reason


WATCH_S = 0.5  # how often the server is asked whether it lives
AUTHORITY_FILE = "authority.pem"


class LoadOnBed(BedSide):
    """One load at a time."""

    def __init__(self, place: BedPlace) -> None:
        self._place = place
        self._client: Node = place.substrate.node("client")
        self._programs: dict[str, str] = {}  # of generators, on the client
        self._spec: TrialSpec | None = None
        self._served: Served | None = None
        self._target: Target | None = None
        self._generator: RunningGenerator | None = None
        self._first: FirstPackets | None = None
        self._recorders = TrialRecorders({})
        self._failures: list[Failure] = []
        self._prepare_s = 0.0
        self._halted = threading.Event()

    def check(self, spec: TrialSpec) -> None:
        """Nothing that an arm says is only known to the generator."""

    def check_workload(self, spec: TrialSpec) -> None:
        """Let the generator read a user's script, which else would fail in each trial. Raises InputError."""
        settings = LoadSettings.from_json(spec.options)
        if settings.script_text:
            check_script(self._client, GENERATORS[settings.generator], self._make_target(spec, settings))

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        """Start the servers, and put everything that the generator needs where it works."""
        started = time.monotonic()
        self._spec, self._failures, self._target = spec, [], None
        self._halted.clear()
        settings = LoadSettings.from_json(spec.options)
        try:
            self._served = self._place.serving.start(spec)
        except BedError as error:
            self._failures.append(Failure(Reason.SERVER_FAILED, str(error)))
        try:
            self._target = self._make_target(spec, settings)
        except BedError as error:
            self._failures.append(Failure(Reason.GENERATOR_FAILED, str(error)))
        self._start_recorders(spec)
        self._prepare_s = time.monotonic() - started
        return tuple(self._failures)

    def _start_recorders(self, spec: TrialSpec) -> None:
        substrate, scratch = self._place.substrate, self._place.folder
        nodes = {name: substrate.node(name) for name in NODE_NAMES}
        self._recorders = TrialRecorders(spec.recorders, self._place.link())
        roles = self._roles(spec)
        self._recorders.start(Context(nodes, substrate.machines(), scratch, spec.folder, roles=roles))

    def _roles(self, spec: TrialSpec) -> dict[str, Role]:
        """Return who serves; nobody where a server could not be started."""
        if self._served is None:
            return {}
        over_tcp = spec.arm.protocol != H3  # the kernel knows no connections of QUIC
        ports = tuple(PORTS[scheme] for scheme in spec.arm.ports) if over_tcp else ()
        meets = self._served.proxy or self._served.server
        return {
            role: Role(folder, ports if folder == meets.folder else ()) for role, folder in self._served.folders.items()
        }

    def _make_target(self, spec: TrialSpec, settings: LoadSettings) -> Target:
        generator = GENERATORS[settings.generator]
        folder = f"{self._place.folder}/generator"
        self._client.run(["sh", "-c", f"rm -rf {shlex.quote(folder)} && mkdir -p {shlex.quote(folder)}"])
        authority = ""
        if spec.arm.tls != "off":
            authority = f"{folder}/{AUTHORITY_FILE}"
            self._client.write(authority, self._place.serving.authority(spec))
        targets = targets_of(spec.site, settings, spec.arm.scheme)
        return Target(
            settings=settings,
            arm=spec.arm,
            urls=targets.urls,
            body_sizes=targets.body_sizes,
            address=self._place.serving.addresses(spec)[spec.site.entry_host],
            port=PORTS[spec.arm.scheme],
            authority=authority,
            folder=folder,
            program=self._program(generator, spec),
            seed=spec.seed,
            script=settings.script_text.encode(),
        )

    def _program(self, generator: Generator, spec: TrialSpec) -> str:
        """Where it is on the client; one that lanelab builds is put there."""
        if generator.name in self._programs:
            return self._programs[generator.name]
        if generator.built:
            path = f"{self._place.folder}/{generator.program}"
            self._client.put(spec.built[generator.program], path, 0o755)
        else:
            located = self._client.run(["sh", "-c", f"command -v {generator.program}"], check=False)
            if located.status != 0:
                what = f"on client, there is no program '{generator.program}'"
                raise NodeError(what, "Install it: lanelab doctor says how")
            path = located.stdout.strip()
        self._programs[generator.name] = path
        return path

    def run(self) -> TrialRecord:
        """Load the servers until the generator ends, or cannot go on."""
        if self._spec is None:
            raise BedError("no trial was prepared")
        spec, started_utc, began = self._spec, utc_now(), time.monotonic()
        results, zero = Results(None, {}), began
        at_server: NodeDatagrams | None = None
        if self._served and self._target and not self._failures:
            generator = GENERATORS[self._target.settings.generator]
            self._capture_first_packets(self._target)
            before = self._datagrams_at_server(spec)
            zero = time.monotonic()
            self._recorders.load_begins()
            results = self._load(generator, self._target, began + spec.timeout_s)
            self._recorders.load_ended()
            after = self._datagrams_at_server(spec)
            at_server = counted_since(before, after) if before and after else None
            self._keep_first_packets(spec)
        load_s = time.monotonic() - began
        spoken = self._spoken(spec, results, at_server)
        evidence = LoadEvidence(results.report, *self._all_served_by(spec), None, dict(self._place.placement))
        return self._record(spec, started_utc, (evidence, spoken), (results, zero), load_s)

    def _capture_first_packets(self, target: Target) -> None:
        try:
            file = f"{self._place.folder}/{FILE}"
            self._first = FirstPackets(self._client, file, target)
        except BedError as error:
            self._failures.append(Failure(Reason.CAPTURE_LOST_PACKETS, str(error)))

    def _keep_first_packets(self, spec: TrialSpec) -> None:
        first, self._first = self._first, None
        try:
            if first:
                first.stop(spec.folder / FILE)
        except BedError as error:
            self._failures.append(Failure(Reason.CAPTURE_LOST_PACKETS, str(error)))

    def _load(self, generator: Generator, target: Target, deadline: float) -> Results:
        try:
            running = self._generator = RunningGenerator(self._client, generator, target)
        except BedError as error:
            self._failures.append(Failure(Reason.GENERATOR_FAILED, str(error)))
            return Results(None, {})
        self._watch(running, deadline)
        output = running.stop()
        self._keep(output.files)
        if not self._failures:
            self._is_served()  # a generator may end sooner than its dead server is seen
        try:
            results = generator.read(target, output)
        except RecordError as error:
            self._failures.append(Failure(Reason.EVIDENCE_MISSING, f"of the generator {generator.name}: {error}"))
            return Results(None, {})
        if results.report is None and not self._failures:
            why = results.problem or f"it ended with status {output.status}: {_last_words(output)}"
            self._failures.append(Failure(results.reason, why))
        return results

    def _watch(self, running: RunningGenerator, deadline: float) -> None:
        """Until it ends by itself; or its time is over, a server has died, or the user wants no more of it."""
        while not running.ended(WATCH_S):
            if self._halted.is_set():
                self._failures.append(Failure(Reason.STOPPED, "the load was stopped before its end"))
                return
            if time.monotonic() > deadline:
                self._failures.append(Failure(Reason.TIMEOUT, "the load did not end in its time"))
                return
            if self._served and not self._is_served():
                return

    def _is_served(self) -> bool:
        try:
            if self._served:
                self._served.require_alive()
        except BedError as error:
            self._failures.append(Failure(Reason.SERVER_FAILED, str(error)))
            return False
        return True

    def _keep(self, files: Mapping[str, bytes]) -> None:
        """Keep what the generator wrote as it is."""
        if self._spec:
            for name, data in files.items():
                (self._spec.folder / name).write_bytes(data)

    def _all_served_by(self, spec: TrialSpec) -> tuple[ServedBy | None, ServedBy | None]:
        """Return what the server and its proxy say of the load."""
        if self._served is None:
            return None, None
        proxy = self._served.proxy
        serving = self._served_by(self._served.server), self._served_by(proxy) if proxy else None
        if proxy:
            self._keep_of_proxy(spec, proxy)
        return serving

    def _datagrams_at_server(self, spec: TrialSpec) -> NodeDatagrams | None:
        """Return what the server node's kernel has counted until now; None over TCP, and where it cannot be read."""
        if spec.arm.protocol != H3:
            return None
        try:
            return counted(self._place.substrate.node("server"))
        except (BedError, RecordError) as error:
            self._failures.append(Failure(Reason.EVIDENCE_MISSING, f"of the server's datagrams: {error}"))
            return None

    def _spoken(self, spec: TrialSpec, results: Results, at_server: NodeDatagrams | None) -> SpokenEvidence | None:
        """Return by which protocols the server had requests, by the few that it logs, and what came by UDP."""
        sampled = spec.arm.protocol in SERVERS[spec.arm.server].sampled
        if self._served is None or not (sampled or spec.arm.protocol == H3):
            return None
        try:
            lines = self._served.server.requests() if sampled else ()
            served_in_s = seconds_logged(lines) if sampled else None
            return SpokenEvidence(served_by_protocol(lines), results.datagrams, None, served_in_s, at_server)
        except (BedError, RecordError) as error:
            self._failures.append(Failure(Reason.EVIDENCE_MISSING, f"of the server: {error}"))
            return None

    def _served_by(self, running: Running) -> ServedBy | None:
        """One that has died was told of already."""
        try:
            return ServedBy(running.version, running.configuration, tuple(running.error_lines()))
        except BedError as error:
            self._failures.append(Failure(Reason.SERVER_FAILED, str(error)))
            return None

    def _keep_of_proxy(self, spec: TrialSpec, proxy: Running) -> None:
        """It ends before: then its log is whole."""
        try:
            proxy.stop()
            for name, data in proxy.files().items():
                (spec.folder / f"proxy-{name}").write_bytes(data)
        except BedError as error:
            self._failures.append(Failure(Reason.EVIDENCE_MISSING, f"of the proxy: {error}"))

    def _record(
        self,
        spec: TrialSpec,
        started_utc: str,
        words: tuple[LoadEvidence, SpokenEvidence | None],
        load: tuple[Results, float],
        load_s: float,
    ) -> TrialRecord:
        (evidence, spoken), (results, zero) = words, load
        recordings = self._recorders.stop(loaded=True)
        recorded = recordings.values()
        seen = {name: one for each in recorded for name, one in each.series.items()}
        one_clock = self._place.substrate.traits.same_clock
        return TrialRecord(
            workload=LOAD,
            started_utc=started_utc,
            measures={name: value for each in recorded for name, value in each.measures.items()},
            series={**results.series, **since(zero, results.began, seen, one_clock=one_clock)},
            requests=(),
            failures=(*self._failures, *self._recorders.failures),
            artifacts=tuple(sorted(path.name for path in spec.folder.iterdir())),
            marks={"prepare_s": round(self._prepare_s, 4), "load_s": round(load_s, 4)},
            evidence=evidence,
            flags=tuple(flag for each in recorded for flag in each.flags),
            recordings={
                **{name: each.evidence for name, each in recordings.items() if each.evidence},
                **({"spoken": spoken} if spoken else {}),
            },
        )

    def halt(self) -> None:
        """Let the load that runs end now. What it has until then is kept."""
        self._halted.set()

    def end(self) -> None:
        """End the generator and the servers."""
        generator, self._generator = self._generator, None
        if generator:
            generator.stop()
        first, self._first = self._first, None
        if first:
            first.close()
        self._recorders.close()
        served, self._served, self._spec = self._served, None, None
        if served:
            served.stop()


def since(zero: float, began: float | None, seen: Mapping[str, Series], *, one_clock: bool) -> Mapping[str, Series]:
    """Return the recorders' series from when the load began, as the generator's are: what they saw while it made ready
    has times below 0. `zero`: when they began. Where the client has a clock of its own it cannot be told how much later
    its load began: their times stay as they are."""
    if began is None or not one_clock:
        return seen
    later = round((began - zero) * 1000, 3)
    return {
        name: Series(one.unit, tuple((round(at - later, 3), value) for at, value in one.points))
        for name, one in seen.items()
    }


def _last_words(output: Output) -> str:
    lines = f"{output.stdout}\n{output.stderr}".strip().splitlines()
    return "; ".join(lines[-3:]) or "it said nothing"
