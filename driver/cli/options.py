"""Options that several commands share. Those of the link are made from its table of settings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import click

from driver.bed.node import NODE_NAMES
from driver.bed.substrate import ROUTER_KINDS
from driver.cli.output import note
from driver.errors import InputError
from driver.link import SETTINGS, Link
from driver.link.fields import Setting
from driver.profiles import PROFILES, resolve

Decorated = Callable[..., Any]

LINK_EPILOG = (
    "Directions and hosts apart: --rate-down and --rate-up, --queue-down, --loss-up, --congestion-control-server and "
    "so on. Values carry their units: 100ms, 1.5mbit, 0.1%, 64kB. All of them: docs/reference/link.md"
)


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")


def _help(setting: Setting) -> str:
    default = (setting.field.default or setting.field.otherwise).replace("`", "")
    return f"{setting.help}, like {setting.field.example} (default: {default})"


def link_options(command: Decorated) -> Decorated:
    """--profile and one option for each setting of a link; the command gets `link: Link`."""

    def with_link(*args: Any, **given: Any) -> Any:  # noqa: ANN401 - a click callback
        overrides = {key: value for key in SETTINGS if (value := given.pop(key)) is not None}
        profile, named = given.pop("profile"), given.pop("profile_name", None)
        if profile and named:
            raise InputError(f"two profiles: {named} and {profile}", "Name one", key="--profile")
        link = link_of(profile or named, overrides)
        if profile or named:
            note(f"profile {PROFILES[profile or named]}")
        return command(*args, link=link, **given)

    with_link.__name__, with_link.__doc__ = command.__name__, command.__doc__
    with_link.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Decorated = with_link
    for setting in reversed(list(SETTINGS.values())):
        decorated = click.option(
            _flag(setting.key),
            setting.key,
            metavar=setting.kind.metavar,
            help=_help(setting),
            hidden=setting.side is not None and setting.field.general,
        )(decorated)
    return click.option("--profile", metavar="NAME", help="A named link: lanelab link list", shell_complete=_profiles)(
        decorated
    )


def _profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in PROFILES if name.startswith(incomplete)]


def as_typed(error: InputError) -> InputError:
    """An error that names the option instead of the setting."""
    error.key = _flag(error.key) if error.key and not error.key.startswith("-") else error.key
    return error


def link_of(profile: str | None, overrides: dict[str, object]) -> Link:
    """The link that the options ask for; an error names the option as it was typed."""
    try:
        return resolve(profile, overrides)
    except InputError as error:
        raise as_typed(error) from None


router_option = click.option(
    "--router",
    type=click.Choice(ROUTER_KINDS),
    default="auto",
    show_default=True,
    help="What emulates the link: a Linux kernel run as a process (uml), or this machine's own (kernel)",
)


def bed_options(command: Decorated) -> Decorated:
    """How the bed is made."""
    command = click.option(
        "--pin",
        "pins",
        multiple=True,
        metavar="NODE=CPUS",
        help="Keep a node on these processors, like router=1 or client=0-3; may be given several times",
    )(command)
    return router_option(command)


def cpus_of(pins: tuple[str, ...]) -> dict[str, str]:
    """--pin as a mapping."""
    cpus: dict[str, str] = {}
    for pin in pins:
        node, equals, numbers = pin.partition("=")
        like = "Write it like router=1 or client=0-3"
        if not equals or node not in NODE_NAMES:
            raise InputError(f"'{pin}' does not begin with client=, router= or server=", like, key="--pin")
        if not numbers or not all(re.fullmatch(r"[0-9]{1,5}(-[0-9]{1,5})?", part) for part in numbers.split(",")):
            raise InputError(f"'{numbers}' is no list of processors", like, key="--pin")
        _require_processors(numbers)
        cpus[node] = numbers
    return cpus


def _require_processors(numbers: str) -> None:
    there = os.sched_getaffinity(0)
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        lacking = set(range(int(first), int(last or first) + 1)) - there
        if lacking or int(last or first) < int(first):
            what = f"there is no processor {min(lacking)} here" if lacking else f"'{part}' goes backwards"
            raise InputError(what, f"There are: {', '.join(map(str, sorted(there)))}", key="--pin")


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a program to read")
