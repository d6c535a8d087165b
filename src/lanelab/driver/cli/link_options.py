"""Options of a link, made from its table of settings."""

from collections.abc import Callable
from typing import Any

import click

from lanelab.driver.api.links import PROFILES, SETTINGS, Link
from lanelab.driver.api.links import link_of as link_with
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import option_of
from lanelab.driver.cli.output import note

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
    """Return an error that names the option instead of the setting."""
    if error.key and not error.key.startswith("-"):
        error.key = option_of(error.key)
    return error


def link_of(profile: str | None, overrides: dict[str, object]) -> Link:
    """The link that the options ask for; an error names the option as it was typed."""
    try:
        return link_with(profile, overrides)
    except InputError as error:
        raise as_typed(error) from None
