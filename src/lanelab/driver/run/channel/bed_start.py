"""The start and the end of a bed process. lanelab.driver.run.channel.client starts it, never a user.

It ends, and with it everything that it made, when it is asked to, when the channel closes, when the controller ends, or
when it is killed.
"""

import contextlib
import importlib
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING

from lanelab.driver.base import configuration
from lanelab.driver.base.errors import BedError, LanelabError
from lanelab.driver.bed.registry import kind_named, read_settings
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.run.channel.protocol import VERSION, BedReady, Channel, Message, error_to_message

if TYPE_CHECKING:  # imported while the router boots
    from lanelab.driver.run.channel.bed_process import BedProcess

BED_PROCESS = "lanelab.driver.run.channel.bed_process"


def _end_at_once(why: str) -> None:
    """End when a node has ended: a bed without it is of no use, and the controller sees at once that it is gone."""
    print(why, file=sys.stderr, flush=True)
    os._exit(1)


def serve_nodes(bed: "BedProcess") -> None:
    """Let programs beside the nodes reach them with the `node` helper."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(bed.node_socket)
    listener.listen(64)

    def serve_one(connection: socket.socket) -> None:
        channel = Channel(connection)
        with contextlib.suppress(OSError):
            channel.send({"lanelab_bed": VERSION})
            bed.serve(channel, bed.for_scripts)
        channel.close()

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve_one, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, name="node-helper", daemon=True).start()


def handle_of(controller_pid: int) -> int:
    """Return a pidfd of the controller. The bed ends with that process, whichever of its threads started the bed."""
    try:
        controller = os.pidfd_open(controller_pid)
    except ProcessLookupError:
        raise SystemExit(0) from None
    except OSError as error:
        what = f"this kernel does not let a bed watch its controller (pidfd_open: {error.strerror})"
        raise BedError(what, "Use Linux 5.3 or later; a container must allow that system call") from error
    if os.getppid() != controller_pid:  # it ended before, and its number may be another process's by now
        raise SystemExit(0)
    return controller


def receive_settings(channel: Channel, controller: int) -> Message:
    """Return the controller's first message. Ends this process when the controller ends first: that does not close the
    channel where a process that the controller has forked holds it open."""
    watched = select.poll()
    for fd in (channel.fileno(), controller):
        watched.register(fd, select.POLLIN)
    ready = [fd for fd, _ in watched.poll()]
    received = None if controller in ready else channel.receive()
    if received is None:
        raise SystemExit(0)
    return received[0]


def make_bed(channel: Channel, controller: int) -> "tuple[Substrate, BedProcess]":
    """Make namespaces, nodes and router, before any thread serves the controller's requests."""
    settings = read_settings(receive_settings(channel, controller))
    started = time.monotonic()
    namespaces.precise_timers()
    substrate = kind_named(settings.substrate).make(settings.nodes)
    substrate.enter(settings, controller)
    substrate.meanwhile = lambda: importlib.import_module(BED_PROCESS)
    substrate.bring_up(settings)
    substrate.when_lost(_end_at_once)
    from lanelab.driver.run.channel.bed_process import BedProcess  # noqa: PLC0415

    bed = BedProcess(substrate, settings.cpus)
    serve_nodes(bed)
    ready = BedReady(
        lanelab_bed=VERSION,
        router=substrate.router.kind,
        kernel=substrate.router.kernel,
        proven_bps=substrate.router.proven.bps,
        addresses=substrate.addresses(),
        bring_up_s=time.monotonic() - started,
    )
    channel.send(ready.to_json())
    return substrate, bed


def main() -> None:
    """Run the bed's process. Its arguments are the descriptor of the channel, and the controller's process number."""
    for number in (signal.SIGINT, signal.SIGHUP):
        # The controller's affair; it closes the channel. Not SIG_IGN, which our commands would inherit.
        signal.signal(number, lambda *_: None)
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    try:
        configuration.load()
        substrate, bed = make_bed(channel, handle_of(int(sys.argv[2])))
        bed.serve(channel, bed.for_controller)
        substrate.close()
    except LanelabError as error:
        with contextlib.suppress(OSError):
            channel.send({"error": error_to_message(error)})
    except OSError as error:
        traceback.print_exc()
        with contextlib.suppress(OSError):
            channel.send({"error": error_to_message(BedError(f"the bed could not be made: {error}"))})
    sys.stderr.flush()
    os._exit(0)  # threads that still wait for a command must not hold up the end
