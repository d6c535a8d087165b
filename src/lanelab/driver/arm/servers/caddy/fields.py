"""The settings that only arms with `server: caddy` have."""

from dataclasses import dataclass, field

from lanelab.driver.arm.wire import OwnSettings, WireSettings
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import Kind, count, lines
from lanelab.driver.base.settings.setting import ROW, Setting

MOST_PROCESSORS = 512
_PROCESSORS = count("PROCESSORS", "processors", 1, MOST_PROCESSORS)


def _processors(value: object, key: str) -> int | str:
    if value == "auto":
        return "auto"
    number: int = _PROCESSORS.parse(value, key)
    return number


DIRECTIVES = lines("directive", r".+", "none")


@dataclass(frozen=True)
class CaddySettings(OwnSettings):
    # fmt: off
    caddy_processors: int | str = field(metadata={ROW: Setting(
        "caddy_processors", Kind("PROCESSORS", f"`auto`, or processors, 1 to {MOST_PROCESSORS}", _processors,
        {"anyOf": [{"const": "auto"}, {"type": "integer", "minimum": 1, "maximum": MOST_PROCESSORS}]}),
        "auto", "processors that Caddy uses at once (`GOMAXPROCS`); `auto`: all", "1")})
    # fmt: on


def check(arm: WireSettings) -> None:
    """Raises InputError."""
    if arm.behind:
        what = "lanelab does not put Caddy behind a proxy"
        raise InputError(what, "Leave proxy out, or write another server", key="proxy")
    if arm.server_directives:
        what = "lanelab writes Caddy's configuration as JSON, which takes no further lines"
        raise InputError(what, "Leave server_directives out, or write another server", key="server_directives")
    if arm.keepalive and arm.keepalive_requests and not arm.multiplexed:
        what = "Caddy does not count what a connection carries"
        raise InputError(what, "Write keepalive_requests: 0, or another server", key="keepalive_requests")
