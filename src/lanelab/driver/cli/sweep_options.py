"""Options of a run on several beds."""

from collections.abc import Callable
from typing import Any

import click

from lanelab.driver.api.sweeps import ONE_BED, SweepOptions
from lanelab.driver.cli.common import MOST_WORKERS

Decorated = Callable[..., Any]


def sweep_options(command: Decorated) -> Decorated:
    """The command gets `sweep: SweepOptions`."""

    def with_options(*args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - a click callback
        names = ("workers", "listen", "cluster", "insecure", "accept_disturbance", "dashboard")
        sweep = SweepOptions(**{name: arguments.pop(name) or getattr(ONE_BED, name) for name in names})
        return command(*args, sweep=sweep, **arguments)

    with_options.__name__, with_options.__doc__ = command.__name__, command.__doc__
    with_options.__click_params__ = getattr(command, "__click_params__", [])  # type: ignore[attr-defined]
    decorated: Decorated = with_options
    for option in (
        click.option("--dashboard", is_flag=True, help="Show Dask's own pages of a run on several beds"),
        click.option("--accept-disturbance", is_flag=True, help="Go on where beds of this machine disturb one another"),
        click.option("--insecure", is_flag=True, help="Reach a cluster on another machine without TLS"),
        click.option("--cluster", metavar="ADDRESS", help="On the workers of that Dask scheduler, or invitation file"),
        click.option("--listen", metavar="ADDRESS", help="Let other machines join with `lanelab worker`: HOST[:PORT]"),
        click.option(
            "--workers",
            type=click.IntRange(1, MOST_WORKERS),
            metavar="N",
            help="On so many beds of this machine at once",
        ),
    ):
        decorated = option(decorated)
    return decorated
