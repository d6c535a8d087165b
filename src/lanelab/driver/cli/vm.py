"""lanelab vm: three virtual machines as client, router and server, and what they need."""

import os
import sys

import click
from rich.text import Text

from lanelab.driver.api import own_machines
from lanelab.driver.base.coded import encoded
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table

NAMES = click.Choice(("client", "router", "server"))


def _prepare() -> None:

    own_machines.prepare_programs()


@click.group("vm")
def group() -> None:
    """Three virtual machines with kernels of their own: client, router and server.

    They serve `lanelab run FILE --substrate vagrant`, and can be used by hand. LANELAB_VM_… variables say what they are
    made of; docs/reference/vm.md has them.
    """


@group.command("up")
@click.option("--provision", is_flag=True, help="Run the playbook on machines that were prepared before, too")
def up(*, provision: bool) -> None:
    """Bring the machines up; the first time, make their box, create and prepare them."""

    _prepare()
    own_machines.up(note, provision=provision)


@group.command("status")
@json_option
def status(*, as_json: bool) -> None:
    """Tell which machines there are, where they are reached and what runs them."""

    _prepare()
    whole = own_machines.status(note)
    if as_json:
        print_json(encoded(whole))
        return
    rows = (
        (each.name, Text(each.state, style="green" if each.state == "running" else ""), each.address or "-")
        for each in whole["machines"]
    )
    console().print(table(("machine", "state", "address"), rows))
    if daemon := whole["libvirtd"]:
        shown = f"process {daemon['pid']}, {daemon['driver']}; virsh --connect '{daemon['uri']}'"
        note(f"libvirtd: lanelab's own, {shown}")


class _OnTheClient(click.Command):
    """Takes the words after -- for a command on the client, where no machine is named before them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["client", *args] if args[:1] == ["--"] else args)


@group.command("ssh", cls=_OnTheClient, context_settings={"ignore_unknown_options": True})
@click.argument("machine", type=NAMES, default="client")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def ssh(machine: str, command: tuple[str, ...]) -> None:
    """Log in to a machine, or run a command there. The status is the command's own.

    \b
    Examples:
      lanelab vm ssh router
      lanelab vm ssh client -- ping -c 3 server
    """

    _prepare()
    on_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    argv = own_machines.ssh_command(machine, command, on_terminal=on_terminal)
    os.execvp(argv[0], argv)  # noqa: S606


@group.command("halt")
def halt() -> None:
    """Shut the machines down. Their disks stay: `up` starts them again."""

    _prepare()
    own_machines.halt(note)


@group.command("destroy")
def destroy() -> None:
    """Remove the machines with their disks, and end what lanelab had started for them. The box stays."""

    _prepare()
    own_machines.destroy(note)


@group.command("box")
@click.option("--mirror", metavar="ADDRESS", help="Where Debian's packages come from (default: Debian's own)")
@click.option("--again", is_flag=True, help="Make it anew, with the newest packages")
def make_box(*, mirror: str | None, again: bool) -> None:
    """Make the box that the machines start from: a Debian with all that client, router and server need."""

    box = own_machines.make_box(note, mirror=mirror, again=again)
    versions = box.versions()
    kernel = max((name for name in versions if name.startswith("linux-image-")), key=len)
    note(f"the box is {box.file} ({box.file.stat().st_size / 1e9:.1f} GB, {len(versions)} packages, {kernel})")
