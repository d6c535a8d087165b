"""Settings of a browser and what is around it, for tests."""

from lanelab.driver.arm.browsers.browser import Surroundings
from lanelab.driver.arm.browsers.fields import BrowserSettings, without_arm


def Settings(**own: object) -> BrowserSettings:  # noqa: N802 - as if it were one of them
    return without_arm(**{"viewport": (1280, 720), "scripts": "as-is", **own})


AROUND = Surroundings(hosts={"a.example": "10.10.3.1", "b.example": "10.10.3.2"})
