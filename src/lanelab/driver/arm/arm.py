"""An arm: one treatment of the server and the browser, every setting resolved."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from lanelab.driver.arm.browser_reach import any_beyond_browser, check_browser
from lanelab.driver.arm.browsers.fields import USUAL_VIEWPORT, BrowserSettings
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.content import NO_REVISIT, TELLING, ContentSettings, seconds_of
from lanelab.driver.arm.fields import ARM, OWNERS, settings_with, shown
from lanelab.driver.arm.origins import ORIGINS, OriginSettings, OwnServer
from lanelab.driver.arm.proxies import fields as proxies
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.servers.registry import DEFAULT as DEFAULT_SERVER
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import Server, read_in_capture
from lanelab.driver.arm.streams import USUAL
from lanelab.driver.arm.third_parties import ThirdPartySettings
from lanelab.driver.arm.third_parties import check as check_third_parties
from lanelab.driver.base.coded import Json
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.setting import DefaultBy, Setting, Values
from lanelab.driver.base.units import Duration
from lanelab.driver.site.prepare.variant import RECORDED, Variant
from lanelab.driver.site.push_plan import OFF
from lanelab.driver.site.site import Site

# Longer than any proxy keeps a connection that it does not use: the server must not be the one who ends it.
BACK_END_KEEPALIVE = Duration.parse("120s")
MEETING_CONDITIONS = ("apache",)  # servers that answer with 304 where what was recorded has not changed
# Settings that are of a page as a whole, or of the server that it comes from: no other server has them.
OF_THE_PAGE = (ORIGINS, "block", "unreachable", "answer", "early_hints", "push", "server_directives")


@dataclass(frozen=True, kw_only=True)
class Arm(BrowserSettings, ProxySettings, ContentSettings, OriginSettings, ThirdPartySettings):
    """One treatment. Settings that mean nothing beside the others have their default, so that equal arms are equal.
    Each is a field of what it is about: streams.py, wire.py, content.py, and those of browsers and proxies."""

    name: str
    browser: str

    @classmethod
    def parse(cls, name: str, mapping: Mapping[str, object], defaults: Mapping[str, object] | None = None) -> "Arm":
        """Return the arm that these settings ask for, laid over `defaults`.

        A setting that could do nothing is a mistake in `mapping`, but not in `defaults`, which are for several arms.
        """
        values = {key: ARM.read(key, value) for key, value in {**(defaults or {}), **mapping}.items()}
        values.setdefault("server", DEFAULT_SERVER)
        server = SERVERS[values["server"]]
        _check_owner(mapping, server)
        settings = settings_with(server.name)
        for setting in settings:
            default = setting.default_value(values)
            for other, value in setting.meaningless_with:
                if _resolved(values, other) != value or (other == "protocol" and _is_of_others(setting, values)):
                    continue
                if setting.name in mapping and values[setting.name] != default:
                    remedy = f"Change {other}, or leave {setting.name} out"
                    raise InputError(f"it means nothing with {other}: {str(value).lower()}", remedy, key=setting.name)
                values[setting.name] = default
            values.setdefault(setting.name, default)
        if values["via"] == "automatic":
            values["via"] = "gateway" if any_beyond_browser(values) else "browser"
        values["server_directives"] = server.directives.parse(values["server_directives"], "server_directives")
        of_server = {setting.name: values[setting.name] for setting in server.settings}
        common = {setting.name: values[setting.name] for setting in settings if setting.name not in of_server}
        arm = cls(name=name, of_server=server.own_kind(**of_server), **common)
        _check(arm)
        return arm

    @property
    def takes_any_h2(self) -> bool:
        """Return whether HTTP/1.1 is to be spoken with a server that takes HTTP/2 from whoever offers it."""
        return self.protocol == "http/1.1" and self.tls != "off" and SERVERS[self.server].always_offers_h2

    @property
    def visits_before(self) -> bool:
        """Return whether the browser loads the page once before what is measured."""
        return self.start == "warm" or self.early_data

    @property
    def revisit_s(self) -> int:
        """Return how long after the first visit a repeat view is, in seconds."""
        return seconds_of(self.revisit_after)

    @property
    def variant(self) -> Variant:
        """Return what the arm makes of a site's content."""
        schemes = RECORDED if self.schemes == RECORDED else self.page_scheme
        agent = (self.user_agent or "") if self.minify != "off" else ""
        variant = Variant(schemes, self.compression, self.minify, user_agent=agent)
        hinted = replace(variant, preload=self.preload, fetchpriority=self.fetchpriority, age_s=self.revisit_s)
        return replace(hinted, answer=self.answer, aged_for=self.browser if self.revisit_s else "")

    def on(self, site: Site) -> "Arm":
        """Return the arm as it loads this site: with the browser's name and view that the site was recorded with, where
        the arm does not say others."""
        viewport = self.viewport or site.viewport or USUAL_VIEWPORT
        return replace(self, user_agent=self.user_agent or site.user_agent, viewport=viewport)

    def back_end(self) -> "Arm":
        """The arm as the server behind its proxy sees it: the proxy is its only client, in clear, and keeps its
        connections for as long as it likes. Without a proxy the arm itself."""
        if self.proxy == proxies.NONE:
            return self
        spoken = self.proxy_protocol
        in_clear = replace(self, behind=spoken, protocol=spoken, tls="off", tls_resumption=True)
        return replace(in_clear, keepalive=True, keepalive_requests=0, keepalive_timeout=BACK_END_KEEPALIVE)

    @property
    def by_server(self) -> "tuple[Arm, ...]":
        """Return the arm as each of its servers has it: that of the page first, then those of `origins` in order."""
        if not self.origins:
            return (self,)
        return (self._of_page(), *(self.of_origin(service) for _, service in self.origins))

    def _of_page(self) -> "Arm":
        """Return the arm as the page's own host has it: settings that mean something to other hosts alone have their
        default."""
        return Arm.parse(self.name, {}, {name: value for name, value in self.changed().items() if name != ORIGINS})

    def of_origin(self, service: OwnServer) -> "Arm":
        """Return the arm as hosts with a server of their own have it."""
        usual = {name: value for name, value in self.changed().items() if name not in OF_THE_PAGE}
        return Arm.parse(self.name, dict(service), usual)

    def settings(self) -> dict[str, Json]:
        """Every effective setting, as JSON; two arms with the same ones do the same."""
        names = [setting.name for setting in settings_with(self.server)]
        return {name: shown(getattr(self.of_server if name in OWNERS else self, name)) for name in names}

    def common(self) -> Values:
        """Return the settings that arms have with every server, as they are."""
        return {setting.name: getattr(self, setting.name) for setting in ARM.settings if setting.name not in OWNERS}

    def to_mapping(self) -> dict[str, Json]:
        """Return the name and every effective setting, as JSON."""
        return {"name": self.name, **self.settings()}

    def changed(self) -> dict[str, Json]:
        """Return the settings that are not the default ones. Read back, they give this arm again."""
        settings = self.settings()
        by = {each.default.setting for each in settings_with(self.server) if isinstance(each.default, DefaultBy)}
        usual = _usual(tuple((name, settings[name]) for name in ("server", *by)))
        return {name: value for name, value in settings.items() if value != usual[name]}


