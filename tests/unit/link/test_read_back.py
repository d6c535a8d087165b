"""What hosts are set to, read back: what they do not tell is not taken for what was asked for."""

from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.substrate import Substrate
from lanelab.driver.link.hosts.host import USUAL_KERNEL
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.trial.page_load.node_settings import PARTS, ReadBack

KERNEL = {
    **{name.replace(".", "/"): value for name, value in USUAL_KERNEL.items()},
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_rmem": "4096\t131072\t6291456",
}
CONNECTIONS = """0  0  10.10.2.2:80  10.10.1.2:45910
\t ts sack ecn ecnseen cubic wscale:9,9 rto:203 rtt:2.3/3.5 mss:1448 cwnd:10
0  0  10.10.2.2:80  10.10.1.2:45912
\t bbr wscale:9,9 rto:203 rtt:2.3/3.5 mss:1448 cwnd:10"""


def bed(kernel: dict[str, str]) -> Substrate:
    """Nodes that answer by what they are asked about."""
    routes = '[{"dst": "10.10.2.0/24", "metrics": [{"congestion": "cubic", "initcwnd": 10, "quickack": 1}]}]'
    router = PARTS.join(["[]", "\n".join(f"{device} 1500" for device in DEVICES)])

    def run(argv: list[str], **_: object) -> SimpleNamespace:
        told = "\n".join(f"==> {name} <==\n{value}" for name, value in kernel.items())
        host = PARTS.join([routes, '[{"mtu": 1500}, {}]', "generic-segmentation-offload: off", "", told, CONNECTIONS])
        return SimpleNamespace(stdout=router if argv[-1] == DEVICES[-1] else host)

    node = SimpleNamespace(name="node", run=run)
    return cast("Substrate", SimpleNamespace(node=lambda _name: node, router=SimpleNamespace(node=node)))


@pytest.mark.parametrize(("timestamps", "early"), [("1", "3"), ("0", "0"), ("2", "4")])
def test_the_links_own_settings_are_told_and_no_change(timestamps: str, early: str) -> None:
    kernel = dict(KERNEL)
    read_back = ReadBack(bed(kernel))
    kernel |= {"net/ipv4/tcp_timestamps": timestamps, "net/ipv4/tcp_early_retrans": early}
    found = read_back.read("", 0, 0, ())
    assert found.client.kernel["net.ipv4.tcp_timestamps"] == timestamps
    assert found.server.kernel["net.ipv4.tcp_early_retrans"] == early
    assert found.client.routes[0].metrics["quickack"] == "1"
    assert found.changed == ()
    assert found.client.mtu == 1500
    assert found.client.used_controls == ("cubic", "bbr")


def test_what_a_link_changed_of_the_hosts_own_is_compared_with_what_they_had() -> None:
    """The first that is read may be another link's."""
    kernel, kept = dict(KERNEL), {("server", "net.ipv4.tcp_rmem"): "4096 131072 6291456"}
    read_back = ReadBack(bed(kernel | {"net/ipv4/tcp_rmem": "4096 65536 65536"}), kept)
    assert [each.node for each in read_back.read("", 0, 0, ()).changed] == ["server"]
    assert ReadBack(bed(kernel), kept).read("", 0, 0, ()).changed == ()


@pytest.mark.parametrize("name", ["net/ipv4/tcp_timestamps", "net/ipv4/tcp_early_retrans"])
def test_what_a_host_does_not_tell_is_an_error(name: str) -> None:
    silent = {key: value for key, value in KERNEL.items() if key != name}
    with pytest.raises(RecordError, match=f"does not tell what {name.replace('/', '.')} is set to"):
        ReadBack(bed(silent))
