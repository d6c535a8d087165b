"""What servers, proxies and back ends cost for a load, from their series. Pure."""

import math
from collections.abc import Mapping

from lanelab.driver.record.load_series import ROLES
from lanelab.driver.record.record import Series
from lanelab.driver.trial.load_settings import LoadSettings

GIGABYTE = 1e9
MS_PER_S = 1000


def of_roles(series: Mapping[str, Series], settings: LoadSettings) -> dict[str, float]:
    """By the names of record/metrics.py, of what is measured after the warm-up. What its series do not tell is not
    there."""
    begin_ms = MS_PER_S * settings.warm_up_s
    found = {name: _largest(series, name) for name in ("back_end_connections",)}
    measures = {f"{name}_most": value for name, value in found.items() if value is not None}
    threads = series.get("proxy_threads")
    if threads and threads.points:
        most = max(value for _, value in threads.points)
        measures |= {"proxy_threads_most": most, "proxy_threads_grown": most - threads.points[0][1]}
    for role in ROLES:
        cpu = _mean(series, f"{role}_cpu", begin_ms)
        for what, name, scale in (
            ("bytes_per_s", "cpu_s_per_gb", GIGABYTE),
            ("requests_per_s", "cpu_ms_per_request", MS_PER_S),
        ):
            rate = _mean(series, what, begin_ms)
            if cpu is not None and rate:
                measures[f"{role}_{name}"] = cpu / rate * scale
    return measures


def _largest(series: Mapping[str, Series], name: str) -> float | None:
    return max((value for _, value in series[name].points), default=None) if name in series else None


def _mean(series: Mapping[str, Series], name: str, begin_ms: float) -> float | None:
    values = [value for at_ms, value in series[name].points if at_ms >= begin_ms] if name in series else []
    return math.fsum(values) / len(values) if values else None
