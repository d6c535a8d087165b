"""The figures of a study's run: which are still to be run, what they take, and how much of that remains. Pure."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import LARGEST_SEED, near_miss
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import over_beds, over_trials
from lanelab.driver.experiment.scale import over_scale
from lanelab.driver.experiment.schedule.missing import lacking
from lanelab.driver.experiment.schedule.results import History
from lanelab.driver.experiment.schedule.verdicts import has_enough
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.run.study.study import Study

State = Literal["not begun", "unfinished", "finished"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """The wishes of the user in place of what the experiments say; None: what they say."""

    trials: int | None = None
    beds: int | None = None
    scale: float | None = None

    def of(self, experiment: Experiment) -> Experiment:
        """Return the experiment as it is run."""
        return self.repeated(self.scaled(experiment))

    def scaled(self, experiment: Experiment) -> Experiment:
        """Return the experiment with as much load as the user wishes."""
        if self.scale is None or experiment.workload != LOAD:
            return experiment
        return over_scale(experiment, self.scale)

    def repeated(self, experiment: Experiment) -> Experiment:
        """Return the experiment as often as the user wishes, and on as many beds."""
        if self.trials is not None:
            experiment = over_trials(experiment, self.trials)
        return experiment if self.beds is None else over_beds(experiment, self.beds, "--beds")


@dataclass(frozen=True, slots=True)
class Standing:
    """Says how far a figure is."""

    figure: int
    state: State
    done: int  # trials that count
    trials: int  # asked for
    seconds: float  # that all of it is expected to take

    @property
    def remaining_s(self) -> float:
        """Return what is left of that."""
        if self.state == "finished":
            return 0.0
        return self.seconds * max(self.trials - self.done, 0) / self.trials


def state_of(experiment: Experiment, noted: str, history: History) -> State:
    """Return the state of a figure that has begun; `noted` is the state that its run noted last. A run that came to its
    end is unfinished where going on would make trials: of links that were refused, and of beds that were lost."""
    again = any(one.again for one in lacking(experiment, history))
    return "finished" if noted == "finished" and not again else "unfinished"


def still_to_run(standings: Sequence[Standing], wanted: Collection[int]) -> list[int]:
    """Return the figures that are run now, in the study's order: of the wanted ones (none named: all) those that are
    not finished."""
    return [one.figure for one in standings if one.state != "finished" and (not wanted or one.figure in wanted)]


def remaining_s(standings: Sequence[Standing], figures: Collection[int], pace: float = 1.0) -> float:
    """Return what these figures will still take; `pace`: how much longer than expected the others took."""
    return pace * sum(one.remaining_s for one in standings if one.figure in figures)


def chosen(study: Study, wanted: Sequence[int]) -> tuple[int, ...]:
    """Return the figures that the user named, each once and known."""
    known = [figure.number for figure in study.figures]
    for number in wanted:
        if number not in known:
            remedy = f"{near_miss(str(number), map(str, known))}There are {', '.join(map(str, known))}"
            raise InputError(f"the study has no figure {number}", remedy, key="--figure")
    return tuple(number for number in known if number in wanted)


def chosen_variant(study: Study, wanted: str | None) -> str:
    """Return the variant that is run: the first, unless another is asked for; "" where the study has none."""
    if wanted is None:
        return next(iter(study.variants), "")
    if wanted not in study.variants:
        known = f"There are {', '.join(study.variants)}" if study.variants else "The study has no variants"
        remedy = f"{near_miss(wanted, study.variants)}{known}"
        raise InputError(f"there is no variant {wanted[:60]!r}", remedy, key="--variant")
    return wanted


def figure_seed(seed: int, figure: int) -> int:
    """Return the seed of a figure's order. It depends on nothing but these, so that a figure has it whenever it is
    run."""
    digest = hashlib.sha256(f"{seed}/{figure}".encode()).digest()
    return int.from_bytes(digest[:8]) % (LARGEST_SEED + 1)


def too_few_for_verdicts(experiments: Mapping[int, Experiment]) -> list[int]:
    """Return the figures with claims that cannot get a verdict from so few rounds."""
    return [number for number, one in experiments.items() if one.claims and not has_enough(one)]
