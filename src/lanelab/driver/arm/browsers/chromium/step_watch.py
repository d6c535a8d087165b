"""Asks the page of a journey for its vitals, at the begin and at the end of each step."""

from lanelab.driver.arm.browsers.chromium.chromedriver import Session
from lanelab.driver.arm.browsers.chromium.isolated_world import OwnWorld
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.arm.browsers.vitals import Begun, StepTold, begin_step, end_step, interactions
from lanelab.driver.record.reasons import Reason


class StepWatch:
    """Asks at both ends of each step. A step ends in another page than it began in where it loads one: what the page
    before did until then is gone with it."""

    def __init__(self, session: Session, after_ms: float) -> None:
        self._session, self._after_ms = session, after_ms
        self._hand: OwnWorld | None = None  # of the page in which the step began
        self._begun: Begun | None = None
        self._hears = False
        self.answers: list[StepTold] = []  # of each step, in order

    def begin(self, *, hears: bool) -> None:
        """Note the page in which a step begins. `hears`: it may have interactions. Raises BrowserError."""
        self._hand, self._hears = OwnWorld(self._session), hears
        self._begun = begin_step(self._hand, hears=hears)

    def end(self, step: str, *, by_load: bool) -> None:
        """Ask the page in which the step has ended, after some time more. `by_load`: it ended with its load event.
        Raises BrowserError."""
        try:
            answer, same = end_step(OwnWorld(self._session), step, self._begun, self._after_ms, by_load=by_load)
            if same and self._hand and self._hears:
                answer["heard"] = interactions(self._hand, self._after_ms)
        except BrowserError as error:
            if error.reason is not Reason.BROWSER_FAILED:
                raise
            what = f"its page could not be watched until {self._after_ms:g} ms after the step's end: {error.what}"
            raise BrowserError(what, "Let the step last until its page has come to rest") from error
        self.answers.append(answer)
