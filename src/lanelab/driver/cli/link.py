"""lanelab link: shows, lists and measures links."""

from typing import TypedDict, cast

import click
from rich.table import Table
from rich.text import Text

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base.errors import LinkError
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.capabilities import router_for
from lanelab.driver.cli import trace
from lanelab.driver.cli.bed_options import bed_options, router_option
from lanelab.driver.cli.beds import open_bed
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.link_options import LINK_EPILOG, link_options
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.link import Link
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.link.results import Result, SelfTest, SelfTestData, number
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.link.shaping.shaping import explain

VERDICTS = {"ok": "green", "out": "bold red", "shown": "", "not measured": "yellow"}


@click.group("link")
def group() -> None:
    """The emulated link: show it, test it, list the named ones."""


group.add_command(trace.group)


class NamedLink(TypedDict):
    """A link that has a name, with all effective settings."""

    name: str
    settings: dict[str, str]
    source: str


class LinkLine(TypedDict):
    """A line that makes a part of a link."""

    line: str
    meaning: str


class ShownLink(TypedDict):
    """A link with all effective settings, and what makes it."""

    link: dict[str, str]
    router: str
    lines: list[LinkLine]


class TestedLink(SelfTestData):
    """A link with all effective settings, and its self-test."""

    link: dict[str, str]
    router: str
    kernel: str


@group.command("list")
@json_option
def list_profiles(*, as_json: bool) -> None:
    """List the named links with their values and where these come from."""
    if as_json:
        listed: list[NamedLink] = [
            {"name": p.name, "settings": p.link.to_mapping(), "source": p.source} for p in PROFILES.values()
        ]
        print_json(listed)
        return
    rows = ((p.name, ", ".join(f"{k}={v}" for k, v in p.settings.items()), p.source) for p in PROFILES.values())
    console().print(table(("profile", "settings", "source"), rows))


@group.command("show", epilog=LINK_EPILOG)
@click.argument("profile_name", metavar="[PROFILE]", required=False)
@router_option
@json_option
@link_options
def show(link: Link, *, router: str, as_json: bool) -> None:
    """Show a link: every setting, and the exact ip and tc lines that make it, with what each does.

    \b
    Examples:
      lanelab link show 3g
      lanelab link show --rtt 100ms --rate 1.5mbit --queue 50ms --discipline fq_codel
    """
    made_by = router_for(router)
    lines = explain(link, Duration(made_by.compensation_us * 1000))
    if as_json:
        shown: ShownLink = {
            "link": link.to_mapping(),
            "router": made_by.kind,
            "lines": [{"line": line, "meaning": why} for line, why in lines],
        }
        print_json(shown)
        return
    out = console()
    out.print(table(("setting", "value", "meaning"), (tuple(entry) for entry in link.describe())))
    out.print()
    if not link.direct:
        late = f"{made_by.compensation_us} us less than asked for, which the router adds by waking late"
        out.print(f"For the router '{made_by.kind}'. Each one-way delay is {late}.", markup=False)
        out.print()
    for line, why in lines:
        out.print(line, style="bold" if out.is_terminal else "", markup=False, soft_wrap=True)
        out.print(f"    {why}", markup=False)


@group.command("test", epilog=LINK_EPILOG)
@click.argument("profile_name", metavar="[PROFILE]", required=False)
@click.option("--thorough", is_flag=True, help="Longer: deep queues are filled, rare losses counted")
@bed_options
@json_option
@link_options
def test(link: Link, *, thorough: bool, options: BedOptions, as_json: bool) -> None:
    """Bring up a bed with this link and measure it from inside. Fails when it is not what was asked for.

    \b
    Examples:
      lanelab link test                                       (a bed without any shaping)
      lanelab link test cable
      lanelab link test direct                                (no router: what it carries is told)
      lanelab link test --rtt 100ms --rate 1mbit --loss 1%
    """
    with open_bed(link, options) as bed:
        info = bed.info
        if not as_json:
            note(f"bed up in {info.bring_up_s:.1f} s, router {info.router} {info.kernel}; measuring")
        result = bed.test_link(Effort(thorough=thorough))
    if as_json:
        print_json(tested_link(link, info.router, info.kernel, result))
    else:
        console().print(_selftest_table(result))
        verdict = "the link is what was asked for" if result.passed else "the link is NOT what was asked for"
        untold = f", as far as it was measured (not measured: {', '.join(result.not_measured)})"
        note(f"{verdict}{untold if result.passed and result.not_measured else ''} (measured in {result.took_s:.1f} s)")
    if not result.passed:
        raise LinkError("out of tolerance: " + "; ".join(result.failures), "Is the machine busy? lanelab doctor tells")


def tested_link(link: Link, router: str, kernel: str, result: SelfTest) -> TestedLink:
    """Return a self-test as JSON has it."""
    whole = {"link": link.to_mapping(), "router": router, "kernel": kernel, **result.to_json()}
    return cast("TestedLink", whole)


def _selftest_table(test: SelfTest) -> Table:
    columns = ("property", "unit", "target", "achieved", "tolerated", "", "how")
    return table(columns, (_result_row(result) for result in test.results), right=("target", "achieved"))


def _result_row(result: Result) -> tuple[str | Text, ...]:
    tolerated = "-" if result.low is None else f"{number(result.low)} to {number(result.high)}"
    verdict = {"out": "OUT", "shown": ""}.get(result.verdict, result.verdict)
    return (
        result.name,
        result.unit,
        number(result.target),
        number(result.achieved),
        tolerated,
        Text(verdict, style=VERDICTS[result.verdict]),
        result.note,
    )
