"""Workers that come and go, by Dask.

    cluster = connect(where)             where: SchedulerAddress, of lanelab.driver.run.sweep.address or own_scheduler
    cluster.wait(1.0)                    -> Joined, Left, Finished, WorkerEvent, Away
    cluster.start(worker, "play", {…})   -> number of the job
    cluster.close()

A worker is a Dask Worker with the resource "bed". Dask carries jobs and answers; that nothing is lost or made twice is
the controller's affair. When the connection to the scheduler breaks, all jobs are forgotten (Away), a new one is tried
for as long as it takes, and workers join again.
"""

import asyncio
import contextlib
import http
import json
import queue
import secrets
import threading
import types
import urllib.request
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import ClusterError, LanelabError, RecordError
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.run.channel.protocol import error_from_message
from lanelab.driver.run.events import read_event
from lanelab.driver.run.sweep.address import SchedulerAddress, divided
from lanelab.driver.run.sweep.cluster import Away, Finished, Happening, JobName, JobOrder, Joined, Left, WorkerEvent
from lanelab.driver.run.sweep.dask_settings import CONNECT_S, WORKER_LIFE_S, be_quiet
from lanelab.driver.run.sweep.probe import require_scheduler
from lanelab.driver.run.sweep.worker.process import topic_of

if TYPE_CHECKING:
    import distributed

LOOK_S = 0.5  # between looks at the connection
RECONCILE_S = 10.0  # between looks at all workers, should a message about one be lost
PAUSE_S = 2.0
PAGE_S = 3.0
CLOSE_WITHIN_S = 15.0
NAME_DIVIDER = " #"  # between a worker's name for people and what makes it unique


@dataclass(frozen=True, slots=True)
class _Worker:
    address: str
    name: str  # Dask's

    @property
    def identifier(self) -> str:
        return f"{self.address} {self.name}"


@dataclass(frozen=True, slots=True)
class _Job:
    number: int
    worker: _Worker
    name: JobName
    payload: Coded


def connect(
    where: SchedulerAddress, *, dashboard: str | None = None, owned: Sequence[Callable[[], None]] = ()
) -> "DaskCluster":
    """Connect to a scheduler. `dashboard`: None, ask the scheduler; `owned`: what `close` ends, first to
    last. Raises ClusterAway where nothing answers, ClusterError where what answers will not do."""
    be_quiet()
    port = require_scheduler(where).dashboard_port
    if dashboard is None:
        host, _ = divided(where.address.partition("://")[2])
        dashboard = _page_there(f"http://{host}:{port}/status") if port else ""
    return DaskCluster(where, dashboard, owned)


