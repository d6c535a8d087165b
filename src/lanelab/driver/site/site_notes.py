"""What a run notes of each site that it loads, for its reports."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.composition import Composition


@dataclass(frozen=True, slots=True)
class AboutSite(Coded):
    title: str
    source: str
    kind: str  # where its objects are from: recorded, generated, fetched, files
    synthetic: bool  # its content was made up
    date: str | None  # of the recording
    objects: int
    bytes: int
    origins: int
    composition: Composition
    digest: str  # of all objects
    fidelity: str  # the score as people read it, or that there is none
    score: float | None
    scripts_seed: int  # of the random numbers that its scripts get where these are repeatable
