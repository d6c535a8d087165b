"""Trials in the bed process: hands each to its workload, one after the other."""

from collections.abc import Callable, Mapping
from pathlib import Path

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.fields import without_arm
from lanelab.driver.arm.browsers.registry import BROWSERS, DEFAULT
from lanelab.driver.base.errors import BedError
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.browser import BrowserFacts
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.operations import TrialOperations
from lanelab.driver.trial.registry import WORKLOADS
from lanelab.driver.trial.serving import Served, Serving
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import BedPlace, BedSide, Mover

FOLDER = Path("/run/lanelab-trials")  # in memory, here and on every node, gone with the bed


class Trials(TrialOperations):
    """Runs trials on a bed. A workload's own programs start with its first trial."""

    def __init__(  # noqa: PLR0913 - what the bed process has of the link, each by itself
        self,
        substrate: Substrate,
        drain: Callable[[], None],
        compensation_us: int,
        folder: Path = FOLDER,
        *,
        player: Callable[[], Mover | None] = lambda: None,
        placement: Mapping[str, str] | None = None,
        kept: Mapping[tuple[str, str], str] | None = None,
        link: Callable[[], Link] = lambda: Link.parse({}),
    ) -> None:
        """`drain` waits until the link is empty; `compensation_us` is taken off each direction's delay; `placement`:
        the processors of nodes that have some of their own; `player` begins and ends what moves on the link."""
        folder.mkdir(parents=True, exist_ok=True)
        client, server = substrate.node("client"), substrate.node("server")
        for node in (client, server):
            node.run(["mkdir", "-p", str(folder)])
        self._serving = Serving(client, server, folder, link)
        self._place = BedPlace(
            substrate,
            drain,
            compensation_us,
            self._serving,
            folder,
            dict(placement or {}),
            player=player,
            kept={} if kept is None else kept,
            link=link,
        )
        self._sides: dict[str, BedSide] = {}
        self._current: BedSide | None = None
        self._served: Served | None = None

    def prepare_trial(self, spec: TrialSpec) -> tuple[Failure, ...]:
        self.end_trial()
        self._current = self._side(spec)
        return self._current.prepare(spec)

    def expect_trial(self, spec: TrialSpec) -> None:
        self._side(spec).expect(spec)

    def run_trial(self, timeout_s: float) -> TrialRecord:  # noqa: ARG002 - the workload has it of its own
        if self._current is None:
            raise BedError("no trial was prepared")
        return self._current.run()

    def halt_trial(self) -> None:
        if self._current:
            self._current.halt()

    def end_trial(self) -> None:
        current, self._current = self._current, None
        served, self._served = self._served, None
        if current:
            current.end()
        if served:
            served.stop()

    def serve_site(self, spec: TrialSpec) -> tuple[Failure, ...]:
        self.end_trial()
        try:
            self._served = self._serving.start(spec)
        except BedError as error:
            return (Failure(Reason.SERVER_FAILED, str(error)),)
        return ()

    def check_arm(self, spec: TrialSpec) -> None:
        self._serving.check(spec)
        self._side(spec).check(spec)

    def check_workload(self, spec: TrialSpec) -> None:
        self._side(spec).check_workload(spec)

    def check_browser(self) -> BrowserFacts:
        client = self._place.substrate.node("client")
        browser = BROWSERS[DEFAULT].start(client, self._place.folder / "browser-check")
        try:
            page = browser.open(without_arm(), Surroundings({}))
            try:
                return page.record().browser.facts
            finally:
                page.close()
        finally:
            browser.close()

    def _side(self, spec: TrialSpec) -> BedSide:
        if spec.workload not in self._sides:
            self._sides[spec.workload] = WORKLOADS[spec.workload].on_bed(self._place)
        return self._sides[spec.workload]
