"""What a fetch was asked to be, in its own words and in those of the judges that it shares with page loads. Pure."""

from dataclasses import dataclass, replace

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.site.site import Site
from lanelab.driver.trial.fetch.settings import FetchSettings, objects_of
from lanelab.driver.trial.page_load.expectation import Expected


def as_fetched(arm: Arm, settings: FetchSettings) -> Arm:
    """Return the arm as the fetcher follows it: it speaks on the link as the gateway does, and opens no connection that
    nothing is asked on."""
    connections = min(arm.connections_per_host, settings.at_once)
    return replace(arm, via="gateway", connections_per_host=connections)


@dataclass(frozen=True, slots=True)
class ExpectedFetch:
    settings: FetchSettings
    load: Expected  # the arm is as it is fetched

    @property
    def arm(self) -> Arm:
        return self.load.arm

    @property
    def link(self) -> Link:
        return self.load.link

    @property
    def site(self) -> Site:
        return self.load.site

    @property
    def objects(self) -> tuple[str, ...]:
        """Return the addresses that were to be asked for, in this order."""
        return objects_of(self.site, self.settings.objects)
