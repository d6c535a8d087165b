"""What the user of a journey sees and feels in each of its steps. Times are ms by the clock of the page that is there
at the step's end, whose 0 is the beginning of its own load."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded, with_later
from lanelab.driver.record.evidence.vitals import LargestPaint, VitalsEvidence


@dataclass(frozen=True, slots=True)
class StepInteraction(Coded):
    """A click, a tap or a key, from the input to the next picture of the page. The parts add up to the latency."""

    event: str  # the slowest of the interaction
    element: str | None  # at which it happened; None: it is not in the page any more
    at_ms: float
    latency_ms: float  # in steps of 8 ms, as browsers tell it
    delay_ms: float  # until the first handler ran
    processing_ms: float  # until the last one had
    presentation_ms: float  # until it was to be seen


@dataclass(frozen=True, slots=True)
class SoftNavigation(Coded):
    """A change of the address without a load, as the browser reports it: an input led to it, and to something new to
    see."""

    at_ms: float  # the input
    url: str
    kind: str | None  # push, replace or traverse; None: the browser does not tell
    fcp_ms: float | None  # from the input to the first content that was painted for it
    paints: tuple[LargestPaint, ...]  # content that was painted for the input, each larger than the one before


@dataclass(frozen=True, slots=True)
class StepVitals(Coded):
    """One step."""

    step: str
    since_ms: float  # 0: it loaded its page. Else the page was there when the step began, which was then
    vitals: VitalsEvidence  # of what began in the step; `absent` is of everything here
    interactions: tuple[StepInteraction, ...]
    soft_navigations: tuple[SoftNavigation, ...]
    # When what is watched ended, after which it is watched for some time more: with the page's load event, or with the
    # step of a script. None: in a record of before
    loaded_ms: float | None = None
    # Keys pressed and pointers lifted in it: each is an interaction, also one that is too quick to be told. None: the
    # browser does not count them, or nobody listened
    inputs: int | None = None

    @classmethod
    def decoded(cls, data: object) -> "StepVitals":
        """Return a step from its JSON, also from a record of before."""
        return super(StepVitals, cls).decoded(with_later(data, loaded_ms=None, inputs=None))


@dataclass(frozen=True, slots=True)
class StepVitalsEvidence(Coded):
    """The steps that told their vitals, in order."""

    steps: tuple[StepVitals, ...]
