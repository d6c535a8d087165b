"""The recorder `screenshot`: a picture of the page as it is right after the load."""

from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import SCREENSHOT
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.kinds import FLAG
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight

FILE = "screenshot.png"
BYTES = 300_000


@dataclass(frozen=True, slots=True)
class ScreenshotOptions(Coded):
    """It has none."""


class Screenshot(Recorder[ScreenshotOptions]):
    name = "screenshot"
    options_type = ScreenshotOptions
    setting = Setting("screenshot", FLAG, "false", "keep a picture of each loaded page", "true")
    reason = Reason.BROWSER_FAILED
    asks = frozenset({SCREENSHOT})

    @classmethod
    def disk_bytes(cls, options: ScreenshotOptions, weight: Weight) -> float:  # noqa: ARG003
        return BYTES

    def start(self, context: Context) -> None:
        self._context = context

    def stop(self) -> Recording:
        if self._context.page is None:
            raise BrowserError("this trial has no page of which there could be a picture")
        self._context.page.screenshot(self._context.folder / FILE)
        return Recording(files=(FILE,))
