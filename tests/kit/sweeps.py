"""A sweep over the machines of a lab, as its operator has it: a controller at a desk, and a worker on each machine."""

import contextlib
import json
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit.sweep_machines import Lab, Machine, Program
from tests.kit.wait import wait_until
from tools.bench.leftovers import Part

# A link without a rate: nothing here depends on it, and measuring one on a busy machine takes its time.
EXPERIMENT = """\
sites: [dummy]
links: {{rtt: [20ms, 40ms]}}
defaults: {{start: fresh-context}}
arms: {{http: {{}}, h2: {{protocol: h2, tls: "1.3"}}}}
trials: {rounds}
timeout: 60s
seed: 11
"""
LIMIT_S = 300.0  # for one event, on a busy machine
NAMES = ("one", "two", "three")
WORKER_PROCESS = "lanelab.driver.run.sweep.worker.process"  # modules that they are
SCHEDULER_PROCESS = "lanelab.driver.run.sweep.scheduler_process"
JOIN = re.compile(r"""lanelab worker ([^\s"]+)""")


@dataclass
class Sweep:
    """One run. Its sessions follow one another; each machine has at most one worker command at a time."""

    lab: Lab
    rounds: int = 3
    names: tuple[str, ...] = NAMES
    name: str = "run"
    controller: Program = field(init=False)
    workers: dict[str, Program] = field(default_factory=dict)

    @property
    def desk(self) -> Machine:
        return self.lab.machines["desk"]

    @property
    def folder(self) -> Path:
        return self.desk.disk / self.name

    def _place(self, name: str) -> str:
        """A file of the desk, as the desk's own processes call it."""
        return str(self.desk.build.parent / name)

    def begin(self) -> None:
        (self.desk.disk / "experiment.yaml").write_text(EXPERIMENT.format(rounds=self.rounds))
        words = (self._place("experiment.yaml"), "--out", self._place(self.name), "--accept-links")
        self._listen(*words)

    def resume(self) -> None:
        self._listen("--resume", self._place(self.name))

    def _listen(self, *words: str) -> None:
        self.controller = self.desk.lanelab("run", *words, "--json", "--listen", self.desk.address)
        self.controller.await_word("lanelab worker ", LIMIT_S)

    @property
    def invitation(self) -> str:
        found = JOIN.search(self.controller.said())
        assert found, self.controller.said()
        return found.group(1)

    def lend(self, name: str, *options: str) -> Program:
        """The machine lends a bed to the run as it now is."""
        machine = self.lab.machines[name]
        self.workers[name] = machine.lanelab("worker", self.invitation, "--machine", name, *options)
        return self.workers[name]

    def lend_all(self) -> None:
        for name in self.names:
            self.lend(name)

    def lend_again(self) -> None:
        """Where a worker command has ended, as its owner sees to it."""
        for name in self.names:
            if name in self.workers and self.workers[name].ended():
                self.lend(name)

    # --- its parts, to be killed

    def part(self, program: Program, word: str) -> Part | None:
        """The process of a program that has this word in its command line, if there is one now."""
        for part in program.parts():
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{part.pid}/cmdline").read_bytes().decode(errors="replace"):
                    return part
        return None

    def worker_process(self, name: str) -> Part | None:
        """The one that has the bed, below the command that looks after it."""
        return self.part(self.workers[name], WORKER_PROCESS)

    def scheduler_process(self) -> Part | None:
        return self.part(self.controller, SCHEDULER_PROCESS)

    # --- what it tells

    def events(self, kind: str = "", name: str = "") -> list[dict[str, Any]]:
        """Of this session, in order. `name`: of a machine; those of its workers."""
        found = []
        for line in self.controller.said().splitlines():
            if line.startswith("{") and line.endswith("}"):
                event = json.loads(line)
                theirs = str(event.get("name", "")).partition("/")[0]
                if kind in ("", event["event"]) and name in ("", theirs):
                    found.append(event)
        return found

    def await_events(self, kind: str, times: int = 1, name: str = "") -> None:
        self.await_that(lambda: len(self.events(kind, name)) >= times, f"{times} events {kind} {name}")

    def await_that(self, is_so: Callable[[], bool], what: str) -> None:
        """While the controller runs."""
        wait_until(lambda: is_so() or self.controller.ended(), LIMIT_S, lambda: f"{what}: {self.said()}")
        assert is_so(), f"ended without {what}: {self.said()}"

    def is_playing(self, name: str) -> bool:
        """Whether a portion is under way there."""
        began = len(self.events("portion-started", name))
        over = sum(len(self.events(kind, name)) for kind in ("portion-stored", "portion-undone"))
        lost = sum(bool(event["portion_lost"]) for event in self.events("worker-left", name))
        return began > over + lost

    def await_playing(self, name: str) -> None:
        self.await_that(lambda: self.is_playing(name), f"a portion on {name}")

    def said(self) -> str:
        """By all, the end of it."""
        parts = {"controller": self.controller, **self.workers}
        return "\n".join(f"--- {name}\n{program.said()[-4000:]}" for name, program in parts.items())

    # --- its end

    def finish(self, timeout_s: float = 2 * LIMIT_S) -> None:
        """Wait for the controller, then send the workers home, as their owners do."""
        wait_until(self.controller.ended, timeout_s, self.said)
        assert self.controller.await_end(0) == 0, self.said()
        self.send_home()

    def send_home(self) -> None:
        for worker in self.workers.values():
            worker.send(signal.SIGINT)
        for worker in self.workers.values():
            worker.await_end(LIMIT_S)
