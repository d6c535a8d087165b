"""How far an arm's browser goes by itself: what only the gateway can do in its place, and what neither can. Pure."""

from lanelab.driver.arm.browsers.browser import Limit
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.origins import ORIGINS
from lanelab.driver.arm.streams import BEYOND_BROWSERS, USUAL
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.setting import Values


def any_beyond_browser(values: Values) -> bool:
    """Return whether some host needs the gateway: it is then for all."""
    services = [dict(service) for _, service in values[ORIGINS]]
    return any(_beyond_browser({**values, **service}) for service in ({}, *services))


def _beyond_browser(values: Values) -> bool:
    """Return whether only the gateway can do it."""
    return bool(
        _speaks_spdy(values)
        or (values["protocol"] == "h2" and values["tls"] == "off")
        or values["pipelining"] > 1
        or any(limit.automatic for limit in _limits(values))
        or any(values[name] != USUAL[name] for name in BEYOND_BROWSERS)
    )


def check_browser(values: Values) -> None:
    """Raises InputError for what this arm's browser cannot do."""
    if values["via"] == "browser":
        _check_any_browser(values)
    browser = BROWSERS[values["browser"]]
    browser.flags.check(values["browser_flags"], browser.title)
    for limit in _limits(values):
        if limit.of_link and values["via"] == "gateway":
            continue
        what = f"{browser.title} {limit.why.format(value=values[limit.setting])}"
        raise InputError(what, limit.remedy, key=limit.setting)


def _check_any_browser(values: Values) -> None:
    """Raises InputError for what no browser of today can do by itself."""
    remedy = "Leave via out, or write via: gateway"
    for name in BEYOND_BROWSERS:
        if values[name] != USUAL[name]:
            what = "browsers of today take no pushes" if name == "push" else "no browser of today has a switch for it"
            raise InputError(what, remedy, key=name)
    if _speaks_spdy(values):
        raise InputError("no browser of today speaks SPDY", remedy, key="protocol")
    if values["protocol"] == "h2" and values["tls"] == "off":
        title = BROWSERS[values["browser"]].title
        what = f"browsers speak HTTP/2 over TLS only: without it {title} would fall back to HTTP/1.1"
        raise InputError(what, f"Set tls: 1.3 too. {remedy}", key="protocol")
    if values["pipelining"] > 1:
        raise InputError("no browser of today sends requests ahead of answers", remedy, key="pipelining")


def _speaks_spdy(values: Values) -> bool:
    return bool(values["protocol"].startswith("spdy/"))


def _limits(values: Values) -> list[Limit]:
    """Return what the arm's browser cannot follow."""
    limits = BROWSERS[values["browser"]].limits
    return [
        each
        for each in limits
        if not each.can(values[each.setting]) and (each.when is None or values[each.when[0]] == each.when[1])
    ]
