"""The functions that travel to workers. They travel as they are, not by name: a scheduler that the user has reads them
on their way, and need not have lanelab. So they use nothing but what they import themselves.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any


def _run_job(order: dict[str, Any]) -> tuple[str, Any]:
    from driver.sweep.worker.process import run_job  # noqa: PLC0415

    return run_job(order)


def _halt(session: str) -> None:
    from driver.sweep.worker.process import halt  # noqa: PLC0415

    halt(session)


def by_value(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of no module, so that pickle cannot name it and takes it whole."""
    shipped = types.FunctionType(function.__code__, {"__builtins__": __builtins__}, function.__name__)
    shipped.__module__ = "__main__"
    return shipped


run_job = by_value(_run_job)
halt = by_value(_halt)
