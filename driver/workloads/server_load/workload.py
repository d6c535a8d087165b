"""A server under load as a workload: clients that ask for one object again and again, without a browser or a link."""

from __future__ import annotations

from dataclasses import replace

from driver.workloads.server_load.client import sizes
from driver.workloads.server_load.verdict import judge
from driver.workloads.workload import BedPlace, BedSide, TrialContext
from model.clock import utc_now
from model.errors import RecordError
from model.evidence.server_load import LoadReport, SecondReport, ServerLoadEvidence
from model.metrics import PRIMARY, SERVER_LOAD
from model.reasons import Reason
from model.record import Series, TrialRecord

MEGABYTE = 1e6


class ServerLoad:
    """Loads a server on its own loopback."""

    name = SERVER_LOAD
    primary = PRIMARY[SERVER_LOAD]
    uses_link = False

    def on_bed(self, place: BedPlace) -> BedSide:
        from driver.workloads.server_load.on_bed import ServerLoadOnBed  # noqa: PLC0415 - only the bed process needs it

        return ServerLoadOnBed(place)

    def finish(self, data: object, context: TrialContext) -> TrialRecord:
        """Measures and series from what the clients report, and the verdict."""
        try:
            record = TrialRecord.from_json(data)
        except RecordError as error:
            return TrialRecord.not_started(self.name, utc_now(), Reason.EVIDENCE_MISSING, str(error))
        load, evidence = context.experiment.load, record.evidence
        if load is None:
            raise TypeError("a load needs its settings")
        if isinstance(evidence, ServerLoadEvidence) and evidence.client:
            measures, series = _measures(evidence.client, evidence.second_client), _series(evidence.client)
            record = replace(record, measures={**record.measures, **measures}, series={**record.series, **series})
        watched = "machine" in context.experiment.recorders
        failures = judge(record, context.arm, load, sizes(context.site), watched=watched)
        return replace(record, failures=tuple(failures))


def _measures(report: LoadReport, second: SecondReport | None) -> dict[str, float]:
    measures = {
        "requests_per_s": report.requests_per_second,
        "bytes_per_s": report.megabytes_per_second * MEGABYTE,
        "latency_ms": report.latency_ms.p50,
        "latency_99_ms": report.latency_ms.p99,
    }
    return {**measures, "h2load_requests_per_s": second.requests_per_second} if second else measures


def _series(report: LoadReport) -> dict[str, Series]:
    """Requests that succeeded in each span of time, at its beginning."""
    every = report.completions_every_ms
    points = tuple((number * every, float(count)) for number, count in enumerate(report.completions))
    return {"completions": Series("requests", points)}
