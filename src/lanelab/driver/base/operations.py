"""What one process does for another, as one interface: a class whose methods are operations.

    class Clock(Remote):
        @operation(lambda wish: 2 * wish.seconds)
        def sleep(self, wish: Wish) -> Slept:
            raise NotImplementedError

Whoever serves it derives from it and has the methods, `served` calls them. Whoever calls it derives from it and has
`ask`: the methods that it inherits send their arguments and read the answer, by the types that the interface names.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

from lanelab.driver.base.coded import JsonObject, decoded_as, encoded
from lanelab.driver.base.timeouts import ANSWER_WITHIN_S, scaled

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
OPERATION = "__operation__"


class Remote:
    """Makes an interface out of a class that derives from it."""

    def ask(self, name: str, arguments: JsonObject, within_s: float) -> object:
        """Let the other process do it. Everything is as JSON has it."""
        raise NotImplementedError


def usual_limit(**_: object) -> float:
    return scaled(ANSWER_WITHIN_S)


def operation(
    within_s: Callable[..., float] = usual_limit,
) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """Make a method one of the interface. `within_s`: how long it may take, with these arguments."""

    def decorate(method: Callable[Given, Answer]) -> Callable[Given, Answer]:
        signature = inspect.signature(method)

        @functools.wraps(method)
        def call(*positional: Given.args, **named: Given.kwargs) -> Answer:
            bound = signature.bind(*positional, **named)
            bound.apply_defaults()
            (_, remote), *arguments = bound.arguments.items()
            sent = {name: encoded(value) for name, value in arguments}
            answer = cast(Remote, remote).ask(method.__name__, sent, within_s(**dict(arguments)))
            return cast(Answer, decoded_as(_types(method)["return"], answer, method.__name__))

        setattr(call, OPERATION, method)
        return call

    return decorate


def operations(interface: type[Remote]) -> frozenset[str]:
    """Return the names of an interface's operations."""
    return frozenset(name for name, value in vars(interface).items() if hasattr(value, OPERATION))


def served(interface: type[Remote], by: Remote, name: str, arguments: Mapping[str, object]) -> object:
    """Return what an operation comes to, for arguments and with an answer as JSON has them."""
    types = _types(getattr(vars(interface)[name], OPERATION))
    decoded = {each: decoded_as(types[each], value, f"{name}: {each}") for each, value in arguments.items()}
    return encoded(getattr(by, name)(**decoded))


@functools.cache
def _types(method: Callable[..., Any]) -> Mapping[str, object]:
    return typing.get_type_hints(method)
