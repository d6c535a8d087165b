"""Protocols, connections and streams on the wire are those of the arm: what each witness who can know says of it."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure
from lanelab.driver.trial.page_load.connection_use import ConnectionUse
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs, once
from lanelab.driver.trial.page_load.keepalive import Keepalive
from lanelab.driver.trial.page_load.protocols import Protocols, resumption
from lanelab.driver.trial.page_load.requests import on_network
from lanelab.driver.trial.page_load.streams import StreamsVerdict
from lanelab.driver.trial.page_load.witnesses import Witnesses


def _failures(case: Case) -> Iterator[Failure]:
    witnesses = Witnesses.of(case.evidence, case.arm)
    protocols = Protocols(case.record, case.evidence, case.arm, case.site, witnesses)
    keepalive = Keepalive(case.arm, witnesses, case.requests, on_network(case.record.requests))
    used = ConnectionUse(case.arm, case.link, witnesses, keepalive)
    yield from once([*protocols.failures(), *used.failures()])
    yield from resumption(case.arm, witnesses)
    yield from StreamsVerdict(case.arm, case.site, witnesses).failures()


JUDGE = Judge(Needs.LOAD, _failures)
