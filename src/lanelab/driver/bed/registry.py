"""The substrates that there are."""

from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.netns.substrate import NetnsKind
from lanelab.driver.bed.ssh.kind import SshKind
from lanelab.driver.bed.substrate import Given, Option, SubstrateKind
from lanelab.driver.bed.vagrant.substrate import VagrantKind

# In the order in which they are asked whether they are meant.
KINDS: tuple[SubstrateKind, ...] = (NetnsKind(), VagrantKind(), SshKind())


def names() -> tuple[str, ...]:
    return tuple(kind.name for kind in KINDS)


def options() -> tuple[Option, ...]:
    """Of all substrates."""
    return tuple(option for kind in KINDS for option in kind.options)


def kind_named(name: str) -> SubstrateKind:
    for kind in KINDS:
        if kind.name == name:
            return kind
    raise InputError(f"there is no substrate '{name}'", f"There is: {', '.join(names())}", key="substrate")


def kind_meant(name: str, options: Given) -> SubstrateKind:
    """The kind that a user means who names a substrate and gives these options. Raises InputError."""
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
