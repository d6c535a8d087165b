"""What a page load was asked to be: its judges compare the record with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driver.experiment.arm import Arm
from driver.experiment.model import Tolerances
from model.coded import Coded
from model.link import Link
from model.site.site import Site


@dataclass(frozen=True, slots=True)
class Expected:
    arm: Arm
    site: Site
    link: Link
    tolerances: Tolerances
    recorders: Mapping[str, Coded]  # options of each recorder that was on, by its name
