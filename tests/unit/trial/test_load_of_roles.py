"""What the programs on the server node cost for a load."""

import dataclasses

import pytest

from lanelab.driver.record.series import Series
from lanelab.driver.trial.server_load.finish import of_roles
from tests.kit.k6_loads import PAGES_OF_K6

SETTINGS = dataclasses.replace(PAGES_OF_K6, warm_up_s=1)
# In the warm-up all is otherwise, to its last second, whose point is at its end; there is a gap at 3 s.
SERIES = {
    "proxy_threads": Series("", ((0, 28), (1000, 30), (2000, 217), (4000, 200))),
    "proxy_cpu": Series("processors", ((0, 0.9), (1000, 0.9), (2000, 0.2), (4000, 0.4))),
    "back_end_cpu": Series("processors", ((2000, 0.1), (4000, 0.1))),
    "back_end_connections": Series("", ((0, 0), (2000, 170))),
    "bytes_per_s": Series("MB/s", ((1000, 9e9), (2000, 1e8), (4000, 2e8))),
    "requests_per_s": Series("requests/s", ((1000, 9e9), (2000, 100), (4000, 200))),
}


def test_costs_are_of_what_was_carried_after_the_warm_up() -> None:
    assert of_roles(SERIES, SETTINGS) == pytest.approx(
        {
            "proxy_threads_most": 217,
            "proxy_threads_grown": 189,
            "back_end_connections_most": 170,
            "proxy_cpu_s_per_gb": 2.0,
            "proxy_cpu_ms_per_request": 2.0,
            "back_end_cpu_s_per_gb": 0.1 / 0.15,
            "back_end_cpu_ms_per_request": 0.1 / 0.15,
        }
    )


@pytest.mark.parametrize("name", SERIES)
def test_what_was_not_read_gives_no_measure(name: str) -> None:
    fewer = {key: value for key, value in SERIES.items() if key != name}
    assert of_roles(fewer, SETTINGS).keys() < of_roles(SERIES, SETTINGS).keys()
    assert of_roles({}, SETTINGS) == {}
