"""Inventories: what they may say, and what each error says of them."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lanelab.driver.api import own_hosts
from lanelab.driver.base.errors import HostAway, HostError, InputError
from lanelab.driver.bed.node import NODE_NAMES
from lanelab.driver.bed.ssh import check as ssh_check
from lanelab.driver.bed.ssh import machines
from lanelab.driver.bed.ssh.hosts import Hosts, SshHost, hosts_of, read_inventory
from lanelab.driver.cli import hosts as commands

INI = """\
[client]
near ansible_host=192.0.2.1 ansible_port=2222 ansible_user=me lanelab_link_interface=eth7
[router]
middle lanelab_client_interface=a lanelab_server_interface=b
[server]
far ansible_ssh_extra_args="-o 'ProxyJump=a b'"
[all:vars]
ansible_ssh_common_args=-F none
ansible_python_interpreter=/opt/python3.12/bin/python
"""


def listed(**variables: Any) -> dict[str, Any]:
    """As `ansible-inventory --list` says it; `variables` of the client."""
    groups: dict[str, Any] = {node: {"hosts": [f"{node}1"]} for node in ("client", "router", "server")}
    return {"_meta": {"hostvars": {"client1": variables}}, **groups}


def test_ansible_reads_it(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text(INI)
    hosts = read_inventory(tmp_path / "hosts")
    python = "/opt/python3.12/bin/python"
    assert hosts.client == SshHost("near", "192.0.2.1", 2222, "me", "", ("-F", "none"), {"router": "eth7"}, python)
    assert hosts.router.interfaces == {"client": "a", "server": "b"}
    assert hosts.server.options == ("-F", "none", "-o", "ProxyJump=a b")
    assert Hosts.from_json(hosts.to_json()) == hosts


def test_what_ansible_cannot_read_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("all: [")
    with pytest.raises(
        InputError, match=r"hosts\.yml is no inventory that Ansible can read: .*arsing failed"
    ) as caught:
        read_inventory(tmp_path / "hosts.yml")
    assert "\n" not in str(caught.value)


def test_an_inventory_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no inventory"):
        read_inventory(tmp_path / "none")


def test_groups_of_groups_count() -> None:
    inventory = listed()
    inventory["client"] = {"children": ["laptops"]}
    inventory["laptops"] = {"hosts": ["mine"]}
    assert hosts_of(inventory, "x").client.name == "mine"


@pytest.mark.parametrize(
    ("group", "words"),
    [
        ({}, "the group 'router' is missing or empty"),
        ({"hosts": []}, "the group 'router' is missing or empty"),
        ({"hosts": ["a", "b"]}, r"the group 'router' has 2 hosts \(a, b\)"),
        ({"hosts": ["client1"]}, "client and router are the same machine"),
    ],
)
def test_each_group_has_one_machine_of_its_own(group: dict[str, Any], words: str) -> None:
    inventory = listed()
    inventory["router"] = group
    with pytest.raises(InputError, match=words) as caught:
        hosts_of(inventory, "x")
    assert caught.value.key == "--inventory"
    assert caught.value.remedy


@pytest.mark.parametrize("part", [{"client": []}, {"client": {"hosts": "a"}}, {"_meta": {"hostvars": []}}])
def test_an_inventory_of_another_shape_is_an_error_of_the_users(part: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"in the inventory i\.yml, ") as caught:
        hosts_of({**listed(), **part}, "i.yml")
    assert caught.value.key == "--inventory"


def test_two_names_of_one_machine_are_told() -> None:
    inventory = listed(ansible_host="192.0.2.1")
    server = inventory["_meta"]["hostvars"]["server1"] = {"ansible_host": "192.0.2.1", "ansible_port": 22}
    with pytest.raises(InputError, match="client and server are the same machine"):
        hosts_of(inventory, "x")
    server["ansible_port"] = 2222  # so machines behind one address are told apart
    assert hosts_of(inventory, "x").server.port == 2222
    server.update(ansible_port=22, ansible_ssh_common_args="-J gate")
    assert hosts_of(inventory, "x").server.options == ("-J", "gate")


def test_longer_time_limits_are_sshs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_PATIENCE", "6")
    argv = SshHost("a", "192.0.2.1").command("words")
    assert {"ConnectTimeout=60", "ServerAliveCountMax=24"} <= set(argv)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"ansible_password": "x"}, "'ansible_password' is not supported"),
        ({"ansible_become_pass": "x"}, "'ansible_become_pass' is not supported"),
        ({"ansible_ssh_host": "192.0.2.9"}, "'ansible_ssh_host' is not supported"),
        ({"ansible_private_key_file": "k"}, "'ansible_private_key_file' is not supported"),
        ({"ansible_connection": "local"}, "ansible_connection is 'local'"),
        ({"ansible_host": "-oProxyCommand=x"}, "is no address"),
        ({"ansible_host": "{{ other }}"}, "'ansible_host' is a template"),
        ({"ansible_port": "ssh"}, "'ssh' is no port"),
        ({"ansible_port": 70000}, "'70000' is no port"),
        ({"ansible_python_interpreter": "python3; id"}, "without spaces or signs"),
        ({"ansible_ssh_common_args": "-o 'x"}, "the ssh arguments cannot be read"),
    ],
)
def test_what_cannot_be_used_names_the_host(variables: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        hosts_of(listed(**variables), "x")
    assert "host client1 (client)" in str(caught.value)
    assert caught.value.remedy


def test_ansibles_own_ways_to_find_a_python_are_ours() -> None:
    assert hosts_of(listed(ansible_python_interpreter="auto_silent"), "x").client.python == "python3"


def test_what_the_user_gives_ssh_comes_before_what_we_do() -> None:
    host = SshHost("a", "192.0.2.1", 22, "me", "/key", ("-o", "ServerAliveInterval=60"))
    argv = host.command("words")
    assert argv.index("ServerAliveInterval=60") < argv.index("ServerAliveInterval=3")
    assert argv[-3:] == ["--", "192.0.2.1", "words"]


@pytest.mark.parametrize("name", ["lanelab_link_iface", "lanelab_client_interface"])
def test_a_variable_of_ours_that_means_nothing_there_is_refused(name: str) -> None:
    with pytest.raises(
        InputError, match=f"client1.*'{name}' means nothing on the client. Write lanelab_link_interface"
    ):
        hosts_of(listed(**{name: "eth1"}), "machines.yml")


def test_variables_may_stand_with_all_machines() -> None:
    for_all = {"lanelab_client_interface": "a", "lanelab_server_interface": "b", "lanelab_link_interface": "c"}
    found = {**listed(), "_meta": {"hostvars": dict.fromkeys(("client1", "router1", "server1"), for_all)}}
    hosts = hosts_of(found, "machines.yml")
    assert hosts.client.interfaces == hosts.server.interfaces == {"router": "c"}
    assert hosts.router.interfaces == {"client": "a", "server": "b"}


def test_a_group_whose_name_is_nearly_right_is_named() -> None:
    found = listed()
    found["cleint"] = found.pop("client")
    with pytest.raises(InputError, match=r"'client' is missing or empty, and there is one called 'cleint'\. Give"):
        hosts_of(found, "machines.yml")


def test_an_inventory_without_a_name_is_none() -> None:
    with pytest.raises(InputError, match="there is no inventory"):
        read_inventory(Path())


def test_a_machine_that_is_away_keeps_no_other_from_being_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "machines.yml"
    groups = {name: {"hosts": {f"{name}1": {"ansible_host": f"192.0.2.{at}"}}} for at, name in enumerate(NODE_NAMES, 1)}
    file.write_text(json.dumps({"all": {"children": groups}}))
    played: list[str] = []

    def play(_inventory: Path, node: str, *, only_look: bool) -> bool:
        played.append(f"{node} {only_look}")
        return node != "router"

    away = HostAway("client1 (client): there is no way to it")
    monkeypatch.setattr(machines, "SshConnection", lambda *_: io.BytesIO())  # it can be closed
    monkeypatch.setattr(own_hosts, "prepare", lambda _what: None)
    monkeypatch.setattr(own_hosts, "play", play)
    monkeypatch.setattr(ssh_check, "open_all", lambda _lines: {"client": away})
    with pytest.raises(HostError, match=r"client1 \(client\) and router1 \(router\) could not be .*; the others were"):
        CliRunner().invoke(
            commands.group, ["prepare", str(file), "--check"], catch_exceptions=False, standalone_mode=False
        )
    assert played == ["router True", "server True"]
