"""Tomcat 10.1, alone or behind a proxy."""

from lanelab.driver.arm.servers.back_ends import fields
from lanelab.driver.arm.servers.back_ends.server import BackEnd
from lanelab.driver.arm.wire import WireSettings


class Tomcat(BackEnd):
    name = "tomcat"
    title = "Tomcat"
    protocols = frozenset({"http/1.1", "h2"})
    own_kind = fields.BackEndSettings

    def check(self, arm: WireSettings) -> None:
        behind = frozenset({"ajp"}) if arm.behind else frozenset()
        fields.check(arm, "Tomcat", self.protocols | behind, self.protocols)

    def back_end(self, _arm: WireSettings) -> str:
        return "tomcat-10.1"
