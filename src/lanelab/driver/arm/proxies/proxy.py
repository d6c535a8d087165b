"""What every proxy is to the rest of lanelab. To add one, add a folder beside this file, and name it in registry.py and
in fields.py.

A proxy listens where a server otherwise does, and speaks to the server behind it at 127.0.0.1. Its life is a server's
(driver/arm/servers/life.py).
"""

from typing import Protocol

from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.servers.server import Assignment, Program

BACK_END = "127.0.0.1"
# A proxy drops connections to the server behind it that were not used for so long: before the server does.
IDLE_S = 60
# Answers may come slowly, a line now and then: a proxy waits for the next one for so long.
PATIENCE_S = 600


class Proxy(Program, Protocol):
    """One kind of proxy, set as an arm says."""

    @property
    def needs(self) -> tuple[str, ...]:
        """What its node must have installed, in the words of playbooks/vars/packages.yml (`for`)."""

    @property
    def builds(self) -> tuple[str, ...]:
        """Programs of lanelab's own that it needs, as driver/run/built_programs.py calls them."""


class SetProxy:
    """What proxies have in common: an arm sets them, and they have neither files to answer from nor directives."""

    builds: tuple[str, ...] = ()

    def __init__(self, arm: ProxySettings) -> None:
        self._arm = arm

    def content(self, _assignment: Assignment) -> None:
        return None

    def refused_directive(self, _words: str, _text: str) -> None:
        return None
