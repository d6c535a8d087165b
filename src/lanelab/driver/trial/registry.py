"""Every workload by its name."""

from collections.abc import Mapping

from lanelab.driver.record.metrics import FETCH, LOAD, PAGE_LOAD
from lanelab.driver.trial.fetch import finish as of_fetches
from lanelab.driver.trial.page_load import finish as of_page_loads
from lanelab.driver.trial.server_load import finish as of_loads
from lanelab.driver.trial.workload import BedPlace, BedSide, Workload


def _page_load(place: BedPlace) -> BedSide:
    # Selenium and what it brings take a third of a second to import: only beds that load pages pay for it.
    from lanelab.driver.trial.page_load.bed_side import PageLoadOnBed  # noqa: PLC0415

    return PageLoadOnBed(place)


def _load(place: BedPlace) -> BedSide:
    from lanelab.driver.trial.server_load.bed_side import LoadOnBed  # noqa: PLC0415 - only the bed process needs it

    return LoadOnBed(place)


def _fetch(place: BedPlace) -> BedSide:
    from lanelab.driver.trial.fetch.bed_side import FetchOnBed  # noqa: PLC0415 - only the bed process needs it

    return FetchOnBed(place)


WORKLOADS: Mapping[str, Workload] = {
    PAGE_LOAD: Workload(PAGE_LOAD, _page_load, of_page_loads.finish),
    LOAD: Workload(LOAD, _load, of_loads.finish),
    FETCH: Workload(FETCH, _fetch, of_fetches.finish),
}
