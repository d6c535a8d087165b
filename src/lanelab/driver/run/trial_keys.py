"""The key of a trial: two digests of everything that determines it. Pure.

`asked`: what was asked for, which an experiment and its sites say. `versions`: what the trial was made with, which the
machine and lanelab are (driver/run/versions.py). Two trials of equal keys measure the same, and one may stand for the
other. What is not in a key may differ: names and order of things, which round it is and what its load drew, when it was
and on which machine or processors.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.run.served_sites import ServedSites, site_digest


class AskedKeys:
    """The `asked` digest of each cell of an experiment, worked out once."""

    def __init__(self, experiment: Experiment, sites: ServedSites, *, accept_links: bool = False) -> None:
        self._experiment, self._sites, self._accept_links = experiment, sites, accept_links
        self._digests: dict[tuple[str, Any], str] = {}  # of each site as it is served
        self._keys: dict[str, str] = {}

    def of(self, cell: Cell) -> str:
        if cell.id not in self._keys:
            served = (cell.site, cell.arm.variant)
            if served not in self._digests:
                self._digests[served] = site_digest(self._sites.site(cell))
            wish = asked_for(self._experiment, cell, self._digests[served], accept_links=self._accept_links)
            self._keys[cell.id] = digest_of(wish)
        return self._keys[cell.id]


def asked_for(experiment: Experiment, cell: Cell, site: str, *, accept_links: bool) -> dict[str, object]:
    """Return all that was asked for of a trial. `site`: the digest of the site as the arm has it served; a user's own
    script is in the settings of its load."""
    return {
        "workload": experiment.workload,
        "site": site,
        **cell.settings(),
        "timeout_s": experiment.timeout.seconds,
        "missing": experiment.missing,
        "tolerances": dataclasses.asdict(experiment.tolerances),
        "recorders": {name: options.to_json() for name, options in experiment.recorders.items()},
        "accept_links": accept_links,
    }


def digest_of(mapping: Mapping[str, object]) -> str:
    """Of JSON: the same for the same content, however it is ordered."""
    text = json.dumps(mapping, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