@functools.cache
def _usual(deciding: tuple[tuple[str, Json], ...]) -> Mapping[str, Json]:
    """Return the default settings where these decide what the others are by default."""
    usual = Arm.parse("usual", dict(deciding)).settings()
    return usual | {name: shown(ARM.by_name[name].default_value()) for name, _ in deciding}


def _check_owner(mapping: Mapping[str, object], server: Server) -> None:
    """Raises InputError for a setting that only another server has."""
    for key in mapping:
        owners = OWNERS.get(key, (server.name,))
        if server.name not in owners:
            able = " or ".join(owners)
            what = f"{server.title} has no such setting: it is one of server: {able}"
            near = near_miss(key, [setting.name for setting in server.settings])
            raise InputError(what, f"{near}Leave it out, or write server: {able}", key=key)


def _resolved(values: Values, name: str) -> object:
    return values[name] if name in values else ARM.by_name[name].default_value()


def _is_of_others(setting: Setting, values: Values) -> bool:
    """Return whether hosts with a server of their own speak a protocol with which the setting means something."""
    without = {value for other, value in setting.meaningless_with if other == "protocol"}
    spoken = {dict(service).get("protocol", _resolved(values, "protocol")) for _, service in values.get(ORIGINS, ())}
    return setting.name not in OF_THE_PAGE and bool(spoken - without)


