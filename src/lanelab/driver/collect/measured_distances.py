"""How far hosts were when a site was recorded, by how long its connections took to open. Pure."""

import statistics
from collections.abc import Iterable

from lanelab.driver.base.host_names import DEFAULT
from lanelab.driver.site.archive.addresses import address_of
from lanelab.driver.site.exchange import Exchange

LEAST_MS, MOST_MS = 1, 20_000  # that a link can have


def measured_distances(exchanges: Iterable[Exchange]) -> tuple[tuple[str, str], ...]:
    """Return the quickest that a connection to each host was opened, in whole ms. Hosts of which nobody knows it are as
    far as half of the others; where it is known of none, nothing is said."""
    quickest: dict[str, float] = {}
    hosts: dict[str, None] = {}
    for each in exchanges:
        host = address_of(each.url).host
        hosts[host] = None
        if each.connect_ms:
            quickest[host] = min(each.connect_ms, quickest.get(host, each.connect_ms))
    if not quickest:
        return ()
    others = [(DEFAULT, _written(statistics.median_low(quickest.values())))] if hosts.keys() - quickest else []
    return (*((host, _written(quickest[host])) for host in hosts if host in quickest), *others)


def _written(ms: float) -> str:
    return f"{min(max(round(ms), LEAST_MS), MOST_MS)}ms"
