"""Page loads in the bed process: server, gateway, browser and captures of one trial at a time.

What was started for a trial ends with it, except the browser's driver and, for arms that ask for it, the browser.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace

from lanelab.driver.arm.browsers.browser import Browser, PageRecord, Surroundings
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.base.clock import utc_now, wall_ahead_ns
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import BedError, InputError, LanelabError
from lanelab.driver.bed.addresses import CLIENT, SERVER
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.remote import cross
from lanelab.driver.record.evidence.capture import RouterCounts
from lanelab.driver.record.evidence.journey import JourneyEvidence
from lanelab.driver.record.evidence.moving import MovingEvidence
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ResolverLog
from lanelab.driver.record.evidence.settings import SettingsEvidence
from lanelab.driver.record.evidence.spoken import NodeDatagrams
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.datagrams import counted_since
from lanelab.driver.trial.journey import legs_of, script_from_json, steps_from_json
from lanelab.driver.trial.page_load.current_load import UnderWay
from lanelab.driver.trial.page_load.gateways import CERTIFICATE, KEYS, Gateways, drop_gateway, end_gateway
from lanelab.driver.trial.page_load.leftovers import Closing, wait_for_sent
from lanelab.driver.trial.page_load.node_settings import HostReader, ReadBack, RouterReader
from lanelab.driver.trial.page_load.router_watch import RouterWatch
from lanelab.driver.trial.page_load.server_log import has_every_answer, read_server_log
from lanelab.driver.trial.page_load.surroundings import surroundings_of
from lanelab.driver.trial.recorders.recorder import Context, Recording
from lanelab.driver.trial.recorders.tcpdump import Captures
from lanelab.driver.trial.recorders.trial_recorders import TrialRecorders
from lanelab.driver.trial.recorders.vitals import Vitals, VitalsOptions
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import BedPlace, BedSide


@dataclass(frozen=True, slots=True)
class _Load:
    """A load that is over. `settings` are being read beside what is read of it."""

    ended_at: float
    datagrams: NodeDatagrams | None  # that came for the client meanwhile
    settings: Future[SettingsEvidence | None]


class PageLoadOnBed(BedSide):
    """Loads pages on a bed, one after the other."""

    def __init__(self, place: BedPlace) -> None:
        self._place, self._serving = place, place.serving
        self._client, self._server = place.substrate.node("client"), place.substrate.node("server")
        self._lost_at_input = place.substrate.router.lost_at_input
        self._gateways = Gateways(self._client, place.serving, place.folder)
        self._browsers: dict[str, Browser] = {}  # by their names
        self._selectors: set[tuple[str, str]] = set()  # with their browsers, that were checked
        self._count = 0
        self._closing = Closing(self._client)
        self._trial: UnderWay | None = None
        self._expected: TrialSpec | None = None
        self._router = RouterWatch(place.substrate.router)
        client, server = (HostReader(place.substrate, host) for host in (CLIENT, SERVER))
        self._read_back = ReadBack(client, server, RouterReader(place.substrate.router.node), place.kept)
        self._beside = ThreadPoolExecutor(2, "beside")  # reads settings, ends what a trial has
        self._ended: Future[None] | None = None
        for node in (self._client, self._server):
            node.run(["mkdir", "-p", f"{place.folder}/captures"])

    # --- before the load

    def check(self, spec: TrialSpec) -> None:
        """Whether what is to be clicked is a selector to the arm's browser: each trial would fail else."""
        vitals = spec.recorders.get(Vitals.name)
        wish = (spec.arm.browser, vitals.click) if isinstance(vitals, VitalsOptions) and vitals.click else None
        if wish is None or wish in self._selectors:
            return
        arm = replace(spec.arm, start="fresh-process", early_data=False)  # ends with the page, and visits nothing
        with suppress(BrowserError):  # a browser that fails is the trials' affair, which say how
            page = self._require_browser(spec.arm.browser).open(arm, Surroundings({}))
            try:
                known = page.knows_selector(wish[1])
            finally:
                page.close()
            if not known:
                remedy = "Write one as document.querySelector takes it, like button.menu"
                raise InputError(f"{wish[1]!r} is no CSS selector", remedy, key=f"{Vitals.name}.click")
        self._selectors.add(wish)

    def expect(self, spec: TrialSpec) -> None:
        self._expected = spec

    def prepare(self, spec: TrialSpec) -> tuple[Failure, ...]:
        started, self._expected = time.monotonic(), None
        browser = self._require_browser(spec.arm.browser)
        trial = self._begin(spec)
        warm = spec.arm.visits_before
        if spec.arm.dns == "resolver":
            self._serving.let_client_ask()  # before a browser can read whom to ask
        # Neither a server nor a browser that starts sends anything: what the link still carries is the last trial's.
        # But a warm arm's browser loads the page while it is opened: it needs the server, and what it leaves must go,
        # too. It also leaves its gateway with connections: another one takes its place.
        gateway: list[Callable[[], None]] = [lambda: self._gateways.start(trial)] if spec.arm.via == "gateway" else []

        recorders = trial.recorders = TrialRecorders(spec.recorders, self._place.link())

        def make_browser_ready() -> None:
            self._open_page(trial, browser)
            if warm:
                for start_again in gateway:
                    start_again()
            with trial.failing(Reason.BED_LOST):
                # Behind the opening: a browser that stays closes the last page's connections in its own time.
                trial.flag_left(self._closing.wait(self._place.link()))
            self._place.drain()
            if not warm:
                recorders.start_ahead(self._recorded(trial))

        _do_all(lambda: self._serve(trial), *gateway, make_browser_ready, in_order=warm)
        if trial.failures:
            trial.drop_recorders()
        else:
            if warm and trial.served:
                trial.served.forget()  # the load that warmed the browser
            recorders.start(self._recorded(trial))
            trial.take_failures()
            with trial.failing(Reason.BED_LOST):
                self._router.prepare()
        trial.prepare_s = time.monotonic() - started
        return tuple(trial.failures)

    def _require_browser(self, name: str) -> Browser:
        """Return the browser program, from the first page load on that an arm wants of it."""
        if name not in self._browsers:
            folder = self._place.folder / "browsers" / name
            self._browsers[name] = BROWSERS[name].start(self._client, folder)
        return self._browsers[name]

    def _begin(self, spec: TrialSpec) -> UnderWay:
        """Give the trial its folder, addresses and certificates."""
        self._count += 1
        folder = self._place.folder / f"{self._count:06d}"
        folder.mkdir()
        serving = self._serving
        shown = serving.certificate_of_kind(spec, CERTIFICATE) if spec.arm.via == "gateway" else None
        self._trial = UnderWay(spec, folder, serving.addresses(spec), serving.certificate(spec), shown)
        return self._trial

    def _serve(self, trial: UnderWay) -> None:
        with trial.failing(Reason.SERVER_FAILED):
            trial.served = self._serving.start(trial.spec)

    def _open_page(self, trial: UnderWay, browser: Browser) -> None:
        if trial.spec.arm.visits_before and trial.failures:
            return
        with trial.failing(Reason.BROWSER_FAILED):
            trial.page = browser.open(trial.spec.arm, surroundings_of(self._serving, trial.spec), trial.url)

    def _recorded(self, trial: UnderWay) -> Context:
        """Return what recorders see of a trial."""
        substrate = self._place.substrate
        return Context(
            nodes={name: substrate.node(name) for name in NODE_NAMES},
            machines=substrate.machines(),
            scratch=self._place.folder / "captures",
            folder=trial.folder,
            page=trial.page,
            not_captured=cross.PORT if self._place.link().cross else None,
            makes_journey=bool(steps_from_json(trial.spec.options)),
        )

    # --- the load

    def run(self) -> TrialRecord:
        """Load the page. What was started for the trial ends, and its files are in the trial's folder."""
        trial = self._trial
        if trial is None:
            raise BedError("no trial was prepared")
        started_utc = utc_now()
        load = self._load_counted(trial)
        if trial.spec.arm.cpu_slowdown == 1:  # else it is measured when the requests have been read
            self._begin_expected()
        loaded = trial.page.record() if trial.page and trial.loaded else None
        trial.cut_off = bool(loaded and loaded.failures)
        recordings = _stop_recorders(trial, loaded=bool(loaded and not loaded.failures))
        captures = recordings.pop("capture").evidence if "capture" in recordings else None
        if trial.page:
            trial.page.release()
        self._begin_expected()
        evidence = self._evidence(trial, load, loaded, captures)
        trial.keep_files()
        self._ended = self._beside.submit(self._end, trial)
        marks = {
            "prepare_s": trial.prepare_s,
            "settings_s": trial.settings_s,
            "after_load_s": time.monotonic() - load.ended_at,
        }
        return TrialRecord(
            workload=PAGE_LOAD,
            started_utc=started_utc,
            measures={name: value for one in recordings.values() for name, value in one.measures.items()},
            series={name: series for one in recordings.values() for name, series in one.series.items()},
            requests=loaded.requests if loaded else (),
            failures=(*trial.failures, *(loaded.failures if loaded else ())),
            artifacts=tuple(sorted(path.name for path in trial.spec.folder.iterdir())),
            marks={**(loaded.marks if loaded else {}), **{name: round(value, 4) for name, value in marks.items()}},
            evidence=evidence,
            flags=(*trial.flags, *(flag for one in recordings.values() for flag in one.flags)),
            recordings=_known_by(recordings) | _journey(loaded),
        )

    def _load_counted(self, trial: UnderWay) -> _Load:
        """Load the page between two looks at what nodes and clocks count, and begin to read settings."""
        self._lost_at_input()  # what was lost before is not this trial's
        before = trial.datagrams(self._client)
        ahead_ns = wall_ahead_ns()
        self._load(trial)
        ended_at = time.monotonic()
        after = trial.datagrams(self._client)
        settings = self._settings(trial, (wall_ahead_ns() - ahead_ns) // 1000)
        return _Load(ended_at, counted_since(before, after) if before and after else None, settings)

    def _evidence(
        self, trial: UnderWay, load: _Load, loaded: PageRecord | None, captures: Coded | None
    ) -> PageLoadEvidence:
        """Gather what everybody else says of the load. The gateway ends first, connections when settings are read."""
        gateway = end_gateway(trial)

        def close_connections() -> None:
            load.settings.exception()  # what connections use is read while they are there
            if trial.page:
                trial.page.close()

        has_all = has_every_answer(loaded.requests if loaded else (), gateway)
        return PageLoadEvidence(
            browser=loaded.browser if loaded else None,
            server=read_server_log(trial, has_all, close_connections),
            resolver=ResolverLog(trial.served.resolver.queries()) if trial.served and trial.served.resolver else None,
            gateway=gateway,
            router=RouterCounts(self._lost_at_input(), trial.stalls),
            settings=load.settings.result(),
            capture=captures.by_node if isinstance(captures, Captures) else {},
            packets={},
            witnesses=None,
            parts=None,
            one_clock=self._place.substrate.traits.same_clock,
            link=None,
            emulation=None,
            moving=MovingEvidence(trial.played, None, None) if trial.played else None,
            datagrams=load.datagrams,
        )

    def _begin_expected(self) -> None:
        """Begin to open the next page while this one is read: that takes longest on the way to the next load."""
        spec = self._expected
        if spec is None or spec.arm.visits_before:
            return
        with suppress(LanelabError):  # what fails here fails again when that trial is prepared, and is its failure
            if spec.arm.dns == "resolver":
                self._serving.let_client_ask()
            self._require_browser(spec.arm.browser).expect(spec.arm, surroundings_of(self._serving, spec))

    def _load(self, trial: UnderWay) -> None:
        """Load the page, unless the trial failed before."""
        if trial.failures or trial.page is None or trial.recorders is None:
            return
        player = None
        trial.recorders.load_begins()
        self._router.begin(moves=self._place.link().moves)
        with trial.failing(Reason.LINK_TRACE):
            player = self._place.player()
            if player:
                player.begin()
        journey, script = steps_from_json(trial.spec.options), script_from_json(trial.spec.options)
        if script:
            trial.page.follow(script.wish(journey, trial.spec.site, trial.scheme), trial.spec.timeout_s)
        elif journey:
            trial.page.travel(legs_of(journey, trial.spec.site, trial.scheme), trial.spec.timeout_s)
        else:
            trial.page.load(trial.url, trial.spec.timeout_s)
        with trial.failing(Reason.LINK_TRACE):
            if player:
                trial.played = player.end()
        trial.stalls = self._router.end()
        trial.recorders.load_ended()
        trial.loaded = True

    def _settings(self, trial: UnderWay, clock_step_us: int) -> Future[SettingsEvidence | None]:
        """Read while the other things are that a load leaves. None: the trial failed."""

        def read() -> SettingsEvidence | None:
            settings, began = None, time.monotonic()
            with trial.failing(Reason.BED_LOST):
                content = trial.served.server.content if trial.served else ""
                changed = self._router.queues_changed()
                settings = self._read_back.read(content, self._place.compensation_us, clock_step_us, changed)
            trial.settings_s = time.monotonic() - began
            return settings

        return self._beside.submit(read)

    def halt(self) -> None:
        """A page load takes seconds: it may end by itself."""

    def end(self) -> None:
        trial, self._trial = self._trial, None
        ended, self._ended = self._ended, None
        if ended:
            ended.result()
        elif trial:
            self._end(trial)
        self._router.drop()

    def _end(self, trial: UnderWay) -> None:
        """End what was started for a trial, of which everything has been read: the browser's page beside the server."""
        if trial.recorders:
            trial.recorders.close()
        _do_all(
            lambda: trial.page.close() if trial.page else None,
            lambda: trial.served.kill() if trial.served else None,
            lambda: drop_gateway(trial),
            in_order=False,
        )
        if trial.cut_off:
            wait_for_sent(self._server)
        shutil.rmtree(trial.folder, ignore_errors=True)


def _known_by(recordings: Mapping[str, Recording]) -> dict[str, Coded]:
    """Return what recorders know, by the names that it has in the record."""
    return {one.kept_as or name: one.evidence for name, one in recordings.items() if one.evidence}


def _journey(loaded: PageRecord | None) -> dict[str, Coded]:
    return {"journey": JourneyEvidence(loaded.steps)} if loaded and loaded.steps else {}


def _stop_recorders(trial: UnderWay, *, loaded: bool) -> dict[str, Recording]:
    """Stop the recorders; returns what each has recorded."""
    if trial.page:
        with trial.failing(Reason.BROWSER_FAILED):
            trial.page.keys(trial.folder / KEYS)  # while the browser lives
    recordings = trial.recorders.stop(loaded=loaded) if trial.recorders else {}
    trial.take_failures()
    return recordings


def _do_all(*steps: Callable[[], None], in_order: bool) -> None:
    """Do all at the same time, or one after the other; raise the error of an earlier one before a later one's."""
    with ThreadPoolExecutor(1 if in_order else len(steps), "prepare") as threads:
        for done in [threads.submit(step) for step in steps]:
            done.result()
