"""What a page load was asked to be: its judges compare the record with it."""

from collections.abc import Mapping
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded
from lanelab.driver.link import Link
from lanelab.driver.site.site import Site
from lanelab.driver.trial.journey import Journey
from lanelab.driver.trial.tolerances import Tolerances


@dataclass(frozen=True, slots=True)
class Expected:
    arm: Arm
    site: Site
    link: Link
    tolerances: Tolerances
    recorders: Mapping[str, Coded]  # options of each recorder that was on, by its name
    journey: Journey = ()  # that it was to make; empty: it loads one page

    @property
    def first_step(self) -> str:
        return self.journey[0].name if self.journey else ""
