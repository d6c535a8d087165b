"""The scheduler of a run that has none from its user: started, watched and ended here.

    with own_scheduler.start(run_folder / "cluster", "quickstart", listen="10.0.0.5:8786") as scheduler:
        scheduler.where          # SchedulerAddress: what `dask_cluster.connect` and a Supervisor want
        scheduler.invitation     # the file that other machines give to `lanelab worker`
        scheduler.dashboard      # where Dask's own pages are; "": there are none

It speaks TLS only, with keys made for this run, also on 127.0.0.1: other users of this machine could else run code as
us. Keys, address and port stay in the folder, so that a run that goes on is found by the workers of its last session. A
scheduler that dies is started again at the same address.
"""

import contextlib
import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ClusterError, InputError, StoreError
from lanelab.driver.base.extras import require
from lanelab.driver.base.programs.building import dashboard as dashboard_packages
from lanelab.driver.run.events import Listener
from lanelab.driver.run.sweep.address import LISTEN, NAME_FREE_PORT, SchedulerAddress, divided, listening
from lanelab.driver.run.sweep.children import Child
from lanelab.driver.run.sweep.events import SchedulerRestarted
from lanelab.driver.run.sweep.keys import VERSION, Invitation, make_keys, read_invitation, write_private
from lanelab.driver.run.sweep.scheduler_process import SchedulerSaid, SchedulerSettings

INVITATION, PLACE, LOG, SCRATCH = "invitation.json", "scheduler.json", "scheduler.log", "scratch"
LOCAL = "127.0.0.1"
PAUSES_S = (0.2, 1.0, 5.0, 20.0)


@dataclass(frozen=True, slots=True)
class _Place(Coded):
    """The place at which the last session's scheduler listened, as it was asked for."""

    host: str
    port: int


@dataclass(slots=True)
class OwnScheduler:
    """A scheduler that runs."""

    where: SchedulerAddress
    invitation: Path
    dashboard: str
    pid: int  # of the process; another one after it died


@contextlib.contextmanager
def start(
    folder: Path, run: str, *, listen: str = "", dashboard: bool = False, tell: Listener = lambda _event: None
) -> Iterator[OwnScheduler]:
    """Start a scheduler for as long as the block runs. `listen`: ADDRESS[:PORT] where other machines reach it; "": this
    machine alone. `folder`: of the run, for keys and invitation. Raises InputError, StoreError, ClusterError."""
    packages = dashboard_packages.installed() if dashboard else None
    place = _place(folder, listen)
    keys = read_invitation(folder / INVITATION).keys if (folder / INVITATION).exists() else make_keys(run)
    _make(folder)
    keeper = _Keeper(
        SchedulerSettings(place.host, place.port, keys, folder / SCRATCH, packages), folder / LOG, listen, tell
    )
    try:
        address = keeper.begin()
        _, port = divided(address.partition("://")[2])
        write_private(folder / INVITATION, Invitation(VERSION, run, address, keys))
        write_private(folder / PLACE, _Place(place.host, port or 0))
        keeper.scheduler = OwnScheduler(
            SchedulerAddress(address, keys), folder / INVITATION, keeper.dashboard, keeper.pid
        )
        keeper.keep(port or 0)
        yield keeper.scheduler
    finally:
        keeper.end()
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)


def _place(folder: Path, listen: str) -> _Place:
    """Decide where to listen: where the user says, with the port of the last session where he leaves it open."""
    last: _Place | None = None
    with contextlib.suppress(FileNotFoundError, ValueError):
        last = _Place.from_json(json.loads((folder / PLACE).read_text()))
    if not listen:
        return last or _Place(LOCAL, 0)
    host, port = listening(listen)
    kept = last.port if last and last.host == host else 0
    return _Place(host, port if port is not None else kept)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / LOG).touch(mode=0o600)
    except OSError as error:
        raise StoreError(
            f"cannot write to {folder}: {error.strerror}", "Free some space or check the permissions"
        ) from error


class _Keeper:
    """Starts the process, and starts it again."""

    def __init__(self, settings: SchedulerSettings, log: Path, listen: str, tell: Listener) -> None:
        self._settings, self._log, self._listen, self._tell = settings, log, listen, tell
        self._child: Child | None = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self.scheduler: OwnScheduler | None = None
        self.dashboard, self.pid = "", 0

    def begin(self) -> str:
        """Start the process. Its address."""
        require("distributed")
        self._child = child = Child("lanelab.driver.run.sweep.scheduler_process", self._settings, self._log)
        message = child.next_said(SchedulerSaid)
        if message and message.address:
            self.dashboard, self.pid = message.dashboard, child.pid
            return message.address
        child.end()
        where = f"{self._settings.host}:{self._settings.port}"
        why = message.error if message else f"its process ended: {child.last_words()}"
        what = f"the run's scheduler cannot listen at {where}: {why}"
        if self._listen:
            raise InputError(what, NAME_FREE_PORT, key=LISTEN)
        raise ClusterError(what, f"Its log: {self._log}. With --listen {LOCAL}:PORT it takes another port")

    def keep(self, port: int) -> None:
        """Begin to watch it. Should it die, it comes back at the same port."""
        kept = self._settings
        self._settings = replace(kept, port=port)
        self._thread = threading.Thread(target=self._watch, name="scheduler", daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        tries = 0
        while not self._ended.is_set():
            child = self._child
            if child and child.next_said(SchedulerSaid) is not None:
                continue
            if self._ended.wait(PAUSES_S[min(tries, len(PAUSES_S) - 1)]):
                return
            self._tell(SchedulerRestarted("its process died" if tries == 0 else "it could not listen"))
            try:
                self.begin()
                tries = 0
            except (ClusterError, InputError):
                tries += 1
                self._child = None
            if self.scheduler:
                self.scheduler.pid = self.pid

    def end(self) -> None:
        self._ended.set()
        if self._child:
            self._child.end()
        if self._thread:
            self._thread.join()
        if self._child:  # one that was started meanwhile
            self._child.end()
