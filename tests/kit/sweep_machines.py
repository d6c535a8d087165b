"""The machines of sweep_lab.py as tests hold them: what runs there, and what can befall them."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.driver.base.paths import PROJECT
from tests.kit.wait import left_after, wait_until
from tools.bench.leftovers import Part, parts_of

PYTHON = sys.executable
GONE_WITHIN_S = 60.0  # a busy kernel takes its time; nothing waits so long where all is well
CLOCK_SOURCE = Path(__file__).with_name("clock.c")


def why_not() -> str:
    """Why no lab can be made here; "": one can."""
    words = ["unshare", "--user", "--map-root-user", "--net", "ip", "link", "add", "switch", "type", "bridge"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return f"no bridge can be made: {done.stderr.strip()}" if done.returncode else ""


@dataclass
class Program:
    """A command that runs on a machine."""

    machine: "Machine"
    entered: subprocess.Popen[bytes]  # its parent, which ends with its status
    log: Path  # all that it says

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def ended(self) -> bool:
        return self.entered.poll() is not None

    def parts(self) -> list[Part]:
        """The command itself and all that it started, as this side sees them."""
        return [part for part in parts_of(self.entered.pid) if part.pid != self.entered.pid]

    def send(self, number: signal.Signals) -> None:
        """To the command itself."""
        with contextlib.suppress(ProcessLookupError, IndexError):
            os.kill(self.parts()[0].pid, number)

    def await_end(self, timeout_s: float) -> int:
        try:
            return self.entered.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"did not end within {timeout_s} s: {self.said()[-3000:]}") from None

    def await_word(self, word: str, timeout_s: float, times: int = 1) -> None:
        """Wait until it has said something, so often."""
        wait_until(
            lambda: self.said().count(word) >= times or self.ended(), timeout_s, lambda: f"{word!r}: {self.said()}"
        )
        assert self.said().count(word) >= times, f"ended without {word!r}: {self.said()}"


@dataclass
class Machine:
    name: str
    init: int  # its first process, as this side sees it
    address: str
    lab: "Lab"
    project: Path = PROJECT  # the lanelab that it has
    preload: str = ""

    @property
    def disk(self) -> Path:
        """As this side reaches it."""
        return Path(f"/proc/{self.lab.pid}/root{self.lab.folder / self.name}")

    @property
    def build(self) -> Path:
        """As its own processes call it."""
        return self.lab.folder / self.name / "build"

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "PYTHONPATH": f"{self.project / 'src'}:{self.project}",
            "LANELAB_BUILD": str(self.build),
            "LANELAB_NO_INSTALL": "1",
            "TMPDIR": str(self.lab.folder / self.name / "tmp"),
        }
        clock = {"LD_PRELOAD": self.preload, "LANELAB_CLOCK": str(self.lab.clock_of(self.name))} if self.preload else {}
        return {**os.environ, **own, **clock}

    def lanelab(self, *words: str, env: Mapping[str, str] | None = None) -> Program:
        """`./lanelab` there, without the launcher."""
        return self.run(PYTHON, "-P", "-m", "lanelab.driver.cli", *words, env=env)

    def run(self, *argv: str, env: Mapping[str, str] | None = None) -> Program:
        """A command there. It dies with this process, and with the machine."""
        log = self.lab.logs / f"{self.name}-{self.lab.count()}.log"
        words = [PYTHON, "-P", "-m", "tests.bed.ssh_lab", "enter", str(self.init), *argv]
        with log.open("wb") as said:
            entered = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=PROJECT,
                env={**self.environment, **(env or {})}, start_new_session=True,
            )  # fmt: skip
        program = Program(self, entered, log)
        self.lab.programs.append(program)
        return program

    # --- what can befall it

    def kill(self) -> None:
        """All its processes at once, as when its power goes."""
        self.lab.order("kill", self.name)

    def boot(self) -> None:
        """Come up again with the same address and disk."""
        self.init = self.lab.start(self.name)

    def cut(self, how: str) -> None:
        """Its network. `down`: it sees that its cable is out; `silent`: nobody is told that nothing arrives."""
        self.lab.order("cut", self.name, how)

    def mend(self) -> None:
        self.lab.order("mend", self.name)

    def fill(self, spare_mib: int = 0) -> None:
        """Its disk, up to what is spared."""
        with contextlib.suppress(OSError), (self.disk / "filler").open("ab") as filler:
            while shutil.disk_usage(self.disk).free >> 20 > spare_mib:
                filler.write(bytes(1 << 20))
                filler.flush()

    def make_room(self) -> None:
        (self.disk / "filler").unlink(missing_ok=True)

    def set_clock(self, ahead_s: float) -> None:
        """For all its Python processes: those that begin from now on, and later also those that run."""
        if not self.preload:
            self.preload = str(self.lab.clock_library())
        self.lab.clock_of(self.name).write_text(str(int(ahead_s * 1e9)))

    # --- what is left there

    def processes(self) -> list[str]:
        found = []
        for entry in Path(f"/proc/{self.init}/root/proc").iterdir():
            if entry.name.isdigit() and entry.name != "1":
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace")
                    found.append(f"process {entry.name}: {words or (entry / 'comm').read_text().strip()}")
        return found

    def left(self, within_s: float = GONE_WITHIN_S) -> list[str]:
        """What there is beside what a machine has that nobody works on; waits a moment for what is about to go."""
        left = left_after(lambda: [*self.processes(), *self._network(), *self._mounts(), *self._files()], within_s)
        return [f"{self.name}: {each}" for each in left]

    def _network(self) -> list[str]:
        inner = Path(f"/proc/{self.init}/net")
        devices = {line.partition(":")[0].strip() for line in (inner / "dev").read_text().splitlines()[2:]}
        found = [f"interface {device}" for device in sorted(devices - {"lo", "eth0"})]
        for kind in ("tcp", "tcp6", "udp", "udp6"):
            with contextlib.suppress(OSError):
                for line in (inner / kind).read_text().splitlines()[1:]:
                    place, state = line.split()[1], line.split()[3]
                    if state in ("0A", "07"):  # listens; an udp socket that is bound
                        found.append(f"port {int(place.rpartition(':')[2], 16)} of {kind}")
        return found

    def _mounts(self) -> list[str]:
        places = [line.split()[4] for line in Path(f"/proc/{self.init}/mountinfo").read_text().splitlines()]
        return [f"mount {place}" for place in places if place not in self.lab.mounts[self.init]]

    def _files(self) -> list[str]:
        root = Path(f"/proc/{self.init}/root")
        found = [f"file {path.name} in /dev/shm" for path in (root / "dev/shm").iterdir()]
        found += [f"file {path.name} in /run" for path in (root / "run").iterdir() if path.name != "machine-id"]
        found += [f"file {path.name} in its TMPDIR" for path in (self.disk / "tmp").iterdir()]
        return found


class Lab:
    """Machines on this one, until it is closed: then nothing of them is left."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sweep-"))  # a short name: sockets have their paths in it
        self.folder.chmod(0o755)
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self.programs: list[Program] = []
        self.machines: dict[str, Machine] = {}
        self.mounts: dict[int, set[str]] = {}
        self._count = 0
        self._process = subprocess.Popen(
            [PYTHON, "-P", "-m", "tests.kit.sweep_lab", str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            cwd=PROJECT,
        )
        self._answer()
        self.pid = parts_of(self._process.pid)[2].pid  # launcher, init, and the one that has the machines

    def __enter__(self) -> "Lab":
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(GONE_WITHIN_S)
        for program in self.programs:
            program.entered.wait(GONE_WITHIN_S)
        shutil.rmtree(self.folder, ignore_errors=True)

    def machine(self, name: str, disk_mib: int = 0) -> Machine:
        """A new one. `disk_mib`: the size of its disk; 0: as large as this machine's."""
        machine = Machine(name, 0, "", self)
        self.machines[name] = machine
        machine.init = self.start(name, disk_mib)
        return machine

    def start(self, name: str, disk_mib: int = 0) -> int:
        number, address = self.order("start", name, disk_mib)
        (init,) = (pid for pid in _children(self.pid) if _number_inside(pid) == number)
        self.machines[name].address = address
        lines = Path(f"/proc/{init}/mountinfo").read_text().splitlines()
        self.mounts[init] = {line.split()[4] for line in lines}
        return init

    def order(self, *words: object) -> Any:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(words).encode() + b"\n")
        self._process.stdin.flush()
        answer = self._answer()
        assert "is" in answer, f"{words}: {answer}"
        return answer["is"]

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        assert line, "the lab has ended"
        return json.loads(line)

    def count(self) -> int:
        self._count += 1
        return self._count

    def clock_of(self, name: str) -> Path:
        return self.folder / f"clock-{name}"

    def clock_library(self) -> Path:
        library = self.folder / "clock.so"
        if not library.exists():
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(CLOCK_SOURCE)], check=True)
        return library

    def left(self) -> list[str]:
        """On all machines."""
        return [each for machine in self.machines.values() for each in machine.left()]


def _children(pid: int) -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit() and _parent(entry) == pid]


def _parent(entry: Path) -> int:
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _number_inside(pid: int) -> int:
    """The number of a process as the process namespace next to ours has it."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("NSpid:"):
            numbers = line.split()[1:]
            return int(numbers[1]) if len(numbers) > 1 else 0
    return 0
