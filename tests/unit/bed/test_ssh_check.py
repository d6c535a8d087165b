"""The verdict on three machines, from what they said: each gap alone, and all at once."""

import ast
import shlex
import sys
from collections.abc import Callable
from typing import Any

import pytest

from lanelab.driver.base.errors import HostAway, HostError
from lanelab.driver.bed.remote_files import remote_files
from lanelab.driver.bed.ssh import connection as ssh_line
from lanelab.driver.bed.ssh.check import judge
from lanelab.driver.bed.ssh.findings import Observations
from lanelab.driver.bed.ssh.hosts import Hosts, SshHost

HOSTS = Hosts(*(SshHost(f"{name}1", "192.0.2.1") for name in ("client", "router", "server")))
Change = Callable[[dict[str, Any]], object]


def interface(name: str, **changes: Any) -> dict[str, Any]:
    usual = {
        "mac": "02:00:00:00:00:01", "mtu": 1500, "up": True, "carrier": True, "kind": "", "physical": True,
        "enslaved": False, "management": False, "wires": [name], "wire_of_management": "",
    }  # fmt: skip
    return {"name": name, **usual, **changes}


def machine(*devices: str) -> dict[str, Any]:
    everything = (
        "ip", "tc", "ethtool", "tcpdump", "ping", "chromium", "chromedriver", "apache2", "linux.uml",
    )  # fmt: skip
    return {
        "kernel": "6.1.0", "architecture": "x86_64", "system": "debian-12", "python": "3.11.2",
        "interfaces": [interface("mgmt", management=True), *(interface(name) for name in devices)],
        "programs": {name: f"/usr/bin/{name}" for name in everything}, "lacks_capabilities": False,
        "no_namespaces": "", "no_macvlan": "", "no_netem": "", "uml_modules": True, "in_use": [], "left": [],
    }  # fmt: skip


def seen(change: Change = lambda _: None) -> Observations:
    """Three good machines on two wires, changed."""
    said: dict[str, Any] = {
        "facts": {"client": machine("a"), "router": machine("b", "c"), "server": machine("d")},
        "clocks": {"client": 0.1, "router": -0.2, "server": 0.0},
        "heard": {
            "client": [["a", "router", "b"]],
            "router": [["b", "client", "a"], ["c", "server", "d"]],
            "server": [["d", "router", "c"]],
        },
    }
    change(said)
    return Observations(said["facts"], said["clocks"], said["heard"])


def test_good_machines_are_wired_as_they_hear_each_other() -> None:
    verdict = judge(HOSTS, seen())
    assert verdict.gaps == []
    assert verdict.interfaces == {
        "client": {"router": "a"},
        "router": {"client": "b", "server": "c"},
        "server": {"router": "d"},
    }
    verdict.require()


def set_fact(node: str, key: str, value: Any) -> Change:
    return lambda said: said["facts"][node].update({key: value})


def set_interface(node: str, number: int, **changes: Any) -> Change:
    return lambda said: said["facts"][node]["interfaces"][number].update(changes)


def lose_programs(node: str, *names: str) -> Change:
    return lambda said: said["facts"][node]["programs"].update(dict.fromkeys(names, ""))


def on_one_switch(said: dict[str, Any]) -> None:
    """Both of the router's interfaces hear the client."""
    said["heard"]["client"].append(["a", "router", "c"])
    said["heard"]["router"].append(["c", "client", "a"])


def both(*changes: Change) -> Change:
    return lambda said: [change(said) for change in changes]


@pytest.mark.parametrize(
    ("change", "node", "what", "words"),
    [
        (lambda said: said["clocks"].update(server=2.5), "server", "clock", "2.50 s ahead"),
        (lambda said: said["clocks"].update(client=-61.0), "client", "clock", "61.00 s behind"),
        (set_fact("client", "no_macvlan", "Unknown device type"), "client", "macvlan", "Unknown device type"),
        (set_fact("server", "no_namespaces", "no namespaces here"), "server", "privileges", "no namespaces here"),
        (set_fact("server", "lacks_capabilities", True), "server", "privileges", "lacks capabilities"),
        (lose_programs("client", "chromium", "tcpdump"), "client", "programs", "missing: tcpdump, chromium"),
        (lose_programs("server", "apache2"), "server", "programs", "missing: apache2"),
        (lose_programs("router", "tc"), "router", "programs", "missing: tc"),
        (
            both(set_fact("router", "no_netem", "kind is unknown"), lose_programs("router", "linux.uml")),
            "router", "router", "has no netem .kind is unknown., nor can it run the UML kernel: it is not installed",
        ),
        (
            both(set_fact("router", "no_netem", "x"), set_fact("router", "architecture", "aarch64")),
            "router", "router", "that is an x86-64 program and this machine is aarch64",
        ),
        (lambda said: said["heard"].update(server=[]), "router", "link", "router and server are not neighbours"),
        (on_one_switch, "client", "link", "more than one way leads to the router: a to b, a to c"),
        (set_interface("server", 1, mtu=1400), "server", "link", "d has an MTU of 1400"),
        (set_fact("router", "in_use", ["c"]), "router", "in use", "another bed uses c"),
        (
            both(set_interface("server", 1, wires=["eth0", "d"]), set_fact("server", "in_use", ["eth0"])),
            "server", "in use", "another bed uses eth0",
        ),
    ],
)  # fmt: skip
def test_each_gap_is_told_with_a_remedy(change: Change, node: str, what: str, words: str) -> None:
    verdict = judge(HOSTS, seen(change))
    assert [(gap.node, gap.what) for gap in verdict.gaps] == [(node, what)]
    with pytest.raises(HostError, match=words) as caught:
        verdict.require()
    assert f"{node}1" in caught.value.what
    assert caught.value.remedy


