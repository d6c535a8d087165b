"""A link in words and lines: what it is by name, what makes it, and whether a bed's is what was asked for."""

from typing import TypedDict, cast

from lanelab.driver.api.links import PROFILES, Link
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.capabilities import router_for
from lanelab.driver.bed.routers.router import Router
from lanelab.driver.link.results import Result, SelfTest, SelfTestData, number
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.link.shaping.shaping import explain

__all__ = [
    "Effort",
    "NamedLink",
    "Result",
    "SelfTest",
    "ShownLink",
    "TestedLink",
    "lines_of",
    "link_test_json",
    "named_links",
    "number",
    "router_for",
    "shown_link",
]


class NamedLink(TypedDict):
    """A link that has a name, with all effective settings."""

    name: str
    settings: dict[str, str]
    source: str


class LinkLine(TypedDict):
    """A line that makes a part of a link."""

    line: str
    meaning: str


class ShownLink(TypedDict):
    """A link with all effective settings, and what makes it."""

    link: dict[str, str]
    router: str
    lines: list[LinkLine]


class TestedLink(SelfTestData):
    """A link with all effective settings, and its self-test."""

    link: dict[str, str]
    router: str
    kernel: str


def named_links() -> list[NamedLink]:
    return [{"name": one.name, "settings": one.link.to_mapping(), "source": one.source} for one in PROFILES.values()]


def lines_of(link: Link, router: type[Router]) -> list[LinkLine]:
    """Return the lines that make a link with that router, and what each does."""
    lines = explain(link, Duration(router.compensation_us * 1000))
    return [{"line": line, "meaning": meaning} for line, meaning in lines]


def shown_link(link: Link, router: type[Router]) -> ShownLink:
    return {"link": link.to_mapping(), "router": router.kind, "lines": lines_of(link, router)}


def link_test_json(link: Link, router: str, kernel: str, test: SelfTest) -> TestedLink:
    """Return a self-test as JSON has it."""
    return cast("TestedLink", {"link": link.to_mapping(), "router": router, "kernel": kernel, **test.to_json()})
