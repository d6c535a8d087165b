"""Three machines that ssh reaches: client, router and server of a bed, as an Ansible inventory names them.

Ansible reads the inventory itself, so whatever it understands is understood here: INI and YAML, group variables, files
in host_vars/ beside it, vaults.
"""

import difflib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from lanelab.driver.base.coded import Coded, parsed
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.substrate import NodeSettings

INVENTORY_FORMATS = "ini,yaml"
INTERFACE = "lanelab_link_interface"
# The name of an interface of the link in the inventory, by node and by what it leads to.
INTERFACE_VARIABLES = {
    "client": {"router": INTERFACE},
    "router": {"client": "lanelab_client_interface", "server": "lanelab_server_interface"},
    "server": {"router": INTERFACE},
}
# It stands in a command line that the login shell of a user over there reads.
PLAIN = re.compile(r"[A-Za-z0-9_./+-]+")
KEY_FILE, PYTHON = "ansible_ssh_private_key_file", "ansible_python_interpreter"
ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
# Ansible's other names for these: read past here, they would let it reach other machines than we do.
OTHER_NAMES = {
    "ansible_ssh_host": "ansible_host",
    "ansible_ssh_port": "ansible_port",
    "ansible_ssh_user": "ansible_user",
    "ansible_private_key_file": KEY_FILE,
    "ansible_ssh_args": ARGUMENTS[0],
}
PASSWORDS = ("ansible_password", "ansible_ssh_pass", "ansible_become_password", "ansible_become_pass")


@dataclass(frozen=True, slots=True)
class SshHost(Coded):
    """One machine. What is empty is left to ssh's own configuration; interfaces that are not named are looked for."""

    name: str  # in the inventory
    address: str
    port: int | None = None
    user: str = ""
    key: str = ""
    options: tuple[str, ...] = ()  # of ssh
    interfaces: Mapping[str, str] = field(default_factory=dict)  # the node that it leads to -> the interface
    python: str = "python3"
    sets_clock: bool = False  # a bed may set its clock: it is a virtual machine of lanelab's

    @property
    def way(self) -> tuple[str, int, tuple[str, ...]]:
        """Where ssh arrives, as far as the inventory tells: behind another gate the same address is another machine."""
        return self.address, self.port or 22, self.options

    def command(self, words: str) -> list[str]:
        """Return the ssh that runs these words there, with our stdin and stdout as theirs. It ends when the peer is
        silent for some seconds. The user's options come first: of each option ssh takes the first."""
        argv = ["ssh", "-T", *self.options, "-o", "BatchMode=yes", "-o", f"ConnectTimeout={scaled(10):.0f}"]
        argv += ["-o", "ServerAliveInterval=3", "-o", f"ServerAliveCountMax={scaled(4):.0f}"]
        for option in ("ControlPath=none", "ClearAllForwardings=yes", "ForwardAgent=no", "EscapeChar=none"):
            argv += ["-o", option]
        argv += ["-o", "RequestTTY=no", "-o", "PermitLocalCommand=no", "-o", "LogLevel=ERROR"]
        return [*argv, *self._login(), "--", self.address, words]

    @property
    def by_hand(self) -> str:
        """Return what a user types to log in there the same way."""
        return shlex.join(["ssh", *self.options, *self._login(), self.address])

    def _login(self) -> list[str]:
        argv = ["-p", str(self.port)] if self.port else []
        argv += ["-l", self.user] if self.user else []
        return [*argv, "-i", self.key] if self.key else argv


@dataclass(frozen=True, slots=True)
class Hosts(NodeSettings):
    """The machines of a bed."""

    client: SshHost
    router: SshHost
    server: SshHost

    def __iter__(self) -> Iterator[tuple[str, SshHost]]:
        yield from ((name, getattr(self, name)) for name in NODE_NAMES)


class _Group(TypedDict, total=False):
    """A group, as Ansible lists it."""

    hosts: list[str]
    children: list[str]


class _Meta(TypedDict, total=False):
    hostvars: Mapping[str, "Variables"]


Variables = Mapping[str, object]  # of a host, by their names


def read_inventory(path: Path) -> Hosts:
    """Return the machines that an inventory names; InputError with what it lacks."""
    if not path.exists() or path == Path():  # which is what an empty name is
        raise InputError(f"there is no inventory {path}", "See docs/reference/ssh.md for one to begin with")
    return hosts_of(_listed(path), str(path))


def hosts_of(inventory: Mapping[str, object], where: str) -> Hosts:
    """Read the hosts from what `ansible-inventory --list` says. Pure."""
    groups, variables = _parts(inventory, where)
    listed: dict[str, tuple[str, Variables]] = {}
    hosts: dict[str, SshHost] = {}
    for node in NODE_NAMES:
        names = _members(groups, node)
        if len(names) != 1:
            has = f"has {len(names)} hosts ({', '.join(names)})" if names else "is missing or empty"
            near = difflib.get_close_matches(node, set(groups) - {node}, 1)
            has += f", and there is one called '{near[0]}'" if near and not names else ""
            remedy = f"Give '{node}' exactly one host: a bed has one client, one router and one server"
            raise InputError(f"{where}: the group '{node}' {has}", remedy, key="--inventory")
        listed[node] = names[0], variables.get(names[0], {})
    placed = {key for node, (_, its) in listed.items() for key in INTERFACE_VARIABLES[node].values() if key in its}
    for node, (name, its) in listed.items():
        _Variables(node, name, its, where).require_placed(placed)
        hosts[node] = _host(node, name, its, where)
    _require_apart(hosts, where)
    return Hosts(**hosts)


