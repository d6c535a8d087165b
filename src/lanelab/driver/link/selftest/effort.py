"""How much a self-test measures."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.link.selftest.retries import ATTEMPTS


@dataclass(frozen=True, slots=True)
class Effort(Coded):
    thorough: bool = False  # takes longer
    brief: bool = False  # leaves TCP out
    attempts: int = ATTEMPTS  # how often what is out of tolerance is measured, at most


USUAL = Effort()
