"""Tomcat 10.1, alone or behind a proxy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lanelab.driver.arm.servers.back_ends import fields
from lanelab.driver.arm.servers.back_ends.server import BackEnd
from lanelab.driver.arm.servers.server import ServerArm


class Tomcat(BackEnd):
    name = "tomcat"
    title = "Tomcat"
    protocols = frozenset({"http/1.1", "h2"})
    settings = (fields.THREADS, fields.HEAP)

    def values(self, values: Mapping[str, Any]) -> object:
        return fields.BackEndSettings(**values)

    def check(self, arm: ServerArm) -> None:
        behind = frozenset({"ajp"}) if arm.behind else frozenset()
        fields.check(arm, "Tomcat", self.protocols | behind, self.protocols)

    def back_end(self, _arm: ServerArm) -> str:
        return "tomcat-10.1"
