"""Fetches in the bed process: server, captures and fetcher of one trial at a time."""

import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from lanelab.driver.arm.gateway.configuration import Names
from lanelab.driver.arm.gateway.fetcher import PROGRAM, Fetcher, Wanted, plan_text
from lanelab.driver.base.clock import utc_now, wall_ahead_ns
from lanelab.driver.base.errors import BedError, FetcherError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.addresses import CLIENT, SERVER
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.remote import cross
from lanelab.driver.record.evidence.capture import RouterCounts
from lanelab.driver.record.evidence.fetch import FetchEvidence, FetchReport
from lanelab.driver.record.evidence.gateway import GatewayLog
from lanelab.driver.record.evidence.server import ResolverLog
from lanelab.driver.record.evidence.settings import SettingsEvidence
from lanelab.driver.record.metrics import FETCH
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.datagrams import counted_since
from lanelab.driver.trial.fetch.expectation import as_fetched
from lanelab.driver.trial.fetch.settings import ACCEPT_ENCODING, FetchSettings, objects_of
from lanelab.driver.trial.page_load.current_load import UnderWay
from lanelab.driver.trial.page_load.leftovers import Closing, wait_for_sent
from lanelab.driver.trial.page_load.node_settings import HostReader, ReadBack, RouterReader
from lanelab.driver.trial.page_load.router_watch import RouterWatch
from lanelab.driver.trial.page_load.server_log import has_every_answer, read_server_log
from lanelab.driver.trial.recorders.recorder import Context, Recording
from lanelab.driver.trial.recorders.tcpdump import Captures
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import BedPlace, BedSide

WATCH_S = 0.2  # how often the user is asked whether the fetch shall go on
PATIENCE_S = 5.0  # beyond its time, in which a fetcher tells what there is


