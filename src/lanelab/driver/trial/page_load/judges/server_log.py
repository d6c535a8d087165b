"""What the server itself complained of."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.requests import few


def _failures(case: Case) -> Iterator[Failure]:
    lines = case.evidence.server.error_lines if case.evidence.server else ()
    if lines:
        yield Failure(Reason.SERVER_ERROR_LOG, few([line.strip() for line in lines]))


JUDGE = Judge(Needs.TRIAL, _failures)
