"""The substrates that there are."""

from pathlib import Path
from typing import Any, TypedDict

from lanelab.driver.base.coded import parsed
from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.netns.substrate import NetnsKind
from lanelab.driver.bed.ssh.kind import SshKind
from lanelab.driver.bed.substrate import BedSettings, Given, Option, SubstrateKind
from lanelab.driver.bed.vagrant.substrate import VagrantKind

# In the order in which they are asked whether they are meant.
KINDS: tuple[SubstrateKind[Any], ...] = (NetnsKind(), VagrantKind(), SshKind())


def names() -> tuple[str, ...]:
    return tuple(kind.name for kind in KINDS)


def options() -> tuple[Option, ...]:
    """Return the options of all substrates."""
    return tuple(option for kind in KINDS for option in kind.options)


def kind_named(name: str) -> SubstrateKind[Any]:
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise InputError(f"there is no substrate '{name}'", f"There is: {', '.join(names())}", key="substrate")


class _Sent(TypedDict):
    """BedSettings as JSON."""

    folder: str
    substrate: str
    router: str
    cpus: dict[str, str]
    nodes: object


def read_settings(data: object) -> BedSettings:
    """Read what a controller sent. Raises RecordError, InputError."""
    sent = parsed(_Sent, data, "the settings of the bed")
    nodes = kind_named(sent["substrate"]).nodes.from_json(sent["nodes"], "nodes")
    return BedSettings(Path(sent["folder"]), sent["substrate"], sent["router"], sent["cpus"], nodes)


def kind_meant(name: str, options: Given) -> SubstrateKind[Any]:
    """Return the kind that a user means who names a substrate and gives these options. Raises InputError."""
    named = kind_named(name)
    for option in named.options:
        if option.name not in options:
            raise InputError(*option.missing, key="--substrate")
    for kind in KINDS:
        for option in kind.options:
            if option.name in options and option not in named.options:
                what = f"a {name} bed has no {option.name.replace('_', ' ')}"
                raise InputError(what, f"Add --substrate {kind.name}", key=option.flag)
    return next(kind for kind in KINDS if kind.is_meant(name, options))
