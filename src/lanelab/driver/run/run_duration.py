"""What an experiment is expected to take, with the sites of the archive."""

from collections.abc import Mapping, Sequence

from lanelab.driver.arm.groups import require_third_parties
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate, SiteLoad, estimate
from lanelab.driver.run.loads import check_loads
from lanelab.driver.run.posts import require_posts
from lanelab.driver.run.second_visits import require_change
from lanelab.driver.run.served_sites import with_arm_named
from lanelab.driver.run.start import load_for
from lanelab.driver.site.site import Site, SiteObject
from lanelab.driver.trial.fetch.settings import objects_of


def expected(experiment: Experiment) -> Estimate:
    """Return the estimate. Raises InputError for what cannot be with these sites."""
    check_loads(experiment)
    sites = sites_of(experiment)
    _require_hosts(experiment, sites)
    loads = {name: SiteLoad.of(_asked_of(experiment, site), site.entry_host) for name, site in sites.items()}
    return estimate(experiment, loads)


def _asked_of(experiment: Experiment, site: Site) -> Sequence[SiteObject]:
    """Return the objects that a trial asks for."""
    fetch = next((cell.fetch for cell in experiment.cells if cell.fetch), None)  # all have the same objects
    if fetch is None:
        return site.objects
    wanted = set(objects_of(site, fetch.objects))
    return list({each.url: each for each in site.objects if each.url in wanted}.values())


def sites_of(experiment: Experiment) -> dict[str, Site]:
    """Return the sites of its cells, as they are archived."""
    return {name: load_for(experiment, name) for name in sorted({cell.site for cell in experiment.cells})}


def _require_hosts(experiment: Experiment, sites: Mapping[str, Site]) -> None:
    """Raises InputError where hosts of a site cannot be as an arm says, or their servers do not answer all. A run asks
    again, of sites as they are prepared: `minify` gives them other objects."""
    for cell in experiment.cells:
        if cell.arm.minify == "off":
            with with_arm_named(cell):
                require_third_parties(cell.arm, sites[cell.site])
                require_posts(cell, sites[cell.site])
                require_change(cell, sites[cell.site])
