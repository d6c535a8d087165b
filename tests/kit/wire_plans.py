"""Records of trials through the gateway in every order of requests, and what the judges of the wire say."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Failure
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.gateway_records import Exchange, Plan, Told
from tests.kit.records import HASH

LINK = Link.parse({"rtt": "40ms", "rate": "10mbit"})
HTML, STYLE, LOGO = "a.test/index.html", "a.test/style.css?v=1", "b.test/logo.png"
KEEPALIVE = Arm.parse("keepalive", {"via": "gateway"})
CLOSING = Arm.parse("closing", {"via": "gateway", "keepalive": False, "connections_per_host": 2})
PIPELINED = Arm.parse("pipelined", {"pipelining": 4, "connections_per_host": 2})
TWO = Arm.parse("two connections", {"connections_per_host": 2})
HTTPS = Arm.parse("https", {"via": "gateway", "tls": "1.3", "tls_resumption": False})
H2 = Arm.parse("h2", {"via": "gateway", "protocol": "h2", "tls": "1.2"})
H2C = Arm.parse("h2c", {"protocol": "h2"})
SPDY2 = Arm.parse("spdy/2", {"protocol": "spdy/2"})
SPDY = Arm.parse("spdy/3.1", {"protocol": "spdy/3.1"})
SPDY_TLS = Arm.parse("spdy/3.1 tls", {"protocol": "spdy/3.1", "tls": "1.3", "tls_resumption": False})
BY_ORIGIN = Arm.parse("by origin", {"protocol": "spdy/3", "coalescing": "origin"})
IMAGES = tuple(SiteObject("a.test", f"/{number}.png", 1000, "image/png", HASH) for number in range(8))
MANY = Site(
    "many",
    "",
    "a.test",
    "/index.html",
    (SiteObject("a.test", "/index.html", 1000, "text/html", HASH), *IMAGES),
    Path("/n"),
)


def apart(arm: Arm) -> Plan:
    """A connection for each host."""
    return Plan(arm, [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 1, 101, 160), Exchange(LOGO, 2, 150, 260)])


def together(arm: Arm) -> Plan:
    """One connection for all of it."""
    return Plan(
        arm, [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 1, 101, 160, in_flight=2), Exchange(LOGO, 1, 102, 260)]
    )


def closing() -> Plan:
    """One after the other."""
    return Plan(
        CLOSING, [Exchange(HTML, 1, 45, 100), Exchange(STYLE, 2, 142, 200), Exchange(LOGO, 3, 145, 260)], ended=True
    )


def in_turns(arm: Arm) -> Plan:
    """Two connections, eight images that wait for them: what pipelining would have made quicker."""
    exchanges = [Exchange(HTML, 1, 45, 100)]
    for place, image in enumerate(IMAGES):
        connection, turn = 1 + place % 2, place // 2
        began = 145 + 60 * turn
        exchanges.append(Exchange(image.url, connection, began, began + 59, queued_ms=101))
    return Plan(arm, exchanges, site=MANY)


def ahead() -> Plan:
    """The same, four at once on each."""
    exchanges = [Exchange(HTML, 1, 45, 100)]
    for place, image in enumerate(IMAGES):
        connection, depth = 1 + place % 2, 1 + place // 2
        exchanges.append(Exchange(image.url, connection, 145 + depth / 10, 200 + 10 * depth, 101, depth))
    return Plan(PIPELINED, exchanges, site=MANY)


PLANS: dict[str, Plan] = {
    **{arm.name: apart(arm) for arm in (KEEPALIVE, HTTPS, BY_ORIGIN)},
    **{arm.name: together(arm) for arm in (H2, H2C, SPDY2, SPDY, SPDY_TLS)},
    "closing": closing(),
    "pipelined": ahead(),
    "in turns": in_turns(TWO),
}


def judged(told: Told, plan: Plan, *, captured: bool = True) -> list[Failure]:
    return judge(told.trial(captured=captured), expected(plan.arm, plan.site, captured=captured))


def expected(arm: Arm, site: Site, *, captured: bool = True) -> Expected:
    return Expected(arm, site, LINK, Tolerances(), {"capture": CaptureOptions()} if captured else {})


Change = Callable[[Told], object]


def captured(index: int, **values: object) -> Change:
    def change(told: Told) -> None:
        told.captured[index] = dataclasses.replace(told.captured[index], **values)  # type: ignore[arg-type]

    return change
