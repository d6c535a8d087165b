"""`node NAME COMMAND…` for scripts beside a bed: the command runs on the node with this program's own descriptors,
folder and environment, gets the signals that this program gets, and ends with it."""

import contextlib
import os
import queue
import signal
import socket
import sys
import threading
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[4]))  # last: installed, much else is in that folder

from lanelab.driver.run.channel.protocol import Channel, ErrorWords, Message

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def fail(what: str) -> int:
    print(f"node: {what}", file=sys.stderr)
    return 1


def ask(channel: Channel, message: Message, fds: tuple[int, ...] = ()) -> Message:
    """Ask one question at a time, so the next message is its answer."""
    channel.send(message, fds)
    received = channel.receive()
    gone: ErrorWords = {"type": "BedLost", "what": "the bed is gone", "remedy": "", "key": "", "place": ""}
    return received[0] if received else {"error": gone}


def environment() -> dict[str, str]:
    """Return the script's own environment, with PATH as it was before this helper came first in it."""
    helpers = str(Path(__file__).resolve().with_name("helpers"))
    folders = [folder for folder in os.environ.get("PATH", "").split(":") if folder != helpers]
    return {**os.environ, "PATH": ":".join(folders), "LANELAB_NODE": sys.argv[1]}


def main() -> int:
    name, argv = sys.argv[1], sys.argv[2:]
    if not argv:
        return fail(f"what to run on the {name}? Write: node {name} COMMAND...")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(os.environ.get("LANELAB_NODE_SOCKET", ""))
    except OSError:
        return fail("there is no bed here: this helper works in scripts that 'lanelab bed run' starts")
    channel = Channel(connection)
    channel.receive()
    try:
        folder = os.getcwd()  # noqa: PTH109
    except OSError:
        return fail("the folder that you are in no longer exists. Go to another one with cd")
    request: Message = {"id": 1, "op": "exec", "node": name, "argv": argv, "env": environment(), "cwd": folder}
    try:
        answer = ask(channel, request, (0, 1, 2))
    except OSError:
        return fail("the bed is gone")
    if "error" in answer:
        return fail(". ".join(part for part in (answer["error"]["what"], answer["error"]["remedy"]) if part))
    process = answer["ok"]["process"]
    pass_signals(channel, process)
    with contextlib.suppress(OSError):
        channel.send({"id": 2, "op": "wait", "process": process})
    status = wait_for(channel)
    return 128 - status if status < 0 else status


def pass_signals(channel: Channel, process: int) -> None:
    """A handler must not wait, and the channel may: so a thread passes them on. What we were started without, as by
    nohup or as a background job, stays ignored."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()

    def pass_on() -> None:
        while True:
            number = waiting.get()
            with contextlib.suppress(OSError):
                channel.send({"id": 0, "op": "signal", "process": process, "signal": number})

    threading.Thread(target=pass_on, name="signals", daemon=True).start()
    for number in PASSED_ON:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _frame: waiting.put(number))


def wait_for(channel: Channel) -> int:
    """Wait for the command in a thread, so that signals are handled meanwhile."""
    statuses = [1]

    def receive() -> None:
        while (received := channel.receive()) is not None:
            if received[0]["id"] == 2:
                statuses[0] = received[0].get("ok", {}).get("status", 1)
                return

    thread = threading.Thread(target=receive)
    thread.start()
    thread.join()
    return statuses[0]


if __name__ == "__main__":
    sys.exit(main())
