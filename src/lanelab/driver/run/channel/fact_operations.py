"""What a bed tells of itself."""

from collections.abc import Mapping
from typing import Any

from lanelab.driver.base.operations import Remote, operation


class FactOperations(Remote):
    @operation()
    def facts(self) -> Mapping[str, Any]:
        """Return what the nodes are and how they are set."""
        raise NotImplementedError

    @operation()
    def tc_state(self) -> tuple[Any, ...]:
        """Return the router's queues with their counters, as tc shows them."""
        raise NotImplementedError
