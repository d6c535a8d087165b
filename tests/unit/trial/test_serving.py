"""Where a server of a trial listens."""

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.server import asked_at, listens
from lanelab.driver.trial.serving import sockets_at

OWN = ("10.10.16.1", "10.10.32.1")
H3 = {"server": "caddy", "protocol": "h3", "tls": "1.3"}


def test_by_quic_each_address_has_a_socket_of_its_own() -> None:
    arm = Arm.parse("a", {**H3, "addresses": "per-origin"})
    assert sockets_at(arm, OWN) == ("127.0.0.1", *OWN)


@pytest.mark.parametrize("settings", [H3, {"addresses": "per-origin"}, {**H3, "protocol": "h2"}], ids=str)
def test_else_one_does_for_all(settings: dict[str, str]) -> None:
    arm = Arm.parse("a", settings)
    assert sockets_at(arm, OWN) == ()
    assert len(listens(arm)) == 1


def test_it_is_asked_whether_it_is_ready_once_at_each_port() -> None:
    arm = Arm.parse("a", {"tls": "1.3", "schemes": "recorded"})
    assert asked_at(arm) == (("127.0.0.1", 80), ("127.0.0.1", 443))
