"""The hosts of a page by the server that answered for them, each with what was witnessed of it. Pure.

Most arms have one server. With `origins` each has its own addresses, hosts and protocol: what is judged of the wire is
judged of each by itself.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.groups import groups
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.gateway import GatewayConnection
from lanelab.driver.record.evidence.page_load import PageLoadEvidence, WitnessNames
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target, target
from lanelab.driver.trial.serving import addresses_of


@dataclass(frozen=True, slots=True)
class ServedHosts:
    """One server's, with the arm as it has it."""

    arm: Arm
    site: Site  # of its hosts alone
    witnesses: Witnesses
    others: frozenset[str] = frozenset()  # hosts for which other servers answer


def by_server(evidence: PageLoadEvidence, arm: Arm, site: Site, link: Link) -> list[ServedHosts]:
    """Return them, those of the page's own server first: it has what no other one answers for, too."""
    first, *others = groups(arm, site)
    if not others:
        return [ServedHosts(arm, site, Witnesses.of(evidence, arm))]
    addresses, every = addresses_of(arm, site, link), frozenset(site.hosts)
    apart = frozenset(host for each in others for host in each.site.hosts)
    parts = []
    for each in (first, *others):
        hosts = frozenset(each.site.hosts)
        named = apart if each is first else hosts
        at = {addresses[host] for host in named}
        witnesses = _narrowed(Witnesses.of(evidence, each.arm), named, at, within=each is not first)
        parts.append(ServedHosts(each.arm, each.site, witnesses, every - hosts))
    return parts


def _narrowed(witnesses: Witnesses, hosts: Collection[str], at: Collection[str], *, within: bool) -> Witnesses:
    """Return what was witnessed of these hosts and addresses (`within`), or of all others. Connections go by address,
    where they have one; so does a request where the server's log says at which it came."""

    def is_served(line: ServedRequest) -> bool:
        address = line.local.rpartition(":")[0]
        return (address in at if address else served_target(line)[0] in hosts) == within

    def is_made(connection: GatewayConnection) -> bool:
        address = connection.remote.rpartition(":")[0]
        return (address in at if address else connection.host in hosts) == within

    def is_asked(url: str) -> bool:
        return (target(url)[0] in hosts) == within

    captured, quic = witnesses.captured, witnesses.quic
    return replace(
        witnesses,
        connections=[each for each in witnesses.connections if is_made(each)],
        requests=[each for each in witnesses.requests if is_asked(each.url)],
        pushes=[each for each in witnesses.pushes if is_asked(each.url)],
        served=[each for each in witnesses.served if is_served(each)],
        captured=None if captured is None else [each for each in captured if (each.server in at) == within],
        quic=None if quic is None else [each for each in quic if (each.server in at) == within],
    )


def names_of_all(parts: Sequence[ServedHosts]) -> WitnessNames:
    """Return who could tell of every server's hosts."""
    first, *others = (each.witnesses.names() for each in parts)
    return WitnessNames(
        **{
            field.name: tuple(
                who for who in getattr(first, field.name) if all(who in getattr(each, field.name) for each in others)
            )
            for field in fields(WitnessNames)
        }
    )
