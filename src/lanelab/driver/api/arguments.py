"""Errors of the arguments of a call."""

from collections.abc import Iterator
from contextlib import contextmanager

from lanelab.driver.base.errors import ArgumentError, InputError


@contextmanager
def argument(name: str) -> Iterator[None]:
    """Raise each mistake within as one of the argument of that name."""
    try:
        yield
    except InputError as error:
        raise ArgumentError(error.what, error.remedy, key=name) from None
