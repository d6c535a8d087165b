"""Nothing was asked of a host that is not the site's."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.judges.other_traffic import of_bed
from lanelab.driver.trial.page_load.requests import few, host, on_network, target


def _failures(case: Case) -> Iterator[Failure]:
    hosts, resolver = set(case.site.hosts), case.evidence.resolver
    unanswered = set(case.site.unanswered)
    requests = [
        target(each)
        for each in on_network(case.record.requests)
        if host(each) not in hosts and target(each) not in unanswered
    ]
    hosts |= {name.partition("/")[0].partition(":")[0] for name in unanswered}
    names = {query.name.rstrip(".").lower() for query in resolver.queries} if resolver else set()
    hosts |= {host(each) for each in on_network(case.record.requests)} | sockets.hosts(case.evidence)
    looked_up = names - hosts
    outside = [*requests, *(f"a look-up of {name}" for name in sorted(looked_up)), *_foreign_packets(case)]
    if len(outside) > case.tolerances.outside:
        yield Failure(Reason.OUTSIDE_REQUEST, few(outside))


def _foreign_packets(case: Case) -> list[str]:
    """Return what the client sent to addresses outside the bed."""
    if case.packets is None:
        return []
    ends = {(each.server, each.server_port) for each in case.packets.by_connection}
    ends |= {(each.server, each.server_port) for each in case.packets.by_udp_flow}
    return [f"packets to {ip}:{port}" for ip, port in sorted(ends) if not of_bed(ip)]


JUDGE = Judge(Needs.TRIAL, _failures)
