"""Every workload by its name."""

from __future__ import annotations

from collections.abc import Mapping

from driver.workloads.load.workload import Load
from driver.workloads.page_load.workload import PageLoad
from driver.workloads.workload import Workload

WORKLOADS: Mapping[str, Workload] = {workload.name: workload for workload in (PageLoad(), Load())}
