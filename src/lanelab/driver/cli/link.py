"""lanelab link: shows, lists and measures links."""

import click
from rich.table import Table
from rich.text import Text

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.link_words import (
    Effort,
    Result,
    SelfTest,
    lines_of,
    link_test_json,
    named_links,
    number,
    router_for,
    shown_link,
)
from lanelab.driver.api.links import PROFILES, Link
from lanelab.driver.base.errors import LinkError
from lanelab.driver.cli import trace
from lanelab.driver.cli.bed_options import bed_options, router_option
from lanelab.driver.cli.beds import open_bed
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.link_options import LINK_EPILOG, link_options
from lanelab.driver.cli.output import console, note, print_json, table

VERDICTS = {"ok": "green", "out": "bold red", "shown": "", "not measured": "yellow"}


@click.group("link")
def group() -> None:
    """The emulated link: show it, test it, list the named ones."""


group.add_command(trace.group)


@group.command("list")
@json_option
def list_profiles(*, as_json: bool) -> None:
    """List the named links with their values and where these come from."""
    if as_json:
        print_json(named_links())
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
    if as_json:
        print_json(shown_link(link, made_by))
        return
    out = console()
    out.print(table(("setting", "value", "meaning"), (tuple(entry) for entry in link.describe())))
    out.print()
    if not link.direct:
        late = f"{made_by.compensation_us} us less than asked for, which the router adds by waking late"
        out.print(f"For the router '{made_by.kind}'. Each one-way delay is {late}.", markup=False)
        out.print()
    for each in lines_of(link, made_by):
        out.print(each["line"], style="bold" if out.is_terminal else "", markup=False, soft_wrap=True)
        out.print(f"    {each['meaning']}", markup=False)


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
        print_json(link_test_json(link, info.router, info.kernel, result))
    else:
        console().print(_selftest_table(result))
        verdict = "the link is what was asked for" if result.passed else "the link is NOT what was asked for"
        untold = f", as far as it was measured (not measured: {', '.join(result.not_measured)})"
        note(f"{verdict}{untold if result.passed and result.not_measured else ''} (measured in {result.took_s:.1f} s)")
    if not result.passed:
        raise LinkError("out of tolerance: " + "; ".join(result.failures), "Is the machine busy? lanelab doctor tells")


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
