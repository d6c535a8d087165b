"""What is up for the trial that is under way, and what has failed of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driver.browser.browser import Page
from driver.browser.failures import BrowserError
from driver.gateway.gateway import Gateway
from driver.recorders.of_trial import TrialRecorders
from driver.servers.authority import Leaf
from driver.servers.resolver import Resolver
from driver.servers.server import Server
from driver.workloads.page_load.spec import TrialSpec
from model.errors import BedError
from model.reasons import Reason


@dataclass
class UnderWay:
    """What is up for the trial that was prepared, and what has failed of it."""

    spec: TrialSpec
    folder: Path
    started_utc: str
    addresses: Mapping[str, str]  # of the site's hosts
    leaf: Leaf | None  # of the server
    shown: Leaf | None  # of the gateway, where there is one
    prepare_s: float = 0.0
    server: Server | None = None
    resolver: Resolver | None = None
    gateway: Gateway | None = None
    page: Page | None = None
    recorders: TrialRecorders | None = None
    failures: list[dict[str, str]] = field(default_factory=list)
    answered: int = 0  # requests that the gateway says were

    @contextlib.contextmanager
    def failing(self, reason: Reason) -> Iterator[None]:
        """What goes wrong in here is this trial's failure and not the bed's. What the user wrote wrongly, as a server
        directive that Apache does not know, is no failure of a trial: that error goes on."""
        try:
            yield
        except BrowserError as error:
            self.fail(Reason(error.reason), str(error))
        except BedError as error:
            self.fail(reason, str(error))

    def fail(self, reason: Reason, detail: str) -> None:
        self.failures.append({"reason": reason.value, "detail": detail})

    def take_failures(self) -> None:
        """Those of the recorders are this trial's."""
        if self.recorders:
            self.failures += [failure.to_json() for failure in self.recorders.failures]
            self.recorders.failures.clear()
