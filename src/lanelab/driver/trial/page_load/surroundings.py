"""What a browser finds around it in a trial: whom it reaches under which name, whom it trusts, and what it is kept
from. Pure, but for the keys that are made when they are first asked for.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.browsers.browser import NETLOG, Repeatable, Surroundings
from lanelab.driver.arm.browsers.fields import BrowserSettings
from lanelab.driver.arm.gateway.browser_side import browser_addresses
from lanelab.driver.arm.groups import groups
from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.gateways import CERTIFICATE
from lanelab.driver.trial.recorders.registry import wishes
from lanelab.driver.trial.serving import Serving
from lanelab.driver.trial.spec import TrialSpec


def surroundings_of(serving: Serving, spec: TrialSpec) -> Surroundings:
    """Return what the browser of a trial finds. To it the gateway is the server, and is where it is without being asked
    for: names, keys and TLS of the link are the gateway's affair."""
    arm = spec.arm
    authority = serving.authority(spec).decode()
    blocked = ThirdParties.of(arm, spec.site).blocked_hosts
    around = Surroundings(
        hosts=_without(serving.addresses(spec), blocked),
        dns=arm.dns,
        netlog=NETLOG in wishes(spec.recorders),
        timeout_s=spec.timeout_s,
        blocked=arm.block,
        without_h3=_without_h3(arm, spec.site),
        repeatable=repeatable_of(arm, spec.site),
    )
    if arm.via == "gateway":
        trusted = (serving.certificate_of_kind(spec, CERTIFICATE).spki_sha256_b64,)
        hosts = _without(browser_addresses(spec.site), blocked)
        return replace(around, hosts=hosts, dns="instant", trusted=trusted, authority=authority)
    leaf = serving.certificate(spec)
    around = replace(around, without_h2=any(each.takes_any_h2 for each in arm.by_server))
    return replace(around, trusted=(leaf.spki_sha256_b64,), authority=authority, keys=True) if leaf else around


def _without_h3(arm: Arm, site: Site) -> frozenset[str]:
    """Return the hosts that speak something else, where the arm has HTTP/3 for the others."""
    if arm.protocol != "h3":
        return frozenset()
    return frozenset(host for each in groups(arm, site) if each.arm.protocol != "h3" for host in each.site.hosts)


def _without(addresses: Mapping[str, str], blocked: Collection[str]) -> dict[str, str]:
    """Return the addresses of all other hosts: what the browser does not know it cannot ask."""
    return {host: address for host, address in addresses.items() if host not in blocked}


def repeatable_of(arm: BrowserSettings, site: Site) -> Repeatable | None:
    """Only where the site was recorded: what was made for experiments has no clock of its own."""
    if arm.scripts != "repeatable" or site.recorded_ms is None:
        return None
    return Repeatable(site.scripts_seed, site.recorded_ms)
