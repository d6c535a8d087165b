"""A worker: one process, one Dask Worker, one job at a time. lanelab.driver.run.sweep.supervisor starts it.

A Dask Worker that somebody else has started (Slurm, Kubernetes) can be one, too: it then has the settings of `_guest`.
When its connection to the scheduler breaks, the process ends, and with it its bed: what it was doing is made anew
elsewhere.
"""

import asyncio
import contextlib
import importlib
import json
import os
import platform
import signal
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ClusterError, LanelabError
from lanelab.driver.run.channel.protocol import error_to_message
from lanelab.driver.run.events import Event
from lanelab.driver.run.sweep.address import SchedulerAddress
from lanelab.driver.run.sweep.children import say
from lanelab.driver.run.sweep.cluster import JobOrder
from lanelab.driver.run.sweep.dask_settings import CONNECT_S, HEARTBEAT_S, be_quiet
from lanelab.driver.run.sweep.worker.context import WorkerContext

if TYPE_CHECKING:
    import distributed

JOBS = "lanelab.driver.run.sweep.worker.jobs"
LOOK_S = 1.0  # between looks whether anybody still waits for a job
CLOSE_WITHIN_S = 6.0

Answer = tuple[str, Any]  # "json" and text, "bytes" and bytes, or "error" and text


@dataclass(frozen=True, slots=True)
class WorkerSettings(Coded):
    scheduler: SchedulerAddress
    name: str  # no other process has it
    machine: str
    number: int
    processors: tuple[int, ...]
    allowed: tuple[str, ...]
    router: str
    scratch: Path
    jobs: str  # the module that does them


@dataclass(frozen=True, slots=True)
class WorkerSaid(Coded):
    """A message of a worker to its supervisor."""

    joined: str = ""  # its address
    left: str = ""  # why it ends


@dataclass(slots=True)
class _Process:
    """The process in which jobs are done, as they see it."""

    context: WorkerContext | None = None
    jobs: str = JOBS
    session: str = ""  # whose job is under way
    halted: set[str] = field(default_factory=set)
    guard: threading.Lock = field(default_factory=threading.Lock)


_this = _Process()


def do_jobs_of(module: str) -> None:
    """Let this module do the jobs of this process, in which somebody else starts Dask Workers."""
    _this.jobs = module


def serve(data: object) -> None:
    """Be a worker until SIGTERM, or until the scheduler or the supervisor is gone."""
    settings = WorkerSettings.from_json(data)
    os.sched_setaffinity(0, settings.processors)  # threads and children that begin later inherit it
    asyncio.run(_serve(settings))