def _parts(inventory: Mapping[str, object], where: str) -> tuple[dict[str, _Group], Mapping[str, Variables]]:
    """Return the groups, and the variables of the hosts."""
    words = f"the inventory {where}"
    try:
        variables = parsed(_Meta, inventory.get("_meta", {}), words).get("hostvars", {})
        return {name: parsed(_Group, entry, words) for name, entry in inventory.items() if name != "_meta"}, variables
    except RecordError as error:
        remedy = f"To see it, run: ansible-inventory -i {where} --list"
        raise InputError(error.what, remedy, key="--inventory") from error


def _members(groups: Mapping[str, _Group], group: str) -> list[str]:
    entry = groups.get(group, {})
    names = list(entry.get("hosts", []))
    for child in entry.get("children", []):
        names += _members(groups, child)
    return list(dict.fromkeys(names))


def _require_apart(hosts: Mapping[str, SshHost], where: str) -> None:
    for one, other in (("client", "router"), ("router", "server"), ("client", "server")):
        if hosts[one].name == hosts[other].name or hosts[one].way == hosts[other].way:
            what = f"{where}: {one} and {other} are the same machine, {hosts[one].name}"
            raise InputError(what, "Name three; on one machine use --substrate netns", key="--inventory")


class _Variables:
    """The variables of one host in the inventory; errors name it."""

    def __init__(self, node: str, name: str, variables: Variables, where: str) -> None:
        self._where, self._node, self._name, self._variables = where, node, name, variables

    def refusal(self, what: str, remedy: str) -> InputError:
        return InputError(f"{self._where}: host {self._name} ({self._node}): {what}", remedy, key="--inventory")

    def text(self, key: str, default: str = "") -> str:
        value = str(self._variables.get(key, default))
        if "{{" in value:
            raise self.refusal(f"'{key}' is a template, which lanelab does not work out", "Write its value")
        return value

    def require_supported(self) -> None:
        for key in PASSWORDS:
            if key in self._variables:
                what = f"'{key}' is not supported: nothing here types passwords"
                raise self.refusal(what, "Use a key, and sudo without one")
        for key, ours in OTHER_NAMES.items():
            if key in self._variables:
                raise self.refusal(f"'{key}' is not supported", f"Write {ours} instead, which Ansible reads too")
        connection = self.text("ansible_connection", "ssh")
        if connection not in ("ssh", "smart", "ansible.builtin.ssh"):
            raise self.refusal(f"ansible_connection is '{connection}'", "Only ssh will do here")

    def require_placed(self, placed: Collection[str]) -> None:
        """Refuse a variable of ours that no node has, or only another one. `placed`: those that are where they belong,
        which may stand with all machines."""
        mine = INTERFACE_VARIABLES[self._node].values()
        for key in self._variables:
            if key.startswith("lanelab_") and key not in placed:
                raise self.refusal(f"'{key}' means nothing on the {self._node}", f"Write {' and '.join(mine)}")

    def address(self) -> str:
        address = self.text("ansible_host", self._name)
        if address.startswith("-") or not address:
            raise self.refusal(f"'{address}' is no address", "Set ansible_host")
        return address

    def port(self) -> int | None:
        port = self.text("ansible_port")
        if port and not (port.isdigit() and 0 < int(port) < 65536):
            raise self.refusal(f"'{port}' is no port", "Set ansible_port to a number")
        return int(port) if port else None

    def python(self) -> str:
        python = self.text(PYTHON, "python3")
        if python.startswith("auto"):  # Ansible's own ways to look for one
            return "python3"
        if not PLAIN.fullmatch(python):
            remedy = "Write a path without spaces or signs that a shell knows"
            raise self.refusal(f"{PYTHON} is '{python}'", remedy)
        return python

    def options(self) -> tuple[str, ...]:
        try:
            return tuple(word for key in ARGUMENTS for word in shlex.split(self.text(key)))
        except ValueError as error:
            raise self.refusal(f"the ssh arguments cannot be read: {error}", "Mind the quotes") from error


def _host(node: str, name: str, variables: Variables, where: str) -> SshHost:
    values = _Variables(node, name, variables, where)
    values.require_supported()
    key = values.text(KEY_FILE)
    return SshHost(
        name,
        values.address(),
        values.port(),
        values.text("ansible_user"),
        str(Path(key).expanduser()) if key else "",
        values.options(),
        {side: values.text(each) for side, each in INTERFACE_VARIABLES[node].items() if values.text(each)},
        values.python(),
    )


def _listed(path: Path) -> dict[str, object]:
    formats = "yaml" if path.suffix in (".yml", ".yaml", ".json") else INVENTORY_FORMATS
    settings = {"ANSIBLE_INVENTORY_ENABLED": formats, "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "1"}
    argv = [sys.executable, "-I", "-m", "ansible", "inventory", "--inventory", str(path), "--list"]
    done = subprocess.run(
        argv,
        env={**os.environ, **ansible_settings(), **settings},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return parsed(dict[str, object], json.loads(done.stdout), f"the inventory {path}")
    except (ValueError, RecordError):
        plugin = re.search(r"plugin: (.+?)\.?$", done.stderr, re.MULTILINE)
        why = plugin[1] if plugin else (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        remedy = f"To see more, run: ansible-inventory -i {path} --list"
        raise InputError(f"{path} is no inventory that Ansible can read: {why}", remedy, key="--inventory") from None
