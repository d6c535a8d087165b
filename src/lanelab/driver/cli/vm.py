"""lanelab vm: three virtual machines as client, router and server, and what they need."""

import os
import shlex
import sys
from typing import TypedDict

import click
from rich.text import Text

from lanelab.driver.base.coded import encoded
from lanelab.driver.bed.vagrant import inventory, libvirt, machines
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table

NAMES = click.Choice(("client", "router", "server"))


def _prepare() -> None:

    machines.prepare_programs()


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
    machines.up(note, provision=provision)


class Libvirtd(TypedDict):
    """The libvirtd that lanelab started."""

    pid: int
    uri: str
    driver: str


class MachinesStatus(TypedDict):
    """The virtual machines, and what runs them; None: this machine's own libvirtd."""

    machines: list[machines.Machine]
    libvirtd: Libvirtd | None


@group.command("status")
@json_option
def status(*, as_json: bool) -> None:
    """Tell which machines there are, where they are reached and what runs them."""

    _prepare()
    states = machines.status(note)
    daemon, uri = libvirt.ours(), libvirt.own_uri()
    if as_json:
        ours: Libvirtd | None = {"pid": daemon.pid, "uri": uri, "driver": daemon.driver} if daemon else None
        whole: MachinesStatus = {"machines": states, "libvirtd": ours}
        print_json(encoded(whole))
        return
    rows = ((m.name, Text(m.state, style="green" if m.state == "running" else ""), m.address or "-") for m in states)
    console().print(table(("machine", "state", "address"), rows))
    if daemon:
        note(f"libvirtd: lanelab's own, process {daemon.pid}, {daemon.driver}; virsh --connect '{uri}'")


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
    inventory.require_up()
    terminal = ["-t"] if command and sys.stdin.isatty() and sys.stdout.isatty() else []
    words = [shlex.join(command)] if command else []
    os.execvp("ssh", ["ssh", "-F", str(inventory.ssh_config_file()), *terminal, machine, *words])  # noqa: S606


@group.command("halt")
def halt() -> None:
    """Shut the machines down. Their disks stay: `up` starts them again."""

    _prepare()
    machines.halt(note)


@group.command("destroy")
def destroy() -> None:
    """Remove the machines with their disks, and end what lanelab had started for them. The box stays."""

    _prepare()
    machines.destroy(note)


@group.command("box")
@click.option("--mirror", metavar="ADDRESS", help="Where Debian's packages come from (default: Debian's own)")
@click.option("--again", is_flag=True, help="Make it anew, with the newest packages")
def make_box(*, mirror: str | None, again: bool) -> None:
    """Make the box that the machines start from: a Debian with all that client, router and server need."""

    box = machines.make_box(note, mirror=mirror, again=again)
    versions = box.versions()
    kernel = max((name for name in versions if name.startswith("linux-image-")), key=len)
    note(f"the box is {box.file} ({box.file.stat().st_size / 1e9:.1f} GB, {len(versions)} packages, {kernel})")
