"""The fetch as a workload: objects of a site, loaded without a browser."""

from lanelab.driver.record.metrics import FETCH, PRIMARY
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.fetch.finish import finish
from lanelab.driver.trial.workload import BedPlace, BedSide, TrialContext


class Fetch:
    """Asks for objects of a site, as a program does that shows nothing."""

    name = FETCH
    primary = PRIMARY[FETCH]

    def on_bed(self, place: BedPlace) -> BedSide:
        from lanelab.driver.trial.fetch.bed_side import FetchOnBed  # noqa: PLC0415 - only the bed process needs it

        return FetchOnBed(place)

    def finish(self, data: object, context: TrialContext) -> TrialRecord:
        return finish(data, context)
