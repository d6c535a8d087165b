"""What hosts are set to, read back: what they do not tell is not taken for what was asked for."""

from types import SimpleNamespace
from typing import cast

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.link.hosts.host import USUAL_KERNEL, Route
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.trial.page_load.node_settings import HostAnswer, HostReader, ReadBack, RouterReader, ShownHost

KERNEL = {
    **{name.replace(".", "/"): value for name, value in USUAL_KERNEL.items()},
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/ipv4/tcp_rmem": "4096 131072 6291456",
}


def read_back(kernel: dict[str, str], kept: dict[tuple[str, str], str] | None = None) -> ReadBack:
    """Return what reads the settings of hosts that answer with this kernel, as it is then."""
    told: HostAnswer = {
        "controls": ["cubic", "bbr"],
        "features": ["rx-checksumming"],
        "kernel": kernel,
        "written_to": [],
    }
    routes: list[Route] = [{"dst": "10.10.2.0/24", "metrics": [{"congestion": "cubic", "initcwnd": 10, "quickack": 1}]}]
    shown = ShownHost(told, routes, [{"ifname": "eth0", "mtu": 1500}])
    host = cast("HostReader", SimpleNamespace(read=lambda _content: shown))
    router = cast("RouterReader", SimpleNamespace(read=lambda: ([], dict.fromkeys(DEVICES, 1500))))
    return ReadBack(host, host, router, kept or {})


@pytest.mark.parametrize(("timestamps", "early"), [("1", "3"), ("0", "0"), ("2", "4")])
def test_the_links_own_settings_are_told_and_no_change(timestamps: str, early: str) -> None:
    kernel = dict(KERNEL)
    reader = read_back(kernel)
    kernel |= {"net/ipv4/tcp_timestamps": timestamps, "net/ipv4/tcp_early_retrans": early}
    found = reader.read("", 0, 0, ())
    assert found.client.kernel["net.ipv4.tcp_timestamps"] == timestamps
    assert found.server.kernel["net.ipv4.tcp_early_retrans"] == early
    assert found.client.routes[0].metrics["quickack"] == "1"
    assert found.changed == ()
    assert found.client.mtu == 1500
    assert found.client.used_controls == ("cubic", "bbr")


def test_what_a_link_changed_of_the_hosts_own_is_compared_with_what_they_had() -> None:
    """The first that is read may be another link's."""
    kernel, kept = dict(KERNEL), {("server", "net.ipv4.tcp_rmem"): "4096 131072 6291456"}
    reader = read_back(kernel | {"net/ipv4/tcp_rmem": "4096 65536 65536"}, kept)
    assert [each.node for each in reader.read("", 0, 0, ()).changed] == ["server"]
    assert read_back(kernel, kept).read("", 0, 0, ()).changed == ()


@pytest.mark.parametrize("name", ["net/ipv4/tcp_timestamps", "net/ipv4/tcp_early_retrans"])
def test_what_a_host_does_not_tell_is_an_error(name: str) -> None:
    silent = {key: value for key, value in KERNEL.items() if key != name}
    with pytest.raises(RecordError, match=f"does not tell what {name.replace('/', '.')} is set to"):
        read_back(silent)
