"""Waiting in tests: for what is to happen, and never for so long as it usually takes."""

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_S = 60
T = TypeVar("T")


def wait_until(is_so: Callable[[], object], timeout_s: float = LIMIT_S, what: Callable[[], object] = str) -> None:
    """Return as soon as it is so, however long a busy machine takes: the limit only ends a hang. `what` is for the
    error."""
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline, f"did not come within {timeout_s} s: {what()}"
        time.sleep(0.02)


def left_after(see: Callable[[], T], timeout_s: float = LIMIT_S) -> T:
    """Wait until nothing is seen any more; what is still there, for the caller to compare with nothing."""
    deadline = time.monotonic() + timeout_s
    while (left := see()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
