"""lanelab hosts: machines that ssh reaches, before they are a bed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from driver.bed.node import NODE_NAMES
from driver.bed.ssh import check as ssh_check
from driver.bed.ssh.connection import SshLine
from driver.bed.ssh.findings import HostFinding
from driver.bed.ssh.hosts import INVENTORY_FORMATS, Hosts, read_inventory
from driver.cli.options import json_option
from driver.cli.output import console, note, print_json, table
from driver.host.install import ansible_settings, prepare
from driver.host.needs import MACHINES_OVER_SSH, PLAYBOOKS, programs
from model.errors import HostError


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
    hosts = read_inventory(inventory)
    prepare(programs(*MACHINES_OVER_SSH))
    findings = examine(hosts)
    if as_json:
        print_json([finding.to_json() for finding in findings])
    else:
        rows = ((each.host, each.node, each.state, each.what, _told(each)) for each in findings)
        console().print(table(("machine", "node", "", "what", "found"), rows))
    gaps = [finding for finding in findings if finding.state == "gap"]
    if gaps:
        count = f"{len(gaps)} {'things are' if len(gaps) > 1 else 'thing is'} in the way"
        first = f"{gaps[0].host}: {gaps[0].what}: {gaps[0].found}"
        raise HostError(f"these machines cannot be a bed: {count}. First, {first}", gaps[0].remedy)
    note(f"these machines can be a bed: lanelab run FILE --substrate ssh --inventory {inventory}")


def examine(hosts: Hosts) -> list[HostFinding]:
    """All that can be told; where one machine cannot be reached, little can be of the others."""
    with tempfile.TemporaryDirectory() as folder:
        lines = {name: SshLine(name, host, Path(folder, name), os.getpid()) for name, host in hosts}
        try:
            errors = ssh_check.open_all(lines)
            if errors:
                reached = [
                    HostFinding("ok", "reach", "", node=name, host=host.name)
                    for name, host in hosts
                    if name not in errors
                ]
                return [*ssh_check.unreachable(hosts, errors), *reached]
            verdict = ssh_check.judge(hosts, ssh_check.look(lines, hosts))
            tried = [] if verdict.gaps else ssh_check.try_cables(lines, hosts, verdict)
            return [*verdict.findings, *tried]
        finally:
            for line in lines.values():
                line.close()


def _told(finding: HostFinding) -> str:
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
    hosts = read_inventory(inventory)
    prepare(programs(*MACHINES_OVER_SSH))
    with tempfile.TemporaryDirectory() as folder:
        lines = {name: SshLine(name, host, Path(folder, name), os.getpid()) for name, host in hosts}
        errors = ssh_check.open_all(lines)
        for line in lines.values():
            line.close()
    lacking = []
    for name, host in hosts:
        if name in errors:
            note(str(errors[name]))
        if name in errors or not _played(inventory, name, only_look=only_look):
            lacking.append(f"{host.name} ({name})")
    if lacking:
        others = "" if len(lacking) == len(NODE_NAMES) else "; the others were"
        what = f"{' and '.join(lacking)} could not be prepared{others}. Why is told above"
        raise HostError(what, "See: lanelab hosts check")


def _played(inventory: Path, node: str, *, only_look: bool) -> bool:
    """Ansible's playbook on the machine of one node: where it fails on one, Ansible begins no other."""
    argv = [sys.executable, "-I", "-m", "ansible", "playbook", "--inventory", str(inventory.resolve())]
    argv += [str(PLAYBOOKS / "prepare.yml"), "--limit", node, *(["--check"] if only_look else [])]
    settings = {
        **ansible_settings(),
        "ANSIBLE_INVENTORY_ENABLED": INVENTORY_FORMATS,
        "ANSIBLE_HOST_KEY_CHECKING": "1",
        "ANSIBLE_PIPELINING": "1",  # no files: sftp breaks where a shell prints something at login
        "ANSIBLE_SSH_ARGS": "-C -o ControlMaster=auto -o ControlPersist=3s",  # not a minute: nobody would end them
    }
    done = subprocess.run(argv, cwd=PLAYBOOKS, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, check=False)
    return done.returncode == 0
