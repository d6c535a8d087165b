"""Options that say how beds are made."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.substrates import NODE_NAMES, ROUTER_KINDS, SUBSTRATES, kind_meant, substrate_options
from lanelab.driver.base.errors import InputError

Decorated = Callable[..., Any]

router_option = click.option(
    "--router",
    type=click.Choice(ROUTER_KINDS),
    default="auto",
    show_default=True,
    help="What emulates the link: a Linux kernel run as a process (uml), or this machine's own (kernel)",
)


def bed_options_of(values: dict[str, Any]) -> BedOptions:
    """Takes the options of `bed_options` out of a command's arguments."""
    substrate, router, pins = values.pop("substrate"), values.pop("router"), values.pop("pins")
    paths = {option.name: values.pop(option.name) for option in substrate_options()}
    given = {name: str(path.resolve()) for name, path in paths.items() if path}
    here = kind_meant(substrate, given).traits.same_machine
    accept_links = values.pop("accept_links", False)  # only a run has it
    return BedOptions(substrate, given, router, cpus_of(pins, here=here), accept_links)


def bed_options(command: Decorated) -> Decorated:
    """How the bed is made; the command gets `options: BedOptions`."""

    def with_options(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - a click callback
        options = bed_options_of(arguments)
        return command(*args, options=options, **arguments)

    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    with_options.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    return _bed_options(with_options)


def _bed_options(command: Decorated) -> Decorated:
    for option in substrate_options():
        command = click.option(option.flag, option.name, type=click.Path(path_type=Path), help=option.help)(command)
    command = click.option(
        "--substrate",
        type=click.Choice(tuple(kind.name for kind in SUBSTRATES)),
        default="netns",
        show_default=True,
        help=f"What the nodes are: {', '.join(kind.help for kind in SUBSTRATES)}",
    )(command)
    return here_options(command)


def here_options(command: Decorated) -> Decorated:
    """Give a command the options that say how a bed on this machine is made."""
    command = click.option(
        "--pin",
        "pins",
        multiple=True,
        metavar="NODE=CPUS",
        help="Keep a node on these processors, like router=1 or client=0-3; may be given several times",
    )(command)
    return router_option(command)


def cpus_of(pins: tuple[str, ...], *, here: bool = True) -> dict[str, str]:
    """--pin as a mapping; `here`: the processors are this machine's."""
    cpus: dict[str, str] = {}
    for pin in pins:
        node, equals, numbers = pin.partition("=")
        like = "Write it like router=1 or client=0-3"
        if not equals or node not in NODE_NAMES:
            raise InputError(f"'{pin}' does not begin with client=, router= or server=", like, key="--pin")
        if not numbers or not all(re.fullmatch(r"[0-9]{1,5}(-[0-9]{1,5})?", part) for part in numbers.split(",")):
            raise InputError(f"'{numbers}' is no list of processors", like, key="--pin")
        if here:
            _require_processors(numbers)
        cpus[node] = numbers
    return cpus


def _require_processors(numbers: str) -> None:
    available = os.sched_getaffinity(0)
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        lacking = set(range(int(first), int(last or first) + 1)) - available
        if lacking or int(last or first) < int(first):
            what = f"there is no processor {min(lacking)} here" if lacking else f"'{part}' goes backwards"
            raise InputError(what, f"There are: {', '.join(map(str, sorted(available)))}", key="--pin")
