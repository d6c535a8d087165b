"""Faults at random moments of sweeps, one after the other, as a seed decides. An operator sees to what has ended: a
worker is started again, a controller goes on."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.sweep_checks import problems
from tests.kit.sweep_machines import Lab
from tests.kit.sweeps import LIMIT_S, NAMES, Sweep
from tests.kit.wait import left_after, wait_until
from tools.bench.leftovers import Part

LONGEST_PAUSE_S = 10.0  # from fault to fault, beside what the fault itself takes
LONGEST_CUT_S = 45.0  # longer than it takes for anybody to be given up
ROUNDS = 10


@dataclass
class Figures:
    faults: Counter[str] = field(default_factory=Counter)
    trials: int = 0
    runs: int = 0
    sessions: int = 0
    problems: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def number(self) -> int:
        return sum(self.faults.values())


class Kills:
    def __init__(self, lab: Lab, seed: int, tell: Callable[[str], None]) -> None:
        self.lab, self.chance, self.tell = lab, random.Random(seed), tell
        self.figures = Figures()
        self.sweep: Sweep
        self.faults: dict[str, Callable[[], None]] = {
            "worker process": lambda: self.kill(self.sweep.worker_process(self.one())),
            "worker command": lambda: self.kill(next(iter(self.sweep.workers[self.one()].parts()), None)),
            "machine": self.kill_machine,
            "scheduler": lambda: self.kill(self.sweep.scheduler_process()),
            "controller": lambda: self.kill(next(iter(self.sweep.controller.parts()), None)),
            "some process": self.kill_some,
            "network of a machine": lambda: self.cut(self.one()),
            "network of the desk": lambda: self.cut("desk"),
        }

    def play(self, number: int) -> Figures:
        """So many faults, in as many runs as they take; each run comes to its end."""
        while self.figures.number < number:
            self.figures.runs += 1
            self.sweep = Sweep(self.lab, ROUNDS, name=f"run-{self.figures.runs}")
            self.sweep.begin()
            self.sweep.lend_all()
            self.play_run(number)
        return self.figures

    def play_run(self, number: int) -> None:
        while self.figures.number < number and not self.is_over():
            self.pause()
            name = self.chance.choice(list(self.faults))
            self.tell(f"fault {self.figures.number + 1}: {name}")
            self.faults[name]()
            self.figures.faults[name] += 1
            self.see_to_it()
        deadline = time.monotonic() + 4 * LIMIT_S
        while not self.is_over():
            assert time.monotonic() < deadline, self.sweep.said()
            self.see_to_it()
            time.sleep(0.2)  # between two looks at everything
        self.sweep.send_home()
        self.judge()

    def judge(self) -> None:
        found = problems(self.sweep.folder, ROUNDS, endings=None)
        self.figures.problems += [f"{self.sweep.name}: {each}" for each in found]
        self.figures.left += self.lab.left()
        self.figures.trials += ROUNDS * 4
        self.tell(f"{self.sweep.name}: {found or 'whole'}; left: {self.figures.left}")

    def is_over(self) -> bool:
        """Whether the run has all that it asks for."""
        return self.sweep.controller.ended() and self.sweep.controller.await_end(0) == 0

    def see_to_it(self) -> None:
        if self.sweep.controller.ended() and not self.is_over():
            assert "Traceback" not in self.sweep.controller.said(), self.sweep.said()
            self.sweep.resume()
            self.figures.sessions += 1
        self.sweep.lend_again()

    # --- faults

    def one(self) -> str:
        return self.chance.choice(NAMES)

    def pause(self) -> None:
        """A random moment is what is wanted."""
        left_after(lambda: not self.is_over(), self.chance.uniform(0, LONGEST_PAUSE_S))

    def kill(self, part: Part | None) -> None:
        """What is gone by itself is as good as killed."""
        if part:
            try:
                os.kill(part.pid, signal.SIGKILL)
            except ProcessLookupError:
                return
            wait_until(lambda: not Path(f"/proc/{part.pid}/exe").exists(), LIMIT_S, lambda: str(part))

    def kill_some(self) -> None:
        """Any one of all that there are: of a bed, of a worker, of the controller."""
        programs = [self.sweep.controller, *self.sweep.workers.values()]
        parts = [part for program in programs for part in program.parts()]
        if parts:
            self.kill(self.chance.choice(parts))

    def kill_machine(self) -> None:
        name = self.chance.choice([*NAMES, "desk"])
        self.lab.machines[name].kill()
        self.lab.machines[name].boot()
        programs = [self.sweep.controller] if name == "desk" else [self.sweep.workers[name]]
        for program in programs:
            program.await_end(LIMIT_S)

    def cut(self, name: str) -> None:
        """For a moment, or for so long that it is noticed."""
        machine = self.lab.machines[name]
        machine.cut(self.chance.choice(("down", "silent")))
        left_after(lambda: not self.is_over(), self.chance.uniform(0, LONGEST_CUT_S))
        machine.mend()
