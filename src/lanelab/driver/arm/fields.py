"""`ARM` is the table of an arm's settings: what its wire, its server, a proxy, its content and its browser declare."""

from dataclasses import replace
from typing import Any

from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.browsers.registry import DEFAULT as DEFAULT_BROWSER
from lanelab.driver.arm.content import ContentSettings
from lanelab.driver.arm.origins import OriginSettings
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.servers.registry import DEFAULT as DEFAULT_SERVER
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.streams import StreamSettings
from lanelab.driver.arm.third_parties import ThirdPartySettings
from lanelab.driver.arm.wire import WireSettings
from lanelab.driver.base.coded import Json
from lanelab.driver.base.settings.kinds import choice
from lanelab.driver.base.settings.setting import DefaultBy, Setting, Table, rows_of
from lanelab.driver.base.units import Duration

# fmt: off
_SERVER = Setting("server", choice("NAME", *SERVERS), DEFAULT_SERVER, "the web server", "nginx")
_BROWSER = Setting("browser", choice("NAME", *BROWSERS), DEFAULT_BROWSER,
                   "the [browser](browser.md) that loads the pages", "firefox")
# fmt: on


def _wire(setting: Setting) -> Setting:
    """Return a setting with the default that servers and browsers say."""
    if setting.name == "keepalive_requests":
        counts = {name: "100" if server.counts_requests else "0" for name, server in SERVERS.items()}
        return replace(setting, default=DefaultBy("server", counts))
    if setting.name == "connections_per_host":
        return replace(setting, default=str(BROWSERS[DEFAULT_BROWSER].connections_per_host))
    return setting


def _beyond(kind: type, base: type) -> tuple[Setting, ...]:
    """Return the rows of a class without those of its base."""
    return tuple(row for row in rows_of(kind) if row not in rows_of(base))


# The servers that have a setting which not all have. Where several have one of the same name, it is the same setting.
OWNERS = {
    setting.name: tuple(name for name, other in SERVERS.items() if setting in other.settings)
    for server in SERVERS.values()
    for setting in server.settings
}
_OF_SERVERS = tuple(
    replace(setting, help=f"with `server: {'` or `'.join(OWNERS[setting.name])}` alone: {setting.help}")
    for setting in {each.name: each for server in SERVERS.values() for each in server.settings}.values()
)
ARM = Table(
    (
        _SERVER,
        *map(_wire, _beyond(WireSettings, StreamSettings)),
        *rows_of(StreamSettings),
        *_OF_SERVERS,
        *_beyond(ProxySettings, WireSettings),
        *rows_of(ContentSettings),
        *rows_of(OriginSettings),
        *rows_of(ThirdPartySettings),
        _BROWSER,
        *_beyond(BrowserSettings, WireSettings),
    ),
    noun="setting",
    of=" of an arm",
    all_are="Settings of an arm are",
)


def settings_with(server: str) -> tuple[Setting, ...]:
    """Return the settings of an arm with this server."""
    return tuple(setting for setting in ARM.settings if server in OWNERS.get(setting.name, (server,)))


def shown(value: Any) -> Json:  # noqa: ANN401 - of the type that its kind reads
    """Return a value as JSON has it; booleans and texts read back."""
    if isinstance(value, Duration):
        return str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return {name: shown(each) for name, each in value}
    if isinstance(value, tuple):
        return "x".join(map(str, value)) if value and isinstance(value[0], int) else list(value)
    plain: Json = value
    return plain
