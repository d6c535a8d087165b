"""Every series of a trial of the workload `load`, in one table. Figures over time or over users derive from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Combined = Literal["mean", "sum", "largest"]


@dataclass(frozen=True, slots=True)
class SeriesKind:
    """A number at 1 Hz. Where nothing was read there is no point: gaps are not filled."""

    name: str
    words: str
    unit: str = ""
    scale: float = 1  # a stored number divided by this is in the unit
    combined: Combined = "mean"  # of several points in one span of time
    weight: str = ""  # of a mean of means: the series that says how many values each stands for


# fmt: off
_GENERATOR = (
    SeriesKind("users", "users"),
    SeriesKind("pages_per_s", "pages per second", "pages/s"),
    SeriesKind("requests_per_s", "requests per second", "requests/s"),
    SeriesKind("page_ms", "page response time", "ms", weight="pages_per_s"),
    SeriesKind("page_all_ms", "page response time, with pages that have not ended", "ms"),
    SeriesKind("page_95_ms", "page response time that 95 of 100 pages stayed below", "ms", combined="largest"),
    SeriesKind("request_ms", "response time of a request", "ms", weight="requests_per_s"),
    SeriesKind("pages_under_way", "pages begun and not ended"),
    SeriesKind("page_errors_per_s", "pages that failed, per second", "pages/s"),
    SeriesKind("errors_per_s", "requests that failed, per second", "requests/s"),
    SeriesKind("bytes_per_s", "bytes of answers per second", "MB/s", scale=1e6),
    SeriesKind("connections_opened_per_s", "connections opened per second", "connections/s"),
    SeriesKind("generator_cpu", "processors that the generator used", "processors"),
    SeriesKind("generator_lag_ms", "how late the generator's timers were at most", "ms", combined="largest"),
    SeriesKind("generator_files", "files that the generator had open", combined="largest"),
    SeriesKind("generator_memory_bytes", "memory of the generator", "MB", scale=1e6),
)
# The same of the programs of each role on the server node.
_OF_A_ROLE = (
    SeriesKind("cpu", "processors that the {role} used", "processors"),
    SeriesKind("memory_bytes", "memory of the {role}", "MB", scale=1e6),
    SeriesKind("cgroup_bytes", "memory of the control group of the {role}", "MB", scale=1e6),
    SeriesKind("processes", "processes of the {role}"),
    SeriesKind("threads", "threads of the {role}"),
    SeriesKind("files", "files that the {role} had open"),
)
_SERVER = (
    SeriesKind("workers_busy", "busy workers"),  # reading, writing, in keepalive, closing, …: not waiting, not starting
    SeriesKind("workers_idle", "idle workers"),
    SeriesKind("workers_keepalive", "workers that wait for the next request of a connection"),
    SeriesKind("workers_reading", "workers that read a request"),
    SeriesKind("workers_writing", "workers that answer"),
    SeriesKind("connections", "connections to the server"),
    SeriesKind("back_end_connections", "connections from the proxy to the back end"),
    SeriesKind("connections_closing", "connections to the server that are being closed"),
    SeriesKind("connections_time_wait", "connections that have ended and whose port is not free yet"),
    SeriesKind("connections_waiting", "connections that wait to be accepted", combined="largest"),
    SeriesKind("listen_overflows_per_s", "connections refused because too many waited, per second", "connections/s"),
    SeriesKind("cpu_idle", "processors not in use", "%", scale=0.01),  # of the server's machine
    SeriesKind("memory_available_bytes", "memory that the server's machine has left", "MB", scale=1e6),
    SeriesKind("bytes_in_per_s", "bytes to the server per second", "MB/s", scale=1e6),
    SeriesKind("bytes_out_per_s", "bytes from the server per second", "MB/s", scale=1e6),
)
ROLES = {"server": "server", "proxy": "proxy", "back_end": "back end"}
_ALL = (
    *_GENERATOR,
    *_SERVER,
    *(
        SeriesKind(f"{role}_{one.name}", one.words.format(role=words), one.unit, one.scale, one.combined)
        for role, words in ROLES.items() for one in _OF_A_ROLE
    ),
)
# fmt: on
SERIES: Mapping[str, SeriesKind] = {each.name: each for each in _ALL}
OF_GENERATOR = frozenset(each.name for each in _GENERATOR)  # the others take a recorder
