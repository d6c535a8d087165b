"""What a bed does with trials, one after the other."""

from typing import Any

from lanelab.driver.base.operations import Remote, operation
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.record.evidence.browser import BrowserFacts
from lanelab.driver.record.reasons import Failure
from lanelab.driver.trial.spec import TrialSpec

PREPARE_WITHIN_S = 180
COLLECT_WITHIN_S = 120


def _start_within(**_: object) -> float:
    return scaled(PREPARE_WITHIN_S)


def _prepare_within(spec: TrialSpec) -> float:
    return _start_within() + 2 * spec.timeout_s


class TrialOperations(Remote):
    """The bed has them of Trials."""

    @operation(_start_within)
    def serve_site(self, spec: TrialSpec) -> tuple[Failure, ...]:
        """Start a trial's server alone, until the next trial is prepared."""
        raise NotImplementedError

    @operation(_start_within)
    def check_arm(self, spec: TrialSpec) -> None:
        """Let the server read its configuration, and the workload what only it can judge of an arm. InputError."""
        raise NotImplementedError

    @operation(_start_within)
    def check_workload(self, spec: TrialSpec) -> None:
        """Let the workload judge what it does: a load generator reads a user's script. InputError."""
        raise NotImplementedError

    @operation(_start_within)
    def check_browser(self) -> BrowserFacts:
        """Start the usual browser as a load does, and end it: what it is. Raises BrowserError."""
        raise NotImplementedError

    @operation(_prepare_within)
    def prepare_trial(self, spec: TrialSpec) -> tuple[Failure, ...]:
        """Do everything up to the measured part of a trial: what went wrong with it."""
        raise NotImplementedError

    @operation()
    def expect_trial(self, spec: TrialSpec) -> None:
        """Take note of the trial that will be prepared after the one that is: a part of it may begin before."""
        raise NotImplementedError

    @operation(lambda timeout_s: timeout_s + scaled(COLLECT_WITHIN_S))
    def run_trial(self, timeout_s: float) -> Any:  # noqa: ANN401 - its record, which the workload's `finish` reads
        """Do the measured part of the trial that was prepared. `timeout_s`: the trial's own."""
        raise NotImplementedError

    @operation()
    def halt_trial(self) -> None:
        """A trial that runs and takes long ends now; `run_trial` then answers with what there is."""
        raise NotImplementedError

    @operation()
    def end_trial(self) -> None:
        """End what the last trial still has: nothing of it is left on the link's ends."""
        raise NotImplementedError