def _check(arm: Arm) -> None:
    """Refuse combinations that cannot be."""
    check_browser(arm.common())
    if arm.multiplexed and not arm.keepalive:
        name = "SPDY" if arm.spdy else {"h2": "HTTP/2", "h3": "HTTP/3"}[arm.protocol]
        what = f"{name} carries all requests on one connection, so it has no keepalive to switch off"
        raise InputError(what, "Leave keepalive out, or write protocol: http/1.1", key="keepalive")
    if arm.schemes == RECORDED and arm.via == "gateway":
        what = "between browser and gateway everything is TLS, so addresses in clear cannot stay as they were"
        raise InputError(what, "Leave schemes out, or write via: browser", key="schemes")
    if arm.pipelining_policy == "chromium" and arm.tls != "off":
        what = "Chromium sent requests ahead of answers without TLS only"
        raise InputError(what, "Leave tls out, or write pipelining_policy: eager", key="pipelining_policy")
    if arm.protocol == "h3":
        _check_h3(arm)
    if arm.revisit_after != NO_REVISIT and arm.start != "warm":
        what = "nothing is kept from a visit before"
        raise InputError(what, "Write start: warm too, or leave revisit_after out", key="revisit_after")
    if arm.revisit_after != NO_REVISIT and arm.server not in MEETING_CONDITIONS:
        what = f"{SERVERS[arm.server].title} sends again in full what has a date and has not changed"
        remedy = f"Write server: {' or '.join(MEETING_CONDITIONS)}, or leave revisit_after out"
        raise InputError(what, remedy, key="revisit_after")
    _check_streams(arm)
    _check_hints(arm)
    _check_server(arm)
    if arm.origins:
        _check_origins(arm)
    waiting = tuple(_servers(lambda server: server.delays_answers))
    title = SERVERS[arm.server].title
    check_third_parties(arm, protocol=arm.protocol, via=arm.via, delaying=waiting, server=arm.server, title=title)


def _check_h3(arm: Arm) -> None:
    """Refuse an arm without what HTTP/3 needs."""
    if arm.via == "gateway":
        what = "the gateway does not speak HTTP/3"
        raise InputError(what, "Leave out what needs the gateway, or write another protocol", key="protocol")
    if arm.tls != "1.3":
        what = f"HTTP/3 has TLS 1.3 in it, and tls is {arm.tls}"
        raise InputError(what, "Write tls: 1.3, or another protocol", key="protocol")
    if arm.h3_discovery == "https-record" and arm.dns != "resolver":
        what = f"HTTPS records come from a resolver, and dns is {arm.dns}"
        raise InputError(what, "Write dns: resolver too, or h3_discovery: forced or alt-svc", key="h3_discovery")
    if arm.early_data and not arm.tls_resumption:
        what = "only a resumed session can begin with requests, and tls_resumption is off"
        raise InputError(what, "Leave tls_resumption out, or write early_data: false", key="early_data")


def _check_streams(arm: Arm) -> None:
    """What streams cannot have."""
    if arm.spdy and arm.priorities == "none":
        what = f"in {arm.protocol} each request has a priority"
        raise InputError(what, "Write priorities: flat, or protocol: h2", key="priorities")
    pushing = _servers(lambda server: server.pushes)
    limiting = _servers(lambda server: server.limits_streams)
    for name, able in (("push", pushing), ("server_max_streams", limiting)):
        if getattr(arm, name) != USUAL[name] and arm.server not in able:
            what = f"{SERVERS[arm.server].title} has no such thing"
            raise InputError(what, f"Leave it out, or write server: {' or '.join(able)}", key=name)
    if arm.push != OFF and arm.start == "warm":
        what = "nobody pushes what the browser has from an earlier load"
        raise InputError(what, "Leave start out, or write push: off", key="push")


def _check_hints(arm: Arm) -> None:
    """Where nothing can come ahead of the page, or would not be taken."""
    if arm.early_hints == OFF:
        return
    server = SERVERS[arm.server]
    if not server.sends_early_hints:
        able = _servers(lambda server: server.sends_early_hints)
        what = f"{server.title} cannot send 103 by HTTP/2"
        raise InputError(what, f"Write server: {' or '.join(able)}, or preload", key="early_hints")
    if arm.protocol == "h3" and arm.h3_discovery != "forced":
        what = "the page may come by HTTP/2 or HTTP/3 where HTTP/3 is discovered"
        raise InputError(what, "Write h3_discovery: forced, or preload", key="early_hints")
    if arm.via == "gateway":
        what = "the gateway does not pass 103 on"
        raise InputError(what, "Leave out what needs it, or write preload", key="early_hints")
    if arm.browser not in TELLING:
        what = f"{BROWSERS[arm.browser].title} does not tell whether a 103 came"
        raise InputError(what, f"Write browser: {' or '.join(TELLING)}, or preload", key="early_hints")
    if arm.proxy != proxies.NONE:
        raise InputError("proxies do not pass 103 on", "Leave proxy out", key="early_hints")
    if arm.start == "warm":
        what = "what the browser has from an earlier load it does not ask for again"
        raise InputError(what, "Leave start out, or write early_hints: off", key="early_hints")


