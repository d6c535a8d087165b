"""What servers send with by HTTP/3: told before a run and with it, and no setting of TCP's passes for it."""

import pytest

from lanelab.driver.api.plan_words import summary
from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import over_quic_alone, quic_facts, sending
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.schedule.estimate import SiteLoad, estimate
from lanelab.driver.run.built_programs import FirstBuild

WORDS = "NewReno of Caddy (quic-go)"
H3 = {"server": "caddy", "protocol": "h3", "tls": "1.3"}
BY_H3 = "h3: {server: caddy, protocol: h3, tls: 1.3}"
TOLD = "told: {server: caddy, protocol: h3, tls: 1.3, h3_discovery: alt-svc}"
BY_TCP = "h2: {protocol: h2, tls: 1.3}"


def read(link: str, *arms: str) -> Experiment:
    text = f"sites: dummy\nlinks: {link}\narms: {{{', '.join(arms)}}}\n"
    return parse_experiment(text, "made.yaml", ("dummy",))


def test_each_server_that_speaks_http3_says_what_it_sends_with() -> None:
    for server in SERVERS.values():
        assert (server.quic is not None) == ("h3" in server.protocols), server.name


def test_arms_over_quic_have_the_servers_control() -> None:
    arms = [Arm.parse("h3", H3), Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})]
    assert [sending(arm) for arm in arms] == [(WORDS,), ()]
    assert quic_facts(arms) == {"quic_congestion_control": {"h3": WORDS}}
    assert quic_facts(arms[1:]) == {}
    assert [over_quic_alone(arm) for arm in arms] == [True, False]


def test_a_plan_says_it() -> None:
    found = read("{rtt: 20ms}", BY_H3, BY_TCP)
    lines = summary(found, estimate(found, {"dummy": SiteLoad(24, 1, 1_115_300)}), FirstBuild())
    assert f"HTTP/3: {WORDS}; a link's congestion_control is TCP's alone" in lines


@pytest.mark.parametrize(
    "link", ["{rtt: 20ms, congestion_control: bbr}", "{rtt: 20ms, congestion_control_server: bbr}"]
)
def test_tcps_control_is_refused_where_nobody_would_have_it(link: str) -> None:
    words = r"made.yaml:2: links: congestion_control.* is TCP's, and all arms on the link"
    with pytest.raises(InputError, match=words):
        read(link, BY_H3)
    assert read(link, BY_H3, BY_TCP).cells
    assert read(link, TOLD).cells  # the first answers come over TCP
    assert read("{rtt: 20ms, initial_window: 32}", BY_H3).cells
