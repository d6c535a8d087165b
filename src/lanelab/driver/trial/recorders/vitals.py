"""The recorder `vitals`: layout shift, the largest paint, long tasks, and how long a click takes to be shown.

The browser keeps all of it by itself. It is asked after the load, so nothing of ours runs during it. Of a journey each
step is asked after its own end."""

from collections.abc import Sequence
from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import VITALS
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.vitals import StepTold, VitalsAsked
from lanelab.driver.arm.browsers.vitals import Vitals as Answers
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import DURATION, FLAG, Kind, one_line
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written
from lanelab.driver.base.units import Duration
from lanelab.driver.record.evidence.step_vitals import StepVitalsEvidence
from lanelab.driver.record.metrics import of_step
from lanelab.driver.record.reasons import Reason
from lanelab.driver.record.record import STEP_VITALS
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight
from lanelab.driver.trial.recorders.step_vitals_measures import step_measures, step_vitals
from lanelab.driver.trial.recorders.vitals_measures import evidence, measures

BYTES = 3000
AFTER_MS, LONGEST_AFTER_S = 500.0, 10
ANY = "SELECTOR"  # in driver/record/metrics.py: whatever is clicked


def _after(value: object, key: str) -> Duration:
    after = Duration.parse(value, key=key)
    if after.seconds > LONGEST_AFTER_S:
        what = f"{after} after the load is too long"
        raise InputError(what, f"Write at most {LONGEST_AFTER_S}s", key=key)
    return after


def _selector(value: object, key: str) -> str | None:
    return None if value is None else one_line(value, key, "selector")


KEYS = Table(
    (
        Setting(
            "after",
            Kind("DURATION", f"`0` to `{LONGEST_AFTER_S}s`", _after, DURATION.schema, numeric=True),
            "500ms",
            "how long the page is watched after its load event",
            "2s",
        ),
        Setting(
            "click",
            Kind("SELECTOR", "a CSS selector", _selector),
            "",
            "what is clicked then: the first element that matches. The trial fails where there is none",
            "button.menu",
            default_words="nothing",
        ),
    )
)


@dataclass(frozen=True, slots=True)
class VitalsOptions(Coded):
    after_ms: float = AFTER_MS
    click: str | None = None


SHAPE = {"anyOf": [FLAG.schema, {"$ref": "#/definitions/vitals"}]}


class Vitals(Recorder[VitalsOptions]):
    name = "vitals"
    options_type = VitalsOptions
    setting = Setting(
        "vitals",
        None,
        "",
        "layout shift, largest paint, long tasks, and with `click` the time until it is shown: [vitals](vitals.md)",
        "{click: button.menu}",
        "`true`, `false`, or [keys](#vitals)",
        "`false`",
    )
    keys = KEYS
    shape = SHAPE
    reason = Reason.BROWSER_FAILED
    asks = frozenset({VITALS})

    def __init__(self, options: VitalsOptions) -> None:
        super().__init__(options)
        self._answers: Answers | None = None
        self._steps: Sequence[StepTold] | None = None  # of a journey

    @classmethod
    def read(cls, written: Written | None) -> VitalsOptions | None:
        """Read `true`, `false`, or a mapping."""
        if written is None:
            return None
        if not written.is_mapping:
            with written.placed({}):
                return VitalsOptions() if FLAG.parse(written.text(), cls.name) else None
        values = KEYS.values_of(KEYS.entries(written))
        return VitalsOptions(values["after"].milliseconds, values["click"])

    @classmethod
    def has(cls, options: VitalsOptions, wanted: Coded | None) -> bool:
        """Say whether these options record what is wanted. What is read before a click is the same with and without it,
        and of a metric however long that is."""
        if not isinstance(wanted, VitalsOptions):
            return False
        return wanted.click in (None, options.click) or (wanted.click == ANY and options.click is not None)

    @classmethod
    def disk_bytes(cls, options: VitalsOptions, weight: Weight) -> float:  # noqa: ARG003
        return BYTES

    def start(self, context: Context) -> None:
        if context.page is None:
            raise BrowserError("this trial has no page that could be asked for its vitals")
        self._page, self._of_steps = context.page, context.makes_journey
        if self._of_steps:
            self._page.watch_steps(self.options.after_ms)

    def load_ended(self) -> None:
        """Ask before requests are read: what the page asks for meanwhile, and after a click, is the trial's."""
        if self._of_steps:
            self._steps = self._page.vitals_of_steps()
            return
        self._answers = self._page.vitals(VitalsAsked(self.options.after_ms, self.options.click))

    def stop(self) -> Recording:
        if self._steps is not None:
            return _of_journey(self._steps, self.options.after_ms)
        if self._answers is None:
            raise BrowserError("the page did not load, and told no vitals")
        vitals = evidence(self._answers, self.options.after_ms, self.options.click)
        return Recording(measures=measures(vitals), evidence=vitals)


def _of_journey(answers: Sequence[StepTold], after_ms: float) -> Recording:
    steps = tuple(step_vitals(each, after_ms) for each in answers)
    numbers = {of_step(name, each.step): value for each in steps for name, value in step_measures(each).items()}
    return Recording(measures=numbers, evidence=StepVitalsEvidence(steps), kept_as=STEP_VITALS)
