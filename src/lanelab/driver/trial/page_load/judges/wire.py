"""Protocols, connections and streams on the wire are those of the arm: what each witness who can know says of it."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from lanelab.driver.arm.gateway.browser_side import browser_addresses
from lanelab.driver.arm.gateway.configuration import PORT
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.connection_use import ConnectionUse
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, once
from lanelab.driver.trial.page_load.keepalive import Keepalive
from lanelab.driver.trial.page_load.protocols import Protocols, resumption
from lanelab.driver.trial.page_load.requests import address_of, few, host, led_to, on_network, target
from lanelab.driver.trial.page_load.served_hosts import ServedHosts, by_server
from lanelab.driver.trial.page_load.streams import StreamsVerdict

BESIDE_GATEWAY = "h2", "TLS 1.3"  # what the browser speaks with it, in every trial


def _failures(case: Case) -> Iterator[Failure]:
    parts = by_server(case.evidence, case.arm, case.site, case.link)
    led = led_to(on_network(case.record.requests))  # a repeat view has some of these redirects in its cache
    beside = [*_beside_gateway(case, led)] if parts[0].witnesses.before_gateway else []
    yield from once([*beside, *(failure for part in parts for failure in _of_connections(case, part, led))])
    yield from once(failure for part in parts for failure in resumption(part.arm, part.witnesses))
    for part in parts:
        yield from StreamsVerdict(part.arm, part.site, part.witnesses, case.evidence.broken_off).failures()


def _beside_gateway(case: Case, led: Collection[str]) -> Iterator[Failure]:
    """Yield a failure where the browser did not meet the gateway, or in another way than in other trials. Chromium does
    not say the TLS of an answer to which another host's redirect led, where nothing else came by that connection."""
    protocol, tls = BESIDE_GATEWAY
    addresses, untold = browser_addresses(case.site), {address_of(there) for there in led}
    requests, wrong = case.requests, list[str]()
    for each in requests:
        known = each.tls or (tls if target(each) in untold else None)
        if (each.protocol, known, each.remote) != (protocol, tls, f"{addresses[host(each)]}:{PORT}"):
            wrong.append(f"{each.protocol} {known} {each.remote}")
    if wrong:
        what = f"between browser and gateway {len(wrong)} of {len(requests)} requests used {wrong[0]}"
        yield Failure(Reason.PROTOCOL_FALLBACK, what)


def _of_connections(case: Case, part: ServedHosts, led: Collection[str]) -> Iterator[Failure]:
    """Yield what speaks against the connections to one server."""
    requests = tuple(each for each in case.record.requests if host(each) not in part.others)
    record = replace(case.record, requests=requests) if part.others else case.record
    fetched = [each for each in case.requests if host(each) not in part.others]
    keepalive = Keepalive(part.arm, part.witnesses, fetched, on_network(case.record.requests))
    yield from Protocols(record, case.evidence, part.arm, part.site, part.witnesses, led).failures()
    yield from ConnectionUse(part.arm, case.link, part.witnesses, keepalive).failures()
    yield from _of_other_hosts(part)


def _of_other_hosts(part: ServedHosts) -> Iterator[Failure]:
    """Yield a failure where the gateway used a connection to this server for hosts for which another one answers."""
    for each in part.witnesses.connections:
        strangers = sorted(part.others & {each.host, *each.hosts})
        if strangers:
            what = f"by the gateway connection {each.connection} to {each.remote} was for {few(strangers)}"
            yield Failure(Reason.WIRE_MISMATCH, f"{what}, for which another server answers")


JUDGE = Judge(Needs.LOAD, _failures)
