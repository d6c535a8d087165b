"""Where the machines are: an inventory as Ansible has it, made from what Vagrant says of those that are up.

Two files in the build folder, for lanelab and for anybody else: `ssh -F build/vm/ssh-config client`, and
`ansible-playbook -i build/vm/inventory.yml …`. To lanelab that inventory is the same as `--substrate vagrant`.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

import yaml

from driver.bed.ssh.hosts import Hosts, read_inventory
from driver.host.find_program import search_path
from driver.timeouts import expect_emulated
from model.errors import VmError
from model.paths import build_folder
from vm import accelerator, clocks, vagrant

# The address of a machine on each network, as in the Vagrantfile -> the variable that names the interface that has it.
LINK_ADDRESSES: Mapping[str, Mapping[str, str]] = {
    "client": {"10.20.1.2": "lanelab_link_interface"},
    "router": {"10.20.1.254": "lanelab_client_interface", "10.20.2.254": "lanelab_server_interface"},
    "server": {"10.20.2.2": "lanelab_link_interface"},
}
KNOWN_HOSTS = "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -o LogLevel=ERROR"
ANSWER_S = 120.0


def hosts() -> Hosts:
    """The machines that are up, their clocks right. VmError where they are not up, HostAway where one does not answer:
    that may pass, as when a machine starts anew."""
    if not inventory_file().exists():
        raise VmError("the virtual machines are not up", "Bring them up with: lanelab vm up")
    if accelerator.is_emulated():
        expect_emulated()
    clocks.set_all(vagrant.MACHINES, ssh_config_file())
    return read_inventory(inventory_file())


def inventory_file() -> Path:
    return build_folder() / "vm" / "inventory.yml"


def ssh_config_file() -> Path:
    return build_folder() / "vm" / "ssh-config"


def forget() -> None:
    """The machines are not where they were."""
    inventory_file().unlink(missing_ok=True)
    ssh_config_file().unlink(missing_ok=True)


def write(ssh_config: str) -> None:
    """Both files, from what `vagrant ssh-config` says."""
    known = read_ssh_config(ssh_config)
    lacking = [name for name in vagrant.MACHINES if name not in known]
    if lacking:
        raise VmError(f"Vagrant does not say how to reach {' and '.join(lacking)}", "Look at: lanelab vm status")
    forget()
    ssh_config_file().write_text(ssh_config)
    found = {name: {**ansible_variables(known[name]), **_interfaces(name)} for name in vagrant.MACHINES}
    inventory_file().write_text(yaml.safe_dump(inventory(found), sort_keys=False))


def read_ssh_config(text: str) -> dict[str, dict[str, str]]:
    """Host -> setting -> value."""
    found: dict[str, dict[str, str]] = {}
    settings: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition(" ")
        if key == "Host":
            settings = found.setdefault(value.strip(), {})
        elif key:
            settings.setdefault(key, value.strip().strip('"'))
    return found


def ansible_variables(settings: Mapping[str, str]) -> dict[str, str | int]:
    """What Ansible needs to know to reach a machine."""
    return {
        "ansible_host": settings["HostName"],
        "ansible_port": int(settings.get("Port", "22")),
        "ansible_user": settings.get("User", "vagrant"),
        "ansible_ssh_private_key_file": settings["IdentityFile"],
        "ansible_ssh_common_args": KNOWN_HOSTS,
        "ansible_python_interpreter": "/usr/bin/python3",
    }


def inventory(found: Mapping[str, Mapping[str, str | int]]) -> dict[str, object]:
    """Each machine in the group of its node."""
    return {
        "all": {
            "hosts": {name: dict(variables) for name, variables in found.items()},
            "children": {name: {"hosts": {name: None}} for name in found},
        }
    }


def interfaces(name: str, addresses: str) -> dict[str, str]:
    """The interfaces of the link, from what `ip -json address` says in a machine."""
    having = {info["local"]: entry["ifname"] for entry in json.loads(addresses) for info in entry.get("addr_info", ())}
    wanted = LINK_ADDRESSES[name]
    lacking = [address for address in wanted if address not in having]
    if lacking:
        what = f"{name} has no interface with {' and '.join(lacking)}; it has {', '.join(sorted(having))}"
        raise VmError(what, "Bring the machines up anew: lanelab vm destroy, lanelab vm up")
    return {variable: having[address] for address, variable in wanted.items()}


def _interfaces(name: str) -> dict[str, str]:
    try:
        done = subprocess.run(
            ["ssh", "-F", str(ssh_config_file()), "-o", "BatchMode=yes", name, "ip -json -4 address"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=ANSWER_S, check=False,
            env={**vagrant.environment(), "PATH": search_path()},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise VmError(
            f"{name} does not answer over ssh within {ANSWER_S:.0f} s", "Look at: lanelab vm status"
        ) from None
    if done.returncode != 0:
        raise VmError(f"{name} cannot be reached over ssh: {done.stderr.strip()}", "Look at: lanelab vm status")
    return interfaces(name, done.stdout)