class DaskCluster:
    """lanelab.driver.run.sweep.cluster.Cluster, made of a Dask client in a thread of its own. Any thread may use it."""

    def __init__(self, where: SchedulerAddress, dashboard: str, owned: Sequence[Callable[[], None]]) -> None:
        self._where, self._dashboard, self._owned = where, dashboard, list(owned)
        self._session = secrets.token_hex(8)
        self._happened: queue.SimpleQueue[Happening] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._next = 1
        # Of the loop's thread alone:
        self._workers: dict[str, _Worker] = {}
        self._jobs: dict[str, deque[_Job]] = {}  # of each worker, in order: Dask knows the first one only
        self._futures: dict[int, distributed.Future[Any]] = {}
        self._reasons: dict[str, str] = {}  # why the scheduler took a worker off its list, by address
        self._client: distributed.Client | None = None
        self._changed, self._closing = asyncio.Event(), asyncio.Event()
        self._background: set[asyncio.Task[Any]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="dask", daemon=True)
        self._thread.start()

    @property
    def dashboard(self) -> str:
        return self._dashboard

    def wait(self, timeout_s: float) -> list[Happening]:
        happened: list[Happening] = []
        with contextlib.suppress(queue.Empty):
            happened.append(self._happened.get(timeout=timeout_s))
            while True:
                happened.append(self._happened.get_nowait())
        return happened

    def start(self, worker: str, name: JobName, payload: Coded) -> int:
        with self._guard:
            number, self._next = self._next, self._next + 1
        self._soon(self._submit, number, worker, name, payload)
        return number

    def halt(self) -> None:
        self._soon(self._halt)

    def close(self) -> None:
        if self._thread.is_alive():
            self._soon(self._closing.set)
            self._thread.join(CLOSE_WITHIN_S)
        while self._owned:
            self._owned.pop(0)()

    def __enter__(self) -> "DaskCluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _soon(self, action: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(action, *arguments)

    # --- the loop's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._live())
        finally:
            self._loop.close()

    async def _live(self) -> None:
        was_there = True
        while not self._closing.is_set():
            try:
                self._client = await self._connected()
                was_there = True
                await self._serve(self._client)
            except Exception as error:  # noqa: BLE001 - whatever Dask raises, the answer is the same
                why = str(error) or type(error).__name__
            else:
                why = "the connection to the scheduler broke"
            client, self._client = self._client, None
            for task in list(self._background):
                task.cancel()
            if was_there and not self._closing.is_set():
                self._forget_all(why)
            was_there = False
            await _drop(client)
            with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
                await asyncio.wait_for(self._closing.wait(), PAUSE_S)

    async def _connected(self) -> "distributed.Client":
        import distributed  # noqa: PLC0415 - a run on one bed does not load it

        client: distributed.Client = await distributed.Client(
            self._where.address,
            security=self._where.security(),
            timeout=scaled(CONNECT_S),
            asynchronous=True,
            set_as_default=False,
            direct_to_workers=False,  # the controller need not reach machines that only the scheduler reaches
        )
        client.subscribe_topic("all", self._on_event)
        client.subscribe_topic(topic_of(self._session), self._on_told)
        return client

    async def _serve(self, client: "distributed.Client") -> None:
        """Follow workers for as long as the connection lasts."""
        since_look = RECONCILE_S
        while not self._closing.is_set() and client.status == "running":
            if self._changed.is_set() or since_look >= RECONCILE_S:
                self._changed.clear()
                since_look = 0.0
                await self._compare(client)
            waits = [asyncio.ensure_future(self._changed.wait()), asyncio.ensure_future(self._closing.wait())]
            await asyncio.wait(waits, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()
            since_look += LOOK_S

    async def _compare(self, client: "distributed.Client") -> None:
        """Find out who came and who went."""
        identity = await asyncio.wait_for(client.scheduler.identity(n_workers=-1), scaled(CONNECT_S))
        there = {}
        for address, each in identity["workers"].items():
            if not each.get("resources", {}).get("bed"):
                continue
            if each.get("status") == "init":  # it is as good as there, and no event tells when it is
                self._loop.call_later(LOOK_S, self._changed.set)
            elif each.get("status") in ("running", "paused"):
                worker = _Worker(address, str(each["name"]))
                there[worker.identifier] = worker
        for identifier in self._workers.keys() - there.keys():
            self._leave(identifier)
        for identifier in there.keys() - self._workers.keys():
            worker = there[identifier]
            self._workers[identifier], self._jobs[identifier] = worker, deque()
            self._reasons.pop(worker.address, None)
            self._happened.put(Joined(identifier, worker.name.partition(NAME_DIVIDER)[0]))

    def _leave(self, identifier: str) -> None:
        worker = self._workers.pop(identifier)
        for job in self._jobs.pop(identifier):
            self._release(job)
        why = self._reasons.pop(worker.address, "the scheduler does not know it any more")
        self._happened.put(Left(identifier, why))

    def _forget_all(self, why: str) -> None:
        self._workers.clear()
        self._jobs.clear()
        self._futures.clear()
        self._reasons.clear()
        self._happened.put(Away(why))

    def _on_event(self, event: tuple[float, Any]) -> None:
        message = event[1]
        action = message.get("action") if isinstance(message, Mapping) else None
        if action == "remove-worker":
            by, expected = str(message.get("stimulus_id", "")), bool(message.get("expected"))
            self._reasons[message["worker"]] = _why_removed(by, expected=expected)
        if action in ("add-worker", "remove-worker"):
            self._changed.set()

    def _on_told(self, event: tuple[float, Any]) -> None:
        message = event[1]
        for identifier, worker in self._workers.items():
            if worker.address == message["worker"]:
                with contextlib.suppress(RecordError):  # a worker of another lanelab is refused when it qualifies
                    self._happened.put(WorkerEvent(identifier, read_event(message["event"])))

    def _submit(self, number: int, identifier: str, name: JobName, payload: Coded) -> None:
        worker = self._workers.get(identifier)
        if worker is None:
            return  # it left, which the controller was told or is about to be
        jobs = self._jobs[identifier]
        jobs.append(_Job(number, worker, name, payload))
        if len(jobs) == 1:
            self._begin(jobs[0])

    def _begin(self, job: _Job) -> None:
        client, worker, payload = self._client, job.worker, json.dumps(job.payload.to_json())
        if client is None:
            return  # and all is forgotten at once
        order: JobOrder = {"name": job.name, "payload": payload, "session": self._session, "worker": worker.name}
        future = client.submit(
            run_job,
            order,
            key=f"{job.name}-{self._session}{job.number:016x}",
            workers=[worker.address],
            allow_other_workers=False,
            pure=False,
            retries=0,
            resources={"bed": 1},
        )
        self._futures[job.number] = future
        self._go(self._finish(job, future))

    async def _finish(self, job: _Job, future: "distributed.Future[Any]") -> None:
        """Wait for an answer. None comes from a worker that went: that was told."""
        try:
            kind, data = await future
            outcome = _outcome(job, kind, data)
        except Exception as error:  # noqa: BLE001 - what Dask raises where a worker or a connection is lost
            self._changed.set()
            await asyncio.sleep(2 * LOOK_S)  # so that whoever went has left
            what = f"the answer of {job.worker.name} to '{job.name}' did not arrive: {error or type(error).__name__}"
            outcome = Finished(job.number, job.worker.identifier, error=ClusterError(what))
        if job.number in self._futures:
            self._release(job)
            self._happened.put(outcome)
            jobs = self._jobs[job.worker.identifier]
            jobs.popleft()
            if jobs:
                self._begin(jobs[0])

    def _release(self, job: _Job) -> None:
        """Let Dask forget a job: its answer, or that it shall be done."""
        future = self._futures.pop(job.number, None)
        if future is not None:
            with contextlib.suppress(Exception):  # of a connection that is gone
                future.release()

    def _halt(self) -> None:
        client, addresses = self._client, [worker.address for worker in self._workers.values()]
        if client and addresses:
            self._go(self._ask_to_halt(client, addresses))

    async def _ask_to_halt(self, client: "distributed.Client", addresses: list[str]) -> None:
        with contextlib.suppress(Exception):  # a worker that is gone has halted
            await client.run(halt, self._session, workers=addresses, on_error="ignore")

    def _go(self, work: Any) -> None:  # noqa: ANN401 - a coroutine
        task = self._loop.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _drop(client: "distributed.Client | None") -> None:
    if client:
        with contextlib.suppress(Exception, asyncio.CancelledError):
            await asyncio.wait_for(client.close(timeout=2), 4)


def _page_there(url: str) -> str:
    """The address, where a page is there: a scheduler names its port also where it has no pages, or only at home."""
    with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(url, timeout=PAGE_S) as answer:  # noqa: S310
        return url if answer.status == http.HTTPStatus.OK else ""
    return ""


def _outcome(job: _Job, kind: str, data: Any) -> Finished:  # noqa: ANN401
    if kind == "error":
        error: LanelabError = error_from_message(json.loads(data))
        return Finished(job.number, job.worker.identifier, error=error)
    return Finished(job.number, job.worker.identifier, value=data if kind == "bytes" else json.loads(data))


def _why_removed(by: str, *, expected: bool) -> str:
    if "ttl" in by:
        return f"no sign of life for {WORKER_LIFE_S} s"
    return "it ended" if expected else "its connection broke: its process died, or its network is cut"


# --- functions that travel to workers

# They travel as they are, not by name: a scheduler that the user has reads them on their way, and need not have
# lanelab. So they use nothing but what they import themselves.


def _run_job(order: JobOrder) -> tuple[str, Any]:
    from lanelab.driver.run.sweep.worker.process import run_job  # noqa: PLC0415

    return run_job(order)


def _halt(session: str) -> None:
    from lanelab.driver.run.sweep.worker.process import halt  # noqa: PLC0415

    halt(session)


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same function without a module, so that pickle cannot name it and takes it whole."""
    shipped = types.FunctionType(function.__code__, {"__builtins__": __builtins__}, function.__name__)
    shipped.__module__ = "__main__"
    return shipped


run_job = by_value(_run_job)
halt = by_value(_halt)
