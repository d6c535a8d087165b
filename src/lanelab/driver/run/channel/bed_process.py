"""What a bed process does with its bed, as the controller asks over the channel. It is started by bed_start.py."""

import contextlib
import itertools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.driver.base.errors import BedError, InputError, LanelabError
from lanelab.driver.base.operations import operations, served
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.local import start_local
from lanelab.driver.bed.node import NODE_NAMES, Command, Process, Stdio, Terminal
from lanelab.driver.bed.remote.enclosure import BED_STATE
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link.live.live_link import LiveLink
from lanelab.driver.link.live.operations import LinkOperations
from lanelab.driver.run.channel.fact_operations import FactOperations
from lanelab.driver.run.channel.facts import BedFactsHere
from lanelab.driver.run.channel.protocol import Answer, Channel, Message, error_to_message

if TYPE_CHECKING:
    from lanelab.driver.trial.trials import Trials

NODE_SOCKET = f"{BED_STATE}/node.sock"
HELPERS = Path(__file__).resolve().with_name("helpers")
HANGUP_GRACE_S = 0.5
ENDINGS = ("halt_trial", "end_trial")  # do nothing where there was no trial yet

Operation = Callable[[Message, list[int]], Answer]


class BedProcess:
    """Answers requests, each in its own thread: some wait for a command to end."""

    node_socket = NODE_SOCKET

    def __init__(self, substrate: Substrate, placement: Mapping[str, str]) -> None:
        """Begin with no bed. `placement` has the processors of nodes that have some of their own."""
        self._substrate, self._placement = substrate, placement
        self._link = LiveLink(substrate)
        self._facts = BedFactsHere(substrate, self._link.state)
        # The link is the controller's: no script may change it in mid-run.
        self.for_scripts: Mapping[str, Operation] = {
            "exec": self._exec_for_script,
            "wait": self._wait,
            "signal": self._signal,
            "resize": self._resize,
        }
        self.for_controller: Mapping[str, Operation] = {
            **self.for_scripts,
            "exec": self._exec,
            "script": self._script,
            "do": self._do,
        }
        self._processes: dict[int, Process] = {}
        self._trials: Trials | None = None
        self._numbers = itertools.count(1)  # atomic, unlike adding one: requests are answered at the same time

    def serve(self, channel: Channel, operations: Mapping[str, Operation]) -> None:
        """Serve requests until the other end closes the channel or asks for the bed's end."""
        mine: list[int] = []
        while (received := channel.receive()) is not None:
            message, fds = received
            if message["op"] == "down":
                break
            operation = operations.get(message["op"])
            threading.Thread(target=self._answer, args=(channel, operation, message, fds, mine), daemon=True).start()
        for number in mine:
            with contextlib.suppress(LanelabError):
                self._end(number)

    def _end(self, number: int) -> None:
        """End the commands of a caller that goes away: first with a signal that they may handle, then with SIGKILL."""
        process = self._processes.pop(number, None)
        if process:
            process.signal(signal.SIGHUP)
            with contextlib.suppress(TimeoutError):
                process.wait(HANGUP_GRACE_S)
                return
            process.signal(signal.SIGKILL)

    def _answer(
        self, channel: Channel, operation: Operation | None, message: Message, fds: list[int], mine: list[int]
    ) -> None:
        try:
            if operation is None:
                raise BedError(f"the bed process has no operation '{message['op']}' for who asks here")
            ok = operation(message, fds)
            answer: Message = {"id": message["id"], "ok": ok}
            if "process" in ok:
                mine.append(ok["process"])
        except LanelabError as error:
            answer = {"id": message["id"], "error": error_to_message(error)}
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller must hear of it
            traceback.print_exc()
            what = f"internal error in the bed process during '{message.get('name', message['op'])}': {error!r}"
            answer = {"id": message["id"], "error": error_to_message(BedError(what, "Please report it"))}
        finally:
            for fd in fds:
                os.close(fd)
        with contextlib.suppress(OSError):
            channel.send(answer)

    # --- commands

    def _exec(self, message: Message, fds: list[int]) -> Answer:
        self._link.state.require_whole()
        name = message["node"]
        if name not in NODE_NAMES:
            raise InputError(f"there is no node '{name}'", f"There are: {', '.join(NODE_NAMES)}")
        command = Command(message["argv"], message.get("env") or {}, message.get("cwd"))
        size = message.get("tty")
        terminal = Terminal(*size) if size else None
        return self._remember(self._substrate.node(name).spawn(command, Stdio(*fds), terminal))

    def _exec_for_script(self, message: Message, fds: list[int]) -> Answer:
        """Run a command of a script, with the script's folder and environment where the node has them too."""
        if not self._substrate.traits.same_machine:
            message = {**message, "env": {"LANELAB_NODE": message["node"]}, "cwd": "/"}
        return self._exec(message, fds)

    def _script(self, message: Message, fds: list[int]) -> Answer:
        """Return a user's program beside the nodes, with `node` on its PATH."""
        self._link.state.require_whole()
        environment = {
            **os.environ,
            "PATH": f"{HELPERS}:{search_path()}",
            "LANELAB_NODE_SOCKET": NODE_SOCKET,
            "LANELAB_PYTHON": sys.executable,
            **({} if self._substrate.traits.same_machine else {"LANELAB_APART": "1"}),
            **{f"LANELAB_{name.upper()}": address for name, address in self._substrate.addresses().items()},
        }
        try:
            return self._remember(start_local(message["argv"], environment, Stdio(*fds), None))
        except OSError as error:
            raise InputError(f"cannot start '{message['argv'][0]}': {error.strerror}") from error

    def _remember(self, process: Process) -> Answer:
        number = next(self._numbers)
        self._processes[number] = process
        return {"process": number}

    def _process(self, message: Message) -> Process:
        try:
            return self._processes[message["process"]]
        except KeyError:
            raise BedError(f"the bed process has no command {message['process']}") from None

    def _wait(self, message: Message, _fds: list[int]) -> Answer:
        status = self._process(message).wait()
        self._processes.pop(message["process"], None)
        return {"status": status}

    def _signal(self, message: Message, _fds: list[int]) -> Answer:
        self._process(message).signal(message["signal"])
        return {}

    def _resize(self, message: Message, _fds: list[int]) -> Answer:
        self._process(message).resize(Terminal(message["rows"], message["columns"]))
        return {}

    # --- what the interfaces of the link, of trials and of facts have

    def _do(self, message: Message, _fds: list[int]) -> Answer:
        name = message["name"]
        for interface, here in ((LinkOperations, self._link), (FactOperations, self._facts)):
            if name in operations(interface):
                return {"answer": served(interface, here, name, message["with"])}
        return {"answer": self._do_with_trials(name, message["with"])}

    def _do_with_trials(self, name: str, arguments: Mapping[str, object]) -> object:
        """Do what only beds with trials do: others do not import what that needs."""
        from lanelab.driver.trial.operations import TrialOperations  # noqa: PLC0415

        if name not in operations(TrialOperations):
            raise BedError(f"the bed process has no operation '{name}'", "Please report it")
        if name in ENDINGS:  # also where the link is broken
            return served(TrialOperations, self._trials, name, arguments) if self._trials else None
        return served(TrialOperations, self._trials_here(), name, arguments)

    def _trials_here(self) -> "Trials":
        link = self._link.state
        link.require_whole()
        if self._trials is None:
            from lanelab.driver.trial.trials import Trials  # noqa: PLC0415

            self._trials = Trials(
                self._substrate,
                link.drain,
                link.compensation_us,
                placement=self._placement,
                player=link.mover,
                kept=link.kept,
                link=lambda: link.current,
            )
        return self._trials
