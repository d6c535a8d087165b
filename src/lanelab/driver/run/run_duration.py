"""What an experiment is expected to take, with the sites of the archive."""

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate, SiteLoad, estimate
from lanelab.driver.run.loads import check_loads
from lanelab.driver.site.load import load_site


def expected(experiment: Experiment) -> Estimate:
    check_loads(experiment)
    sites = {cell.site for cell in experiment.cells}
    return estimate(experiment, {site: SiteLoad.of(load_site(site.partition("/")[0]).objects) for site in sites})
