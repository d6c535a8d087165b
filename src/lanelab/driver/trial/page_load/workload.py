"""The page load as a workload: one browser, one page."""

from lanelab.driver.record.metrics import PAGE_LOAD, PRIMARY
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.workload import BedPlace, BedSide, TrialContext


class PageLoad:
    """Loads a site's page in a browser."""

    name = PAGE_LOAD
    primary = PRIMARY[PAGE_LOAD]

    def on_bed(self, place: BedPlace) -> BedSide:
        """Return the part in the bed. Selenium and what it brings take a third of a second to import: only beds that
        load pages pay for it."""
        from lanelab.driver.trial.page_load.bed_side import PageLoadOnBed  # noqa: PLC0415

        return PageLoadOnBed(self.name, place)

    def finish(self, data: object, context: TrialContext) -> TrialRecord:
        return finish(data, context)
