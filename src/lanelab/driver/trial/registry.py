"""Every workload by its name."""

from collections.abc import Mapping

from lanelab.driver.trial.fetch.workload import Fetch
from lanelab.driver.trial.page_load.workload import PageLoad
from lanelab.driver.trial.server_load.workload import Load
from lanelab.driver.trial.workload import Workload

WORKLOADS: Mapping[str, Workload] = {workload.name: workload for workload in (PageLoad(), Load(), Fetch())}
