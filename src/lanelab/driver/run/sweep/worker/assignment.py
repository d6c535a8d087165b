"""The run that a worker works for, as it understands it: the experiment, read here, and its sites."""

import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from lanelab.driver.base import version
from lanelab.driver.base.errors import InputError, LanelabError
from lanelab.driver.base.writing import writing
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.served_sites import ServedSites, site_digest
from lanelab.driver.run.start import load_for, read_back
from lanelab.driver.run.sweep.messages import SAME, Assignment, SiteDone, cells_digest
from lanelab.driver.run.sweep.permissions import require_allowed
from lanelab.driver.run.sweep.worker.site_cache import SiteCache
from lanelab.driver.site.site import Site, site_of


@dataclass
class Assigned:
    order: Assignment
    experiment: Experiment
    cache: SiteCache
    sites: dict[str, Site] = field(default_factory=dict)  # those that are here as the controller has them

    @property
    def lacks(self) -> list[str]:
        return [name for name in self.experiment.sites if name not in self.sites]

    def take_site(self, done: SiteDone) -> None:
        if self.order.sites.get(done.name) != done.digest:
            raise InputError(f"the site {done.name!r} is not one of the run's", SAME)
        self.sites[done.name] = self.cache.finish(done)

    def served(self) -> ServedSites:
        """Return the sites as the arms want them. Raises InputError where this lanelab makes something else of one."""
        if self.lacks:
            raise InputError(f"the site {self.lacks[0]} did not come", "Begin anew")
        sites = ServedSites.of(self.experiment, self.sites)
        digests = sites.digests()
        other = sorted(name for name in digests if digests[name] != self.order.sites.get(name))
        if other:
            raise InputError(f"this lanelab ({version.VERSION}) makes something else of the site {other[0]}", SAME)
        return sites


def take(order: Assignment, folder: Path, allowed: Collection[str], machine: str) -> Assigned:
    """Read what the controller sends. Raises InputError for what this worker cannot or may not do. `folder`: for the
    run's files, and for sites on their way."""
    path = _write(order.files, folder / "given")
    names = {site_of(name) for name in order.sites}
    experiment = read_back(path, order.meta, names)
    if cells_digest(experiment.cells) != order.cells:
        what = f"lanelab {version.VERSION} on {machine} reads other cells from the experiment than {order.lanelab} does"
        raise InputError(what, SAME)
    require_allowed(experiment, allowed, machine)
    assigned = Assigned(order, experiment, SiteCache(folder / "arriving"))
    for name in experiment.sites:
        site = _site_here(name, experiment, order.sites, assigned.cache)
        if site:
            assigned.sites[name] = site
    return assigned


def _write(files: Mapping[str, str], folder: Path) -> Path:
    """Write the run's files into a folder that has no others then; returns where the experiment is."""
    for name in files:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
            raise InputError(f"a file of the run is called {name[:80]!r}, which leads elsewhere", SAME)
    if run_format.EXPERIMENT not in files:
        raise InputError("the controller sent no experiment", SAME)
    with writing("keep the files of the run"):
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    return folder / run_format.EXPERIMENT


def _site_here(name: str, experiment: Experiment, digests: Mapping[str, str], cache: SiteCache) -> Site | None:
    """Return the site with the content that the controller's has: of this machine's own archive, or sent by some
    controller before."""
    if name not in digests:
        raise InputError(f"the controller does not say what the site {name} is", SAME)
    try:
        local = load_for(experiment, name)
        if site_digest(local) == digests[name]:
            return local
    except LanelabError:  # not there, or not to be made here
        pass
    return cache.find(digests[name])
