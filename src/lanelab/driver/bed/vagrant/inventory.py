"""Where the machines are: an inventory for Ansible and for `--substrate ssh`, made when they come up.

Two files in the build folder, for lanelab and for anybody else: `ssh -F build/vm/ssh-config client`, and
`ansible-playbook -i build/vm/inventory.yml …`. To lanelab that inventory means the same as `--substrate vagrant`.
"""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import yaml

from lanelab.driver.base.errors import VmError
from lanelab.driver.base.paths import build_folder
from lanelab.driver.base.timeouts import expect_emulated
from lanelab.driver.bed.ssh.hosts import INTERFACE_VARIABLES, Hosts, read_inventory
from lanelab.driver.bed.vagrant import accelerator, settings, vagrant

# The interfaces of the link in lanelab's own box, by what they lead to. A bed looks for those of another box itself.
INTERFACES = {
    "client": {"router": "eth1"},
    "router": {"client": "eth1", "server": "eth2"},
    "server": {"router": "eth1"},
}


def hosts() -> Hosts:
    """Return the machines that are up. VmError where they are not.

    A virtual clock begins at a full second, runs when its processor gets to run, and stands still while the machine
    below sleeps. No way to a time server is certain, so each bed sets the clocks.
    """
    require_up()
    if accelerator.is_emulated():
        expect_emulated()
    hosts = read_inventory(inventory_file())
    return Hosts(**{name: replace(host, sets_clock=True) for name, host in hosts})


def require_up() -> None:
    """Raise VmError where there is nothing to log in to."""
    if not inventory_file().exists():
        raise VmError("the virtual machines are not up", "Bring them up with: lanelab vm up")


def inventory_file() -> Path:
    return build_folder() / "vm" / "inventory.yml"


def ssh_config_file() -> Path:
    return build_folder() / "vm" / "ssh-config"


def forget() -> None:
    """Remove both files: the machines are not where they were."""
    inventory_file().unlink(missing_ok=True)
    ssh_config_file().unlink(missing_ok=True)


def addresses() -> dict[str, str]:
    """Return where ssh reaches each machine that is up."""
    try:
        return _addresses(ssh_config_file().read_text())
    except FileNotFoundError:
        return {}


def write(ssh_config: str) -> None:
    """Write both files, from what `vagrant ssh-config` prints."""
    if missing := sorted(set(vagrant.MACHINES) - set(_addresses(ssh_config))):
        raise VmError(f"Vagrant does not say how to reach {' and '.join(missing)}", "Look at: lanelab vm status")
    ssh_config_file().write_text(ssh_config)
    machines = {name: _variables(name) for name in vagrant.MACHINES}
    groups = {name: {"hosts": {name: None}} for name in machines}
    inventory_file().write_text(yaml.safe_dump({"all": {"hosts": machines, "children": groups}}, sort_keys=False))


def _addresses(ssh_config: str) -> dict[str, str]:
    return dict(re.findall(r"^Host (\S+)\n(?: .*\n)*?  HostName (\S+)$", ssh_config, re.MULTILINE))


def _variables(name: str) -> dict[str, str]:
    """What Ansible and a bed need to know; the rest of the way is in ssh's own file."""
    interfaces = INTERFACES[name] if settings.own_box() else {}
    return {
        "ansible_ssh_common_args": f"-F {shlex.quote(str(ssh_config_file().absolute()))}",
        "ansible_python_interpreter": "/usr/bin/python3",
        **{INTERFACE_VARIABLES[name][to]: interface for to, interface in interfaces.items()},
    }
