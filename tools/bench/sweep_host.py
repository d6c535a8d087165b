"""A process with several Dask Workers that sleep, so that a few processes are many workers. Its settings come as one
line of JSON, and it ends with its input."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.driver.base.coded import Coded
from lanelab.driver.run.sweep.address import SchedulerAddress
from lanelab.driver.run.sweep.dask_settings import be_quiet
from lanelab.driver.run.sweep.worker import process
from tools.bench.sleeping import Sleep, SleepingWorker, registered

if TYPE_CHECKING:
    import distributed

    from lanelab.driver.run.sweep.worker.context import WorkerContext


@dataclass(frozen=True, slots=True)
class HostSettings(Coded):
    scheduler: SchedulerAddress
    first: int  # number of its first worker
    workers: int
    machine: str
    sleep: Sleep
    folder: Path


_WORKERS: dict[str, SleepingWorker] = {}  # by the name of the Dask Worker


def run(name: str, payload: object, _context: "WorkerContext") -> object:
    """Run a job as a real worker does (lanelab.driver.run.sweep.worker.jobs)."""
    from distributed.worker import get_worker  # noqa: PLC0415

    return _WORKERS[str(get_worker().name)].run(name, payload)


def main() -> None:
    settings = HostSettings.from_json(json.loads(sys.stdin.readline()))
    process.do_jobs_of(__name__)
    with registered():
        asyncio.run(_serve(settings))


async def _serve(settings: HostSettings) -> None:
    be_quiet()
    workers = []
    for number in range(settings.first, settings.first + settings.workers):
        name = f"{settings.machine}/{number} #{os.getpid()}"
        folder = settings.folder / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        _WORKERS[name] = SleepingWorker(f"{number}", settings.machine, settings.sleep, folder)
        workers.append(await _worker(settings, name, folder))
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # nothing here has to end in order


async def _worker(settings: HostSettings, name: str, folder: Path) -> "distributed.Worker":
    import dask  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    dask.config.set({"distributed.worker.http.routes": ["distributed.http.health"]})
    worker: distributed.Worker = await distributed.Worker(
        settings.scheduler.address,
        security=settings.scheduler.security(),
        name=name,
        nthreads=1,
        resources={"bed": 1},
        memory_limit=0,
        local_directory=str(folder / "dask"),
        dashboard_address="127.0.0.1:0",
    )
    return worker
