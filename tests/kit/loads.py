"""Loads for tests of generators: what they are to do, without a bed."""

from collections.abc import Mapping, Sequence
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.trial.load_settings import LoadSettings
from lanelab.driver.trial.server_load.generator import Generator, Output, Target

USUAL: Mapping[str, Any] = {
    "script": "", "script_text": "", "users": (), "arrivals": (), "think_s": 0.0, "limit_ms": 3000.0, "warm_up_s": 0.0,
    "request_timeout_s": 60.0, "parameters": (), "thresholds": (), "connections": 10, "streams": 1, "requests": 1000,
    "lasts_s": 0.0, "most_bytes": 10**11,
}  # fmt: skip


def settings(generator: str, **changes: Any) -> LoadSettings:
    own = {"requests": 0, "lasts_s": 2.0} if generator == "wrk" else {}
    return LoadSettings(**{**USUAL, **own, **changes, "generator": generator})


def target(
    generator: Generator,
    arm: Mapping[str, Any] | None = None,
    paths: Sequence[str] = ("/a.bin",),
    sizes: Sequence[int | None] = (10_240,),
    **changes: Any,
) -> Target:
    made = Arm.parse("made", arm or {})
    return Target(
        settings=settings(generator.name, **changes),
        arm=made,
        urls=tuple(f"{made.scheme}://load.test{path}" for path in paths),
        body_sizes=tuple(sizes),
        address="10.10.2.2",
        port=443 if made.tls != "off" else 80,
        authority="",
        folder="/run/generator",
        program=f"/usr/bin/{generator.name}",
        seed=1,
        script=b"",
    )


def left(stdout: str = "", status: int | None = 0, stderr: str = "", **files: str) -> Output:
    """`files`: by their names, with _ for the dot."""
    return Output(status, stdout, stderr, {name.replace("_", "."): text.encode() for name, text in files.items()})
