"""No page loads sooner than its link lets it."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.bound import physical_bound
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs


def _failures(case: Case) -> Iterator[Failure]:
    """By the clock alone: navigation timing may begin some milliseconds after Chromium began to connect."""
    bound = physical_bound(case.link, case.arm, case.record)
    if case.plt_ms is not None and case.plt_ms < bound:
        what = f"the page loaded in {case.plt_ms:.1f} ms; the link allows {bound:.1f} ms or more"
        yield Failure(Reason.BELOW_BOUND, what)


JUDGE = Judge(Needs.LOAD, _failures)
