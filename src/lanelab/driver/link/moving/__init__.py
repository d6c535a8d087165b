"""What of a link changes while packets pass: rates and delays by a trace, outages, the states of a radio.

A trace is a list of steps that begins with the measured part of a trial and begins again at its end. The router is told
each step when it is due (driver/bed/remote/player.py). Between trials the link stands still, at its mean rate and its
least delay. All of it is pure; traces are read from files in files.py.
"""

from lanelab.driver.link.moving.outage import OUTAGE, Outage
from lanelab.driver.link.moving.radio import RADIO, RADIOS, Radio
from lanelab.driver.link.moving.trace import DELAY_TRACE, RATE_TRACE, Trace

__all__ = ["DELAY_TRACE", "OUTAGE", "RADIO", "RADIOS", "RATE_TRACE", "Outage", "Radio", "Trace"]
