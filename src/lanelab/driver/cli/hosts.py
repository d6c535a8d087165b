"""lanelab hosts: machines that ssh reaches, before they are a bed."""

from pathlib import Path
from typing import TypeAlias

import click

from lanelab.driver.api.own_hosts import HostFinding, check_hosts
from lanelab.driver.api.own_hosts import prepare_hosts as prepare_machines
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import HostError
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table

HostFindings: TypeAlias = list[HostFinding]  # as JSON has them


@click.group("hosts")
def group() -> None:
    """Machines of your own as client, router and server: check them, prepare them."""


@group.command("check")
@click.argument("inventory", type=click.Path(path_type=Path))
@json_option
def check(inventory: Path, *, as_json: bool) -> None:
    """Look whether the machines of INVENTORY can be a bed, and leave them as they are.

    Reached over ssh, rights, clocks, programs, the kernel's abilities, and which interfaces connect them: a few
    broadcast frames tell. Fails when anything is in the way.

    \b
    Example:
      lanelab hosts check machines.yml
    """
    findings = check_hosts(inventory)
    if as_json:
        print_json([finding.to_json() for finding in findings])
    else:
        rows = ((each.host, each.node, each.state, each.what, _found_and_remedy(each)) for each in findings)
        console().print(table(("machine", "node", "", "what", "found"), rows))
    gaps = [finding for finding in findings if finding.state == "gap"]
    if gaps:
        count = f"{counted(len(gaps), 'thing is', 'things are')} in the way"
        first = f"{gaps[0].host}: {gaps[0].what}: {gaps[0].found}"
        raise HostError(f"these machines cannot be a bed: {count}. First, {first}", gaps[0].remedy)
    note(f"these machines can be a bed: lanelab run FILE --substrate ssh --inventory {inventory}")


def _found_and_remedy(finding: HostFinding) -> str:
    return f"{finding.found}. {finding.remedy}" if finding.remedy else finding.found


@group.command("prepare")
@click.argument("inventory", type=click.Path(path_type=Path))
@click.option("--check", "only_look", is_flag=True, help="Only say what would be changed")
def prepare_hosts(inventory: Path, *, only_look: bool) -> None:
    """Install on the machines of INVENTORY what their nodes need. A second time it changes nothing.

    \b
    Example:
      lanelab hosts prepare machines.yml
    """
    prepare_machines(inventory, only_look=only_look, tell=note)