def named(**interfaces: dict[str, str]) -> Hosts:
    hosts = HOSTS.to_json()
    for node, each in interfaces.items():
        hosts[node]["interfaces"] = each
    return Hosts.from_json(hosts)


def test_a_name_in_the_inventory_decides_between_several_ways() -> None:
    hosts = named(router={"client": "b"})
    assert judge(hosts, seen(on_one_switch)).interfaces["client"] == {"router": "a"}


@pytest.mark.parametrize(
    ("hosts", "change", "words"),
    [
        (named(client={"router": "mgmt"}), lambda _: None, "carries the address that ssh comes to"),
        (named(client={"router": "z"}), lambda _: None, "there is no Ethernet interface z"),
        (named(router={"client": "b", "server": "b"}), lambda _: None, "b is named for both sides"),
        (named(server={"router": "d"}), set_interface("server", 1, up=False), "d is down"),
        (named(server={"router": "d"}), set_interface("server", 1, kind="wlan"), "d is a wlan device"),
        (named(server={"router": "d"}), set_interface("server", 1, enslaved=True), "d is a port of a bond or a bridge"),
        (
            named(server={"router": "d"}),
            set_interface("server", 1, wire_of_management="eth0"),
            "d lies on eth0, as what ssh comes through does",
        ),
    ],
)
def test_names_that_will_not_do(hosts: Hosts, change: Change, words: str) -> None:
    verdict = judge(hosts, seen(change))
    assert len(verdict.gaps) == 1
    assert words in verdict.gaps[0].found


def test_all_gaps_are_told_at_once() -> None:
    change = both(lose_programs("client", "ping"), lose_programs("server", "ip"), set_fact("router", "in_use", ["b"]))
    assert len(judge(HOSTS, seen(change)).gaps) == 3


def test_only_what_passes_by_itself_is_worth_waiting_for() -> None:
    busy = set_fact("router", "in_use", ["b"])
    with pytest.raises(HostAway):
        judge(HOSTS, seen(busy)).require()
    with pytest.raises(HostError) as caught:
        judge(HOSTS, seen(both(busy, lose_programs("client", "ping")))).require()
    assert not isinstance(caught.value, HostAway)


def test_what_a_bed_could_not_put_back_is_a_note() -> None:
    verdict = judge(HOSTS, seen(set_fact("client", "left", ["a"])))
    assert [(each.node, each.what) for each in verdict.findings if each.state == "note"] == [("client", "offloads")]


def test_no_shell_can_take_the_first_words_apart() -> None:
    """Neither sh, csh nor fish finds anything in single quotes but these."""
    begin = ssh_line.BEGIN.format(number=1, within_s=60)
    assert not set(begin) & set("'!\\\n\"`$")
    words = f"/usr/bin/python3 -I -S -c '{begin}'"
    assert shlex.split(words) == ["/usr/bin/python3", "-I", "-S", "-c", begin]


def test_what_goes_there_imports_nothing_that_is_not_there_too() -> None:
    """The standard library, and files that go along."""
    there = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in remote_files()}
    for name, path in remote_files().items():
        whole_file = ast.parse(path.read_text())
        for_types = [
            each for each in ast.walk(whole_file) if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.dump(each.test)
        ]
        unread = {below for each in for_types for below in ast.walk(each)}  # for tools that read the code
        for node in ast.walk(whole_file):
            if node in unread:
                continue
            modules = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, name
                whole = node.module or ""
                modules = [full if (full := f"{whole}.{each.name}") in there else whole for each in node.names]
            for module in modules:
                assert module.split(".")[0] in sys.stdlib_module_names or module in there, (name, module)


def test_programs_for_other_machines_know_what_a_time_out_of_a_socket_was_before_python_3_10() -> None:
    for name, path in remote_files().items():
        text = path.read_text()
        assert "except TimeoutError" not in text or "socket.timeout" in text, name
