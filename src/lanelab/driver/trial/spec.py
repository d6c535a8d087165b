"""What the bed process must know to run one trial: what the controller sends."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import Coded, parsed
from lanelab.driver.site.site import Site
from lanelab.driver.trial.recorders.registry import options_from_json


class Parcel(TypedDict):
    """A trial as it is sent."""

    workload: str
    site: object
    arm: Mapping[str, object]
    timeout_s: float
    recorders: Mapping[str, object]
    folder: str
    authority: str
    options: Mapping[str, object]
    seed: int
    built: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class TrialSpec(Coded):
    """One trial: its cell without the link (which the bed has), and where its artifacts go."""

    site: Site
    arm: Arm
    timeout_s: float
    recorders: Mapping[str, Coded]  # options of each recorder that is on, by its name
    folder: Path  # for artifacts, on this machine
    authority: Path  # of the run: key and certificate that the browser trusts
    workload: str = "page_load"
    options: Mapping[str, object] = field(default_factory=dict)  # of the workload, as JSON
    seed: int = 0  # of this trial: for a workload that draws numbers
    built: Mapping[str, Path] = field(default_factory=dict)  # programs of ours on this machine: gateway, mod_spdy, …

    def to_json(self) -> dict[str, object]:
        return {
            "workload": self.workload,
            "site": self.site.to_json(),
            "arm": self.arm.to_mapping(),
            "timeout_s": self.timeout_s,
            "recorders": {name: options.to_json() for name, options in self.recorders.items()},
            "folder": str(self.folder),
            "authority": str(self.authority),
            "options": dict(self.options),
            "seed": self.seed,
            "built": {name: str(path) for name, path in self.built.items()},
        }

    @classmethod
    def decoded(cls, data: object) -> "TrialSpec":
        sent = parsed(Parcel, data, "a trial")
        settings = dict(sent["arm"])
        return cls(
            workload=sent["workload"],
            site=Site.from_json(sent["site"]),
            arm=Arm.parse(str(settings.pop("name")), settings),
            timeout_s=sent["timeout_s"],
            recorders=options_from_json(sent["recorders"]),
            folder=Path(sent["folder"]),
            authority=Path(sent["authority"]),
            options=sent["options"],
            seed=sent["seed"],
            built={name: Path(path) for name, path in sent["built"].items()},
        )
