"""Every proxy that an arm can name."""

from collections.abc import Callable, Mapping

from lanelab.driver.arm.proxies.apache.proxy import ApacheProxy
from lanelab.driver.arm.proxies.fields import ProxySettings
from lanelab.driver.arm.proxies.gateway.proxy import GatewayProxy
from lanelab.driver.arm.proxies.haproxy.proxy import HaproxyProxy
from lanelab.driver.arm.proxies.nginx.proxy import NginxProxy
from lanelab.driver.arm.proxies.proxy import Proxy

PROXIES: Mapping[str, Callable[[ProxySettings], Proxy]] = {
    each.name: each for each in (ApacheProxy, NginxProxy, HaproxyProxy, GatewayProxy)
}


def proxy_of(arm: ProxySettings) -> Proxy | None:
    """Return the proxy of an arm; None: clients reach its server directly."""
    return PROXIES[arm.proxy](arm) if arm.proxy in PROXIES else None