class FetchOnBed(BedSide):
    """One fetch at a time."""

    def __init__(self, place: BedPlace) -> None:
        self._place, self._serving = place, place.serving
        self._client = place.substrate.node("client")
        self._lost_at_input = place.substrate.router.lost_at_input
        self._router = RouterWatch(place.substrate.router)
        client, server = (HostReader(place.substrate, host) for host in (CLIENT, SERVER))
        self._read_back = ReadBack(client, server, RouterReader(place.substrate.router.node), place.kept)
        self._programs: dict[Path, str] = {}  # on this machine -> on the client node
        self._trial: UnderWay | None = None
        self._closing = Closing(self._client)
        self._fetcher: Fetcher | None = None
        self._halted = threading.Event()
        self._count = 0
        for name in ("client", "server"):
            place.substrate.node(name).run(["mkdir", "-p", f"{place.folder}/captures"])

    def check(self, spec: TrialSpec) -> None:
        """Nothing that an arm says is only known to the fetcher."""

    # --- before the fetch

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        started = time.monotonic()
        self._halted.clear()
        trial = self._begin(spec)
        with trial.failing(Reason.SERVER_FAILED):
            trial.served = self._serving.start(spec)
        with trial.failing(Reason.FETCHER_FAILED):
            self._fetcher = self._make_fetcher(trial)
        with trial.failing(Reason.BED_LOST):
            trial.flag_left(self._closing.wait(self._place.link()))
        self._place.drain()
        trial.recorders = TrialRecorders(spec.recorders, self._place.link())
        if trial.failures:
            trial.drop_recorders()
        else:
            trial.recorders.start(self._recorded(trial))
            trial.take_failures()
            with trial.failing(Reason.BED_LOST):
                self._router.prepare()
        trial.prepare_s = time.monotonic() - started
        return tuple(trial.failures)

    def _begin(self, spec: TrialSpec) -> UnderWay:
        self._count += 1
        folder = self._place.folder / f"fetch-{self._count:06d}"
        folder.mkdir()
        addresses, leaf = self._serving.addresses(spec), self._serving.certificate(spec)
        self._trial = UnderWay(spec, folder, addresses, leaf, None)
        return self._trial

    def _make_fetcher(self, trial: UnderWay) -> Fetcher:
        """Return one that has its plan, and was not started."""
        spec = trial.spec
        settings = FetchSettings.from_json(spec.options, "workload")
        folder = f"{self._place.folder}/fetcher"
        wanted = Wanted(
            objects=objects_of(spec.site, settings.objects),
            at_once=settings.at_once,
            warm=settings.warm,
            accept_encoding=ACCEPT_ENCODING,
            timeout_ms=round(spec.timeout_s * 1000),
        )
        names = Names(trial.addresses, spec.arm.dns)
        trusted = (trial.leaf.spki_sha256_b64,) if trial.leaf else ()
        plan = plan_text(as_fetched(spec.arm, settings), names, folder, trusted, wanted)
        return Fetcher(self._client, self._program(spec), folder, plan)

    def _program(self, spec: TrialSpec) -> str:
        """Return the program in the client node's memory, for as long as the bed lives."""
        built = spec.built.get(PROGRAM)
        if built is None:
            raise FetcherError("there is no fetcher", "Build it: driver/base/programs/building")
        if built not in self._programs:
            target = f"{self._place.folder}/{PROGRAM}-{len(self._programs)}"
            self._client.put(built, target, 0o755)
            self._programs[built] = target
        return self._programs[built]

    def _recorded(self, trial: UnderWay) -> Context:
        """Return what recorders see of a trial."""
        substrate = self._place.substrate
        return Context(
            nodes={name: substrate.node(name) for name in NODE_NAMES},
            machines=substrate.machines(),
            scratch=self._place.folder / "captures",
            folder=trial.folder,
            not_captured=cross.PORT if self._place.link().cross else None,
        )

    # --- the fetch

    def run(self) -> TrialRecord:
        """Fetch. What was started for the trial ends, and its files are in the trial's folder."""
        trial = self._trial
        if trial is None:
            raise BedError("no trial was prepared")
        started_utc = utc_now()
        self._lost_at_input()  # what was lost before is not this trial's
        before = trial.datagrams(self._client)
        ahead_ns = wall_ahead_ns()
        began = time.monotonic()
        self._fetch(trial)
        load_s = time.monotonic() - began
        after = trial.datagrams(self._client)
        settings = self._settings(trial, (wall_ahead_ns() - ahead_ns) // 1000)
        recordings = trial.recorders.stop(loaded=trial.loaded) if trial.recorders else {}
        trial.take_failures()
        report, wire = self._report_and_log(trial)
        trial.cut_off = report is None or not report.in_time
        captures = recordings.pop("capture").evidence if "capture" in recordings else None
        server = read_server_log(trial, has_every_answer((), wire), lambda: None)
        evidence = FetchEvidence(
            browser=None,
            server=server,
            resolver=ResolverLog(trial.served.resolver.queries()) if trial.served and trial.served.resolver else None,
            gateway=wire,
            router=RouterCounts(self._lost_at_input(), trial.stalls),
            settings=settings,
            capture=captures.by_node if isinstance(captures, Captures) else {},
            packets={},
            witnesses=None,
            parts=None,
            one_clock=self._place.substrate.traits.same_clock,
            link=None,
            emulation=None,
            fetch=report,
            datagrams=counted_since(before, after) if before and after else None,
        )
        trial.keep_files()
        marks = {"prepare_s": trial.prepare_s, "load_s": load_s, "settings_s": trial.settings_s}
        return _record(trial, started_utc, evidence, recordings, marks)

    def _fetch(self, trial: UnderWay) -> None:
        """Let the fetcher do what its plan says, unless the trial failed before."""
        if trial.failures or trial.recorders is None or self._fetcher is None:
            return
        trial.recorders.load_begins()
        with trial.failing(Reason.BED_LOST):
            self._router.begin(moves=False)
        with trial.failing(Reason.FETCHER_FAILED):
            self._fetcher.start()
            self._watch(trial, self._fetcher)
        with trial.failing(Reason.BED_LOST):
            trial.stalls = self._router.end()
        trial.recorders.load_ended()
        trial.loaded = not trial.failures

    def _watch(self, trial: UnderWay, fetcher: Fetcher) -> None:
        """Until it has told its report; or its time is over, or the user wants no more of it."""
        deadline = time.monotonic() + trial.spec.timeout_s + scaled(PATIENCE_S)
        while not fetcher.has_told(WATCH_S):
            if self._halted.is_set():
                trial.fail(Reason.STOPPED, "the fetch was stopped before its end")
                return
            if time.monotonic() > deadline:
                trial.fail(Reason.TIMEOUT, "the fetcher told nothing in its time")
                return

    def _settings(self, trial: UnderWay, clock_step_us: int) -> SettingsEvidence | None:
        """Read while connections are there. None: the trial failed."""
        settings, began = None, time.monotonic()
        if trial.loaded:
            with trial.failing(Reason.BED_LOST):
                content = trial.served.server.content if trial.served else ""
                changed = self._router.queues_changed()
                settings = self._read_back.read(content, self._place.compensation_us, clock_step_us, changed)
        trial.settings_s = time.monotonic() - began
        return settings

    def _report_and_log(self, trial: UnderWay) -> tuple[FetchReport | None, GatewayLog | None]:
        """End the fetcher; what it reports and what its log says. Only then it has written everything."""
        fetcher, report, wire = self._fetcher, None, None
        if fetcher is None:
            return None, None
        began = trial.loaded or any(each.reason is Reason.TIMEOUT for each in trial.failures)
        with trial.failing(Reason.FETCHER_FAILED):
            fetcher.stop()
            for name, data in fetcher.files().items():
                (trial.folder / name).write_bytes(data)
            wire = fetcher.log()
            report = fetcher.report() if began else None
        return report, wire

    def halt(self) -> None:
        """Let the fetch that runs end now."""
        self._halted.set()

    def end(self) -> None:
        """End the fetcher, recorders and the server."""
        trial, self._trial = self._trial, None
        fetcher, self._fetcher = self._fetcher, None
        if fetcher:
            with suppress(BedError):
                fetcher.close()
        if trial:
            if trial.recorders:
                trial.recorders.close()
            if trial.served:
                trial.served.kill()
            if trial.cut_off:
                wait_for_sent(self._place.substrate.node("server"))
            shutil.rmtree(trial.folder, ignore_errors=True)
        self._router.drop()


def _record(
    trial: UnderWay,
    started_utc: str,
    evidence: FetchEvidence,
    recordings: dict[str, Recording],
    marks: dict[str, float],
) -> TrialRecord:
    recorded = recordings.values()
    return TrialRecord(
        workload=FETCH,
        started_utc=started_utc,
        measures={name: value for each in recorded for name, value in each.measures.items()},
        series={name: one for each in recorded for name, one in each.series.items()},
        requests=(),
        failures=tuple(trial.failures),
        artifacts=tuple(sorted(path.name for path in trial.spec.folder.iterdir())),
        marks={name: round(value, 4) for name, value in marks.items()},
        evidence=evidence,
        flags=(*trial.flags, *(flag for each in recorded for flag in each.flags)),
        recordings={name: each.evidence for name, each in recordings.items() if each.evidence},
    )
