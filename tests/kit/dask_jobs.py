"""Jobs that workers of tests do: they need no bed."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.run.events import Notice
from lanelab.driver.run.sweep.worker.context import WorkerContext
from tests.kit.wait import left_after


@dataclass(frozen=True, slots=True)
class Order(Coded):
    """A message of any words."""

    words: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return dict(self.words)


def run(name: str, payload: Mapping[str, Any], context: WorkerContext) -> Any:
    """`name` is one of the real names; what is done is in the payload."""
    do = payload.get("do", name)
    if do == "about":
        return {
            "name": context.name,
            "pid": os.getpid(),
            "processors": sorted(os.sched_getaffinity(0)),
            "allowed": sorted(context.allowed),
        }
    if do == "bytes":
        return bytes(payload["size"])
    if do == "fail":
        raise InputError("that is wrong", "Do it right", key="rtt")
    if do == "break":
        return 1 // 0
    if do == "tell":
        context.tell(Notice("seven"))
        return None
    if do == "until-halted":
        left_after(lambda: not context.is_halted())
        return {"halted": context.is_halted()}
    return {"echo": payload}
