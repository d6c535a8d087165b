"""What is done to three machines before there is a bed on them: they are examined, and prepared."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lanelab.driver.base.errors import HostError
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.needs import PLAYBOOKS
from lanelab.driver.bed.ssh import check
from lanelab.driver.bed.ssh.connection import SshConnection
from lanelab.driver.bed.ssh.findings import HostFinding
from lanelab.driver.bed.ssh.hosts import INVENTORY_FORMATS, Hosts


@contextmanager
def _connections(hosts: Hosts) -> Iterator[Mapping[str, SshConnection]]:
    with tempfile.TemporaryDirectory() as folder:
        connections = {name: SshConnection(name, host, Path(folder, name), os.getpid()) for name, host in hosts}
        try:
            yield connections
        finally:
            for connection in connections.values():
                connection.close()


def unreachable(hosts: Hosts) -> dict[str, HostError]:
    """Return the machines that cannot be reached, by node, and why."""
    with _connections(hosts) as connections:
        return check.open_all(connections)


def examine(hosts: Hosts) -> list[HostFinding]:
    """Return all findings that are possible: where one machine cannot be reached, there are few of the others."""
    with _connections(hosts) as connections:
        if errors := check.open_all(connections):
            reached = [
                HostFinding("ok", "reach", "", node=name, host=host.name) for name, host in hosts if name not in errors
            ]
            return [*check.unreachable(hosts, errors), *reached]
        verdict = check.judge(hosts, check.observe(connections, hosts))
        tried = [] if verdict.gaps else check.try_cables(connections, hosts, verdict)
        return [*verdict.findings, *tried]


def play(inventory: Path, node: str, *, only_look: bool) -> bool:
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
