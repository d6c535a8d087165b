"""What an experiment is expected to take, with the sites of the archive."""

from __future__ import annotations

from driver.experiment.model import Experiment
from driver.schedule.estimate import Estimate, SiteLoad, estimate
from sites.load import load_site


def expected(experiment: Experiment) -> Estimate:
    sites = {cell.site for cell in experiment.cells}
    return estimate(experiment, {site: SiteLoad.of(load_site(site.partition("/")[0]).objects) for site in sites})
