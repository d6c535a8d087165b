"""Errors of the arguments of a call."""

import operator
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.settings.kinds import near_miss


def whole(value: object, name: str, least: int, most: int) -> int:
    """Return a whole number, of numpy's too. ArgumentError for anything else."""
    try:
        number = operator.index(value)  # type: ignore[arg-type] # what this is for
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise ArgumentError(f"{value!r} cannot be used", f"Write a whole number from {least} to {most}", key=name)
    return number


def known(name: object, names: Collection[str], argument_name: str, what: str) -> None:
    """Raise ArgumentError where there is no such name. `what` says so."""
    if name not in names:
        remedy = f"{near_miss(str(name), names)}Write one of {', '.join(names)}"
        raise ArgumentError(what, remedy, key=argument_name)


@contextmanager
def argument(name: str) -> Iterator[None]:
    """Raise each mistake within as one of the argument of that name."""
    try:
        yield
    except InputError as error:
        raise ArgumentError(error.what, error.remedy, key=name) from None
