"""The recorder `netlog`: the browser's own log of its network. The browser writes it from its start to its end."""

from dataclasses import dataclass

from lanelab.driver.arm.browsers.browser import NETLOG
from lanelab.driver.arm.browsers.failures import BrowserError
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.settings.kinds import FLAG
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight

FILE = "netlog.json"
BYTES, REQUEST_BYTES = 150_000, 10_000  # compressed: of any load, and more for each request


@dataclass(frozen=True, slots=True)
class NetlogOptions(Coded):
    """It has none."""


class Netlog(Recorder[NetlogOptions]):
    name = "netlog"
    options_type = NetlogOptions
    setting = Setting("netlog", FLAG, "false", "keep Chromium's own log of its network for each trial: large", "true")
    reason = Reason.BROWSER_FAILED
    packed = (FILE,)
    wishes = asks = frozenset({NETLOG})

    @classmethod
    def disk_bytes(cls, options: NetlogOptions, weight: Weight) -> float:  # noqa: ARG003
        return BYTES + REQUEST_BYTES * weight.objects

    def start(self, context: Context) -> None:
        self._context = context

    def stop(self) -> Recording:
        """The browser ends: only then is its log whole."""
        if self._context.page is None:
            raise BrowserError("this trial has no browser that could have a log")
        self._context.page.netlog(self._context.folder / FILE)
        return Recording(files=(FILE,))
