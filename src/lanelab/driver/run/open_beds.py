"""Opens the beds of a run. Where machines are away for a while, it asks for them again."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from lanelab.driver.base.errors import HostAway, Interrupted
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.events import BedAwaited, Listener

PAUSES_S = (5, 10, 20, *[30] * 9)  # about five minutes: a machine starts anew, a cable is put back

OpenBed = Callable[[], AbstractContextManager[Bed]]


class Beds:
    """Opens one bed after the other. The first has to come up at once: whoever begins a run watches it begin."""

    def __init__(self, open_bed: OpenBed, tell: Listener, is_stop_asked: Callable[[], bool]) -> None:
        self._open_bed, self._tell, self._is_stop_asked = open_bed, tell, is_stop_asked
        self.had_one = False

    def open(self, stack: ExitStack) -> Bed:
        """Return a bed that lives as long as what else is on the stack. Raises BedError, or Interrupted in a pause."""
        for pause_s in PAUSES_S if self.had_one else ():
            try:
                return stack.enter_context(self._open_bed())
            except HostAway as error:
                self._tell(BedAwaited(str(error), pause_s))
                self._pause(pause_s)
        bed = stack.enter_context(self._open_bed())
        self.had_one = True
        return bed

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self._is_stop_asked():
                raise Interrupted("stopped while machines were away")
            time.sleep(0.2)
