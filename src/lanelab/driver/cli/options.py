"""Options that several commands share. Those of the link are made from its table of settings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from lanelab.driver.base import configuration
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.needs import Program, programs
from lanelab.driver.base.settings.setting import option_of
from lanelab.driver.bed import placement, registry
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.placement import processors_here
from lanelab.driver.bed.substrate import NO_DIRECT, ROUTER_KINDS, BedSettings, SubstrateKind, Traits
from lanelab.driver.cli.output import note
from lanelab.driver.experiment.traces import with_traces
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.profiles import PROFILES, resolve

Decorated = Callable[..., Any]

LINK_EPILOG = (
    "Directions and hosts apart: --rate-down and --rate-up, --queue-down, --loss-up, --congestion-control-server and "
    "so on. Values carry their units: 100ms, 1.5mbit, 0.1%, 64kB. All of them: docs/reference/link.md"
)


def link_options(command: Decorated) -> Decorated:
    """--profile and one option for each setting of a link; the command gets `link: Link`."""

    def with_link(*args: Any, **options: Any) -> Any:  # noqa: ANN401 - a click callback
        overrides = {key: value for key in SETTINGS if (value := options.pop(key)) is not None}
        profile, named = options.pop("profile"), options.pop("profile_name", None)
        if profile and named:
            raise InputError(f"two profiles: {named} and {profile}", "Name one", key="--profile")
        link = link_of(profile or named, overrides)
        if profile or named:
            note(f"profile {PROFILES[profile or named]}")
        return command(*args, link=link, **options)

    with_link.__name__, with_link.__doc__ = command.__name__, command.__doc__
    with_link.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Decorated = with_link
    for key in reversed(list(SETTINGS.values())):
        decorated = click.option(
            key.option,
            key.name,
            metavar=key.setting.metavar,
            help=key.option_help,
            hidden=key.side is not None and key.setting.both_sides,
        )(decorated)
    return click.option("--profile", metavar="NAME", help="A named link: lanelab link list", shell_complete=_profiles)(
        decorated
    )


def _profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in PROFILES if name.startswith(incomplete)]


def as_typed(error: InputError) -> InputError:
    """An error that names the option instead of the setting."""
    if error.key and not error.key.startswith("-"):
        error.key = option_of(error.key)
    return error


def link_of(profile: str | None, overrides: dict[str, object]) -> Link:
    """The link that the options ask for; an error names the option as it was typed."""
    try:
        return resolve(profile, with_traces(overrides, Path()))
    except InputError as error:
        raise as_typed(error) from None


router_option = click.option(
    "--router",
    type=click.Choice(ROUTER_KINDS),
    default="auto",
    show_default=True,
    help="What emulates the link: a Linux kernel run as a process (uml), or this machine's own (kernel)",
)


@dataclass(frozen=True, slots=True)
class BedOptions:
    """How beds are made, as the user asks for it."""

    substrate: str = "netns"
    given: Mapping[str, str] = field(
        default_factory=dict
    )  # options of the substrate, paths as they hold in every folder
    router: str = "auto"
    cpus: Mapping[str, str] = field(default_factory=dict)
    accept_links: bool = False  # go on where a link is out of tolerance

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> BedOptions:
        """From the record of a run; older ones know no substrates."""
        given = {option.name: data[option.name] for option in registry.options() if option.name in data}
        substrate, accept = data.get("substrate", "netns"), data.get("accept_links", False)
        return cls(substrate, given, data["router"], data["pinned"], accept)

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"router": self.router, "pinned": dict(self.cpus), "substrate": self.substrate}
        return {**made, **self.given, **({"accept_links": True} if self.accept_links else {})}

    @property
    def is_default(self) -> bool:
        return self == BedOptions()

    @property
    def may_go_on(self) -> bool:
        """Whether a run that goes on may be given these: links may be accepted for a session, all else is as it was."""
        return replace(self, accept_links=False).is_default

    def going_on(self, asked: BedOptions) -> BedOptions:
        """Those that a run began with, in a session that is given `asked`."""
        return replace(self, accept_links=self.accept_links or asked.accept_links)

    @property
    def kind(self) -> SubstrateKind:
        """Raises InputError where options do not fit the substrate."""
        return registry.kind_meant(self.substrate, self.given)

    @property
    def traits(self) -> Traits:
        return self.kind.traits

    def needs(self, of_nodes: Iterable[Program]) -> Iterable[Program]:
        """The programs that this machine must have: those of the nodes, or what it takes to reach them."""
        return of_nodes if self.traits.same_machine else programs(*self.kind.needs)

    def facts(self) -> dict[str, Any]:
        """What of it belongs in the record of a run, once `settings` has looked where the nodes are."""
        factor = configuration.current().timeout_factor
        return {"bed_options": self.to_json(), "patience": factor, **self.kind.facts(self.given)}

    def settings(self, folder: Path) -> BedSettings:
        return BedSettings(folder, self.substrate, self.router, self.cpus, self.nodes())

    def require(self, links: Iterable[Link]) -> None:
        """Raises InputError where such beds cannot have one of these links."""
        if not self.traits.direct and any(link.direct for link in links):
            raise InputError(*NO_DIRECT, key="path")

    def placed(self, workload: str, links: Iterable[Link]) -> BedOptions:
        """With the processors that suit the workload, unless the user says which, or the nodes are elsewhere. Tells
        what of it a user should know."""
        if self.cpus or not self.traits.same_machine:
            return self
        processors = processors_here()
        if warning := placement.warning(processors, workload):
            note(f"mind: {warning}")
        direct = all(link.direct for link in links)
        return replace(self, cpus=placement.placement(processors, workload, direct=direct))

    def nodes(self) -> Mapping[str, Any]:
        """Where the nodes are, as it is now. Raises InputError for an inventory that cannot be read."""
        return self.kind.settings(self.given)


def bed_options_of(values: dict[str, Any]) -> BedOptions:
    """Takes the options of `bed_options` out of a command's arguments."""
    substrate, router, pins = values.pop("substrate"), values.pop("router"), values.pop("pins")
    paths = {option.name: values.pop(option.name) for option in registry.options()}
    given = {name: str(path.resolve()) for name, path in paths.items() if path}
    here = registry.kind_meant(substrate, given).traits.same_machine
    accept_links = values.pop("accept_links", False)  # only a run has it
    return BedOptions(substrate, given, router, cpus_of(pins, here=here), accept_links)


def bed_options(command: Decorated) -> Decorated:
    """How the bed is made; the command gets `made: BedOptions`."""

    def with_options(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - a click callback
        made = bed_options_of(arguments)
        return command(*args, made=made, **arguments)

    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    with_options.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    return _bed_options(with_options)


def _bed_options(command: Decorated) -> Decorated:
    for option in registry.options():
        command = click.option(option.flag, option.name, type=click.Path(path_type=Path), help=option.help)(command)
    command = click.option(
        "--substrate",
        type=click.Choice(registry.names()),
        default="netns",
        show_default=True,
        help=f"What the nodes are: {', '.join(kind.help for kind in registry.KINDS)}",
    )(command)
    return here_options(command)


def here_options(command: Decorated) -> Decorated:
    """How a bed on this machine is made."""
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
