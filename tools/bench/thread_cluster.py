"""A cluster without an engine: each worker is a thread of this process."""

import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from lanelab.driver.base.coded import Coded
from lanelab.driver.run.sweep.cluster import Finished, Happening, JobName, Joined

END = None  # of a worker's jobs


class DoesJobs(Protocol):
    """A worker of this cluster. It may raise any error."""

    def run(self, name: str, payload: object) -> object: ...  # JSON, and bytes


class ThreadCluster:
    """A cluster whose workers are threads of this process (see lanelab.driver.run.sweep.cluster)."""

    dashboard = ""

    def __init__(self, workers: Mapping[str, DoesJobs], on_halt: Callable[[], None] = lambda: None) -> None:
        self._on_halt, self._next = on_halt, 0
        self._happened: queue.SimpleQueue[Happening] = queue.SimpleQueue()
        self._jobs: dict[str, queue.SimpleQueue[tuple[int, JobName, Coded] | None]] = {}
        self._threads = []
        for name, worker in workers.items():
            self._jobs[name] = queue.SimpleQueue()
            self._threads.append(threading.Thread(target=self._work, args=(name, worker), name=name, daemon=True))
            self._happened.put(Joined(name, name))
        for thread in self._threads:
            thread.start()

    def wait(self, timeout_s: float) -> list[Happening]:
        happened: list[Happening] = []
        with suppress(queue.Empty):
            happened.append(self._happened.get(timeout=timeout_s))
            while True:
                happened.append(self._happened.get_nowait())
        return happened

    def start(self, worker: str, name: JobName, payload: Coded) -> int:
        self._next += 1
        self._jobs[worker].put((self._next, name, payload))
        return self._next

    def halt(self) -> None:
        self._on_halt()

    def close(self) -> None:
        for jobs in self._jobs.values():
            jobs.put(END)
        for thread in self._threads:
            thread.join()

    def _work(self, name: str, worker: DoesJobs) -> None:
        while job := self._jobs[name].get():
            number, what, payload = job
            try:
                finished = Finished(number, name, worker.run(what, payload.to_json()))
            except Exception as error:  # noqa: BLE001 - as an engine has it: the controller is told
                finished = Finished(number, name, error=error)
            self._happened.put(finished)
