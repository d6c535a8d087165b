"""A server under load as a workload: many users, or as many requests as it can answer, without a browser."""

from lanelab.driver.record.metrics import LOAD, PRIMARY
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.server_load.finish import finish
from lanelab.driver.trial.workload import BedPlace, BedSide, TrialContext


class Load:
    """Runs a load generator on the client against the server."""

    name = LOAD
    primary = PRIMARY[LOAD]

    def on_bed(self, place: BedPlace) -> BedSide:
        from lanelab.driver.trial.server_load.bed_side import LoadOnBed  # noqa: PLC0415 - only the bed process needs it

        return LoadOnBed(place)

    def finish(self, data: object, context: TrialContext) -> TrialRecord:
        return finish(data, context)
