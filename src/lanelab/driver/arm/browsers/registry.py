"""The browsers that lanelab knows. To add one, write a folder here and its entry below."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.driver.arm.browsers.browser import Browser, BrowserKind
from lanelab.driver.arm.browsers.chromium import fields as chromium
from lanelab.driver.arm.browsers.firefox import fields as firefox

if TYPE_CHECKING:
    from lanelab.driver.bed.node import Node

DEFAULT = "chromium"


def _start_chromium(node: "Node", folder: Path) -> Browser:
    """Selenium takes a third of a second to import, so only beds that load pages import it."""
    from lanelab.driver.arm.browsers.chromium.browsers import ChromiumBrowser  # noqa: PLC0415

    return ChromiumBrowser(node, folder)


def _start_firefox(node: "Node", folder: Path) -> Browser:
    from lanelab.driver.arm.browsers.firefox.browsers import FirefoxBrowser  # noqa: PLC0415 - as above

    return FirefoxBrowser(node, folder)


BROWSERS: Mapping[str, BrowserKind] = {
    kind.name: kind
    for kind in (
        BrowserKind(
            name="chromium",
            title="Chromium",
            start=_start_chromium,
            connections_per_host=chromium.CONNECTIONS_PER_HOST,
            flags=chromium.FLAGS,
            limits=chromium.LIMITS,
            gives=chromium.GIVES,
            needs=("chromium",),
            processes=("chromium", "chrome", "chromedriver"),
        ),
        BrowserKind(
            name="firefox",
            title="Firefox",
            start=_start_firefox,
            connections_per_host=firefox.CONNECTIONS_PER_HOST,
            flags=firefox.FLAGS,
            limits=firefox.LIMITS,
            gives=firefox.GIVES,
            needs=("firefox",),
            processes=("firefox-esr", "firefox", "firefox-bin"),
        ),
    )
}