async def _serve(settings: WorkerSettings) -> None:
    be_quiet()
    import dask  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    dask.config.set({"distributed.worker.http.routes": ["distributed.http.health"]})

    class QuietWorker(distributed.Worker):  # type: ignore[misc]
        """The scheduler asks for a sign of life twice a second; that often is not worth the time."""

        _last_heartbeat = float("-inf")

        async def heartbeat(self) -> None:
            if time.monotonic() - self._last_heartbeat >= HEARTBEAT_S:
                self._last_heartbeat = time.monotonic()
                await super().heartbeat()

    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    asking = asyncio.create_task(ended.wait())
    worker = QuietWorker(
        settings.scheduler.address,
        security=settings.scheduler.security(),
        name=settings.name,
        nthreads=1,
        resources={"bed": 1},
        memory_limit=0,
        local_directory=str(settings.scratch / "dask"),
        dashboard_address="127.0.0.1:0",
        death_timeout=3 * CONNECT_S,
    )
    _this.context, _this.jobs = _context_of(settings, worker), settings.jobs
    starting: asyncio.Future[Any] = asyncio.ensure_future(worker)
    await asyncio.wait([starting, asking], return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and not starting.exception():
        say(WorkerSaid(joined=worker.address))
        finished = asyncio.create_task(worker.finished())
        await asyncio.wait([finished, asking], return_when=asyncio.FIRST_COMPLETED)
        why = "asked to end" if ended.is_set() else "the connection to the scheduler broke"
        say(WorkerSaid(left=why))
    elif starting.done():
        say(WorkerSaid(left=f"the scheduler did not let it in: {starting.exception()}"))
    await _close(worker)


async def _close(worker: "distributed.Worker") -> None:
    """End in order what takes little time. Everything else ends with the process."""
    context = _this.context
    if context:
        context.halt()
        closing = threading.Thread(target=context.close, daemon=True)
        closing.start()
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            await asyncio.wait_for(worker.close(timeout=1), 2)
        await asyncio.to_thread(closing.join, CLOSE_WITHIN_S)
    os._exit(0)


def _context_of(settings: WorkerSettings, worker: "distributed.Worker") -> WorkerContext:
    return WorkerContext(
        machine=settings.machine,
        number=settings.number,
        processors=settings.processors,
        allowed=frozenset(settings.allowed),
        router=settings.router,
        scratch=settings.scratch,
        tell=lambda event: _tell(worker, event),
    )


def _guest(worker: "distributed.Worker") -> WorkerContext:
    """What holds for a worker that this lanelab has not started: nothing of a run's author may run code here."""
    worker.loop.add_callback(_hush, worker)
    scratch = Path(tempfile.mkdtemp(prefix="lanelab-", dir=worker.local_directory))  # which goes with Dask's own folder
    return WorkerContext(
        machine=platform.node() or "this machine",
        number=os.getpid(),
        processors=tuple(sorted(os.sched_getaffinity(0))),
        allowed=frozenset(),
        router="auto",
        scratch=scratch,
        tell=lambda event: _tell(worker, event),
    )


def _hush(worker: "distributed.Worker") -> None:
    """End what Dask measures of such a worker many times a second; dask_settings.py does it for ours. Also what would
    pause a worker in the middle of a trial, since a browser has its memory elsewhere."""
    for name in ("profile", "profile-cycle", "tick", "ticks", "memory_monitor", "shift_counters"):
        if name in worker.periodic_callbacks:
            worker.periodic_callbacks[name].stop()
    worker.periodic_callbacks["monitor"].callback_time = 10_000


def _tell(worker: "distributed.Worker", event: Event) -> None:
    with contextlib.suppress(Exception):  # whoever watches must not disturb what is watched
        worker.log_event(topic_of(_this.session), {"worker": worker.address, "event": event.to_json()})


def topic_of(session: str) -> str:
    """Return where events for one controller go."""
    return f"lanelab-{session}"


def run_job(order: JobOrder) -> Answer:
    """Do a job. Dask calls this in its one thread for jobs, by lanelab.driver.run.sweep.dask_cluster."""
    from distributed.worker import get_worker, thread_state  # noqa: PLC0415

    worker, key = get_worker(), thread_state.key
    with _this.guard:
        context = _this.context = _this.context or _guest(worker)
        _this.session = order["session"]
        context.begin_job(_this.session)
        halted = _this.session in _this.halted
    if halted:
        context.halt()
    over = threading.Event()
    threading.Thread(target=_look, args=(worker, key, context, over), name="wanted", daemon=True).start()
    try:
        if str(worker.name) != order["worker"]:  # SSHCluster numbers them
            raise ClusterError(f"this is worker {worker.name}, and the job was for {order['worker']}")
        value = importlib.import_module(_this.jobs).run(order["name"], json.loads(order["payload"]), context)
        return ("bytes", value) if isinstance(value, bytes) else ("json", json.dumps(value))
    except LanelabError as error:
        return "error", json.dumps(error_to_message(error))
    except Exception as error:  # noqa: BLE001 - told, and its trace is in the worker's log
        traceback.print_exc()
        what = f"worker {context.name} failed in '{order['name']}': {error!r}"
        return "error", json.dumps(error_to_message(ClusterError(what, "Please report it with the worker's log")))
    finally:
        over.set()


def _look(worker: "distributed.Worker", key: object, context: WorkerContext, over: threading.Event) -> None:
    """Halt a job that nobody waits for any more: its controller is gone, and the scheduler has taken the job back."""
    while not over.wait(LOOK_S):
        task = worker.state.tasks.get(key)
        if task is None or task.state in ("cancelled", "released"):
            context.halt()
            return


def halt(session: str) -> None:
    """Halt what is under way for that controller, and what it still asks for."""
    with _this.guard:
        _this.halted.add(session)
        context = _this.context if _this.session == session else None
    if context:
        context.halt()