def _check_server(arm: Arm) -> None:
    """What the arm's server cannot do."""
    server = SERVERS[arm.server]
    if arm.proxy != proxies.NONE:
        _check_proxy(arm)
    elif arm.protocol not in server.protocols:
        able = _servers(lambda server: arm.protocol in server.protocols)
        what = f"{server.title} does not speak {arm.protocol}"
        raise InputError(what, f"Write server: {' or '.join(able)}, or another protocol", key="protocol")
    if arm.tls != "off" and not server.speaks_tls:
        able = _servers(lambda server: server.speaks_tls)
        what = f"{server.title} does not speak TLS here"
        raise InputError(what, f"Leave tls out, or write server: {' or '.join(able)}", key="tls")
    if arm.compression not in server.compressions:
        able = _servers(lambda server: arm.compression in server.compressions)
        what = f"{server.title} does not compress with {arm.compression}"
        raise InputError(what, f"Write server: {' or '.join(able)}, or another compression", key="compression")
    if arm.compression == "zstd" and arm.schemes == RECORDED:
        what = "what is asked for in clear cannot come with zstd, and schemes: recorded leaves addresses in clear"
        raise InputError(what, "Leave schemes out, or write another compression", key="compression")
    server.check(arm.back_end())


def _check_origins(arm: Arm) -> None:
    """What hosts with servers of their own cannot have."""
    if arm.addresses != "per-origin":
        what = "servers are told apart by their addresses, and all hosts share one"
        raise InputError(what, "Write addresses: per-origin too", key=ORIGINS)
    if arm.proxy != proxies.NONE:
        raise InputError("a proxy has one server behind it", "Leave proxy out, or leave origins out", key=ORIGINS)
    if arm.h3_discovery == "https-record":
        what = "the resolver says the same of all hosts"
        raise InputError(what, "Write h3_discovery: forced or alt-svc, or leave origins out", key=ORIGINS)
    for pattern, service in arm.origins:
        try:
            other = arm.of_origin(service)
        except InputError as error:
            raise InputError(f"{pattern}: {error.key}: {error.what}", error.remedy, key=ORIGINS) from None
        if other.via != arm.via:
            what = f"{pattern}: no browser of today speaks {other.protocol} so, and the arm has via: {arm.via}"
            raise InputError(what, "Leave via out, or write another protocol there", key=ORIGINS)
        if other.protocol == "h3" != arm.protocol:
            what = f"{pattern}: browsers are told of HTTP/3 by the arm, which has protocol: {arm.protocol}"
            raise InputError(what, "Write protocol: h3 for the arm, and origins for other hosts", key=ORIGINS)
    _check_offers(arm)


def _check_offers(arm: Arm) -> None:
    """Refuse servers beside each other of which one takes HTTP/2 from a browser that offers it to the other (a gateway
    offers each what it is to speak), or whose requests cannot be told apart."""
    taking = [each for each in arm.by_server if each.takes_any_h2 and arm.via == "browser"]
    if taking and any(each.multiplexed for each in arm.by_server):
        title = SERVERS[taking[0].server].title
        what = f"the browser offers HTTP/2 to some hosts, and {title} takes it where it is to speak HTTP/1.1"
        raise InputError(what, "Write another server there", key=ORIGINS)
    for each in arm.by_server:
        if read_in_capture(SERVERS[each.server], each.protocol):
            what = f"the log of {SERVERS[each.server].title} names no ports, by which servers are told apart"
            raise InputError(what, "Write another server there", key=ORIGINS)


def _servers(able: Callable[[Server], bool]) -> list[str]:
    """Return the names of those that are."""
    return [name for name, server in SERVERS.items() if able(server)]


def _check_proxy(arm: Arm) -> None:
    """What the arm's proxy cannot do. What its server cannot behind one, that says itself."""
    proxies.check(arm)
    if arm.via == "gateway":
        what = "the gateway beside a browser does not speak through a proxy"
        raise InputError(what, "Leave via out, or leave proxy out", key="via")
