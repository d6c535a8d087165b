"""What a kernel allows, tried in a child process: whatever the attempt makes ends with that process.

Standard library only: it also runs on machines that ssh reaches.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import NamedTuple

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.system_path import SYSTEM_PATH
from lanelab.driver.bed.remote import namespaces

NETEM = ("qdisc", "replace", "dev", "lo", "root", "netem", "limit", "10")
UNSHAPED = ("qdisc", "del", "dev", "lo", "root")


class Refusal(NamedTuple):
    """Says why an attempt failed, and what to do about it."""

    what: str
    remedy: str = ""


class ReadOnlySettings(OSError):
    """A kernel that has netem, and whose settings may not be changed."""


def refusal(step: Callable[[], None], spaces: int) -> Refusal | None:
    """Try a step in new namespaces of these kinds; None where it works."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        answer: tuple[str, ...] = ("the attempt died", "")
        try:
            os.close(ours)
            namespaces.enter_user_namespace(spaces)
            step()
            answer = ()
        except LanelabError as error:
            answer = (error.what, error.remedy)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the parent reports it
            answer = (str(error) or repr(error), "")
        finally:
            os.write(theirs, json.dumps(answer).encode())
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    answer = json.loads(data or '["the attempt died"]')
    return Refusal(*answer) if answer else None


def make_netem(tc: str = "tc") -> None:
    """Shape an interface of this network namespace as a router does. Raises OSError with what is in the way."""
    must([tc, *NETEM])
    must([tc, *UNSHAPED])
    if not os.access("/proc/sys/net/ipv4/ip_forward", os.W_OK):
        raise ReadOnlySettings("/proc/sys is read-only here (in a container?), so it cannot be told to forward")


def must(argv: list[str]) -> None:
    """Run a program of the system. Raises OSError with its message when it fails."""
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": SYSTEM_PATH},
        check=False,
    )
    if done.returncode != 0:
        message = " ".join(done.stdout.decode(errors="replace").split())
        raise OSError("'" + " ".join(argv) + "' said: " + message)
