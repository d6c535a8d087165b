"""Every metric of a trial, in one table. Store, exports, tables, figures and keys of experiment files derive from it.

A trial's record has measures: numbers by name, from its workload and its recorders. A metric is such a measure with
words and a unit, or a number that is worked out from the record. To add a metric, add a line to METRICS.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # tables of metrics are read without the types of all evidence
    from lanelab.driver.record.record import TrialRecord


PAGE_LOAD, LOAD, FETCH = "page_load", "load", "fetch"
ANY = (PAGE_LOAD, LOAD, FETCH)
OVER_LINK = (PAGE_LOAD, FETCH)  # whose trials are judged by what crossed the link
MILLISECONDS = "_ms"
GENERATOR_FULL_S = "generator_full_s"  # read by a load's flag, and by what claims ask of its course
OPTIMAL, TIMES_OPTIMAL = "optimal_ms", "times_optimal"  # worked out from two trials (analysis/results/optimal.py)
OF_STEP = "@"  # in METRIC@STEP: of one step of a journey


@dataclass(frozen=True, slots=True)
class Metric:
    """One number that a trial may have."""

    name: str  # of its rows in `measures` and of its column in exports
    words: str  # as they stand in a sentence
    unit: str = ""
    workloads: tuple[str, ...] = (PAGE_LOAD,)
    scale: float = 1  # a stored number divided by this is in the unit
    whole: bool = False  # it counts something
    decimals: int | None = None  # that are shown, where it is not as many as milliseconds have
    column: str = ""  # its heading in the table of results; "": it has no column there
    higher_is_better: bool = False
    censored: str = ""  # the measure that is 1 where the true value lies beyond this one
    censored_because: str = "a load ended before it was reached"
    is_most: bool = False  # the true value lies below one that is censored, and not above it
    of: Callable[["TrialRecord"], float | None] | None = None  # None: it is a measure of the record, by its name

    @property
    def worst(self) -> float:
        """Return what a trial has that did not come to an end in its time: further than every other, to the bad
        side."""
        return 0.0 if self.higher_is_better else math.inf

    @property
    def key(self) -> str:
        """Return what experiment files call it."""
        name, mark, step = self.name.partition(OF_STEP)
        return name.removesuffix(MILLISECONDS) + mark + step

    @property
    def heading(self) -> str:
        return f"{self.words[0].upper()}{self.words[1:]}"

    @property
    def title(self) -> str:
        return f"{self.heading} ({self.unit})" if self.unit else self.heading

    def value(self, record: "TrialRecord") -> float | None:
        """None where this trial does not have it."""
        return record.measures.get(self.name) if self.of is None else self.of(record)


def _captured(name: str) -> Callable[["TrialRecord"], float | None]:
    """Return a number of the client's capture."""

    def of(record: "TrialRecord") -> float | None:
        packets = record.page_load.packets.get("client") if record.page_load else None
        value = None if packets is None else getattr(packets, name)
        return None if value is None else float(value)

    return of


def _slowdown(record: "TrialRecord") -> float | None:
    browser = record.page_load.browser if record.page_load else None
    return browser.slowdown.factor if browser and browser.slowdown else None


def _requested(record: "TrialRecord") -> float | None:
    """Return the number of requests; None where a trial did not begin, and so has no evidence."""
    return len(record.requests) if record.requests or record.evidence else None


_OF_ROLES = ("proxy_", "back_end_", "server_cpu_")
_OF_PACKETS = ("told", "lost", "overflowed")
# fmt: off
METRICS: tuple[Metric, ...] = (
    Metric("plt_ms", "page load time", "ms"),
    Metric("plt_navigation_ms", "load time by the browser's clock", "ms"),
    Metric("ttfb_ms", "time to first byte", "ms"),
    Metric("dcl_ms", "DOMContentLoaded", "ms"),
    Metric("first_paint_ms", "first paint", "ms"),
    Metric("fcp_ms", "first contentful paint", "ms"),
    Metric("lcp_ms", "largest contentful paint", "ms"),
    Metric("cpu_slowdown_measured", "how many times slower the page's thread was", of=_slowdown),
    Metric("bound_ms", "what the link allows at best", "ms", OVER_LINK),
    Metric(OPTIMAL, "computed optimal load time", "ms"),
    Metric(TIMES_OPTIMAL, "load time as a multiple of the computed optimum", decimals=2),
    # The parts of a load time, which add up to it: docs/reference/parts.md.
    Metric("part_dns_ms", "looking up names", "ms"),
    Metric("part_connect_ms", "opening connections", "ms"),
    Metric("part_tls_ms", "setting up TLS", "ms"),
    Metric("part_wait_ms", "waiting for answers", "ms"),
    Metric("part_slow_start_ms", "slow start", "ms"),
    Metric("part_reduced_window_ms", "a window reduced by loss", "ms"),
    Metric("part_idle_ms", "nothing to fetch yet", "ms"),
    Metric("part_transmission_ms", "transmission at the link's rate", "ms"),
    Metric("part_recovery_ms", "recovery from loss", "ms"),
    Metric("part_main_thread_ms", "the browser's main thread", "ms"),
    # When requests followed what they waited for: docs/reference/parts.md#start-lag-and-turnaround.
    Metric("start_lag_ms", "start lag: from the page's last byte to the first request after it", "ms"),
    Metric("start_lag_6_ms", "start lag of the sixth request", "ms"),
    Metric("turnaround_ms", "turnaround: from an answer's end to the next request on its connection, median", "ms"),
    Metric("emulation_error_ms", "median error of the emulated link", "ms", OVER_LINK),
    Metric("emulation_error_99_ms", "error of the emulated link that 99 of 100 packets stay below", "ms", OVER_LINK),
    Metric("capture_rtt_ms", "quickest round trip in the trial's own capture", "ms", OVER_LINK),
    # What a trial's captures tell of loss: docs/reference/verdicts.md#loss-of-a-cell.
    Metric("told_packets_down", "packets to the client whose loss would show", "packets", OVER_LINK, whole=True),
    Metric("told_packets_up", "packets to the server whose loss would show", "packets", OVER_LINK, whole=True),
    Metric("lost_packets_down", "packets to the client that were lost", "packets", OVER_LINK, whole=True),
    Metric("lost_packets_up", "packets to the server that were lost", "packets", OVER_LINK, whole=True),
    Metric("lost_runs_down", "runs of lost packets to the client, one behind the other", "runs", OVER_LINK, whole=True),
    Metric("lost_runs_up", "runs of lost packets to the server, one behind the other", "runs", OVER_LINK, whole=True),
    Metric("overflowed_packets_down", "packets to the client that a full queue may have dropped", "packets",
           workloads=OVER_LINK, whole=True),
    Metric("overflowed_packets_up", "packets to the server that a full queue may have dropped", "packets", OVER_LINK,
           whole=True),
    # Of links with cross traffic: docs/reference/link.md#cross-traffic.
    Metric("queueing_delay_ms", "queueing delay, median", "ms", ANY),
    Metric("queueing_delay_95_ms", "queueing delay that 95 of 100 small packets stayed below", "ms", ANY),
    Metric("cross_rate", "what cross traffic got", "Mbit/s", ANY, scale=1e6),
    Metric("cross_share", "share of the link's rate that cross traffic got", "%", ANY),
    Metric("cross_rtt_ms", "round trip of cross traffic, median", "ms", ANY),
    Metric("speed_index_ms", "Speed Index", "ms"),
    Metric("visually_complete_ms", "visually complete", "ms"),
    # What pages tell after their load: docs/reference/vitals.md.
    Metric("cls", "cumulative layout shift", decimals=3, column="CLS"),
    Metric("lcp_settled_ms", "largest contentful paint, also after the load event", "ms", column="LCP ms"),
    Metric("long_task_count", "long tasks of the main thread", whole=True),
    Metric("long_task_ms", "time in long tasks of the main thread", "ms"),
    Metric("tbt_ms", "total blocking time", "ms", column="TBT ms"),
    Metric("inp_ms", "interaction to next paint, of the click after the load", "ms", column="INP ms"),
    Metric("requests", "requests", workloads=OVER_LINK, whole=True, of=_requested),
    Metric("bytes_down", "bytes to the client", "kB", OVER_LINK, scale=1000, whole=True, column="kB down",
           of=_captured("bytes_down")),
    Metric("bytes_up", "bytes to the server", "kB", OVER_LINK, scale=1000, whole=True, of=_captured("bytes_up")),
    Metric("bytes", "bytes both ways, with the headers of packets", "kB", OVER_LINK, scale=1000, whole=True,
           of=_captured("bytes")),
    Metric("connections", "connections", workloads=OVER_LINK, whole=True, column="conn.", of=_captured("connections")),
    Metric("connections_used", "connections that carried a request", workloads=OVER_LINK, whole=True,
           of=_captured("connections_used")),
    Metric("retransmissions", "retransmissions", "packets", OVER_LINK, whole=True,
           of=_captured("retransmissions")),
    # Of arms through the gateway that multiplex: docs/reference/gateway.md#streams.
    Metric("data_frames", "frames with parts of bodies", workloads=OVER_LINK, whole=True),
    Metric("stream_switches", "switches to another stream before the one had ended", workloads=OVER_LINK, whole=True),
    Metric("pushed_objects", "objects that the server pushed", whole=True),
    Metric("pushed_bytes", "bytes of pushed bodies", "kB", scale=1000, whole=True),
    Metric("pushed_unused_bytes", "bytes of pushed bodies that nobody asked for", "kB", scale=1000, whole=True),
    # Of fetches: docs/reference/fetch.md#measures.
    Metric("fetch_ms", "time until all objects were there", "ms", (FETCH,)),
    Metric("object_ms", "time of an object, median", "ms", (FETCH,), column="object ms"),
    Metric("object_most_ms", "time of the slowest object", "ms", (FETCH,)),
    Metric("object_ttfb_ms", "time to the first byte of an object, median", "ms", (FETCH,), column="first byte ms"),
    Metric("object_wait_ms", "time from an object's request on the wire to its first byte, median", "ms", (FETCH,)),
    Metric("objects", "objects that were fetched", workloads=(FETCH,), whole=True),
    Metric("object_bytes", "bytes of bodies", "kB", (FETCH,), scale=1000, whole=True),
    Metric("object_connections", "connections that carried an object", workloads=(FETCH,), whole=True),
    # Of loads: docs/reference/load.md#measures.
    Metric("requests_per_s", "requests per second", "requests/s", (LOAD,), higher_is_better=True),
    Metric("bytes_per_s", "bytes of answers per second", "MB/s", (LOAD,), scale=1e6, higher_is_better=True,
           column="MB/s"),
    Metric("latency_ms", "median time of a request", "ms", (LOAD,), column="latency ms"),
    Metric("latency_90_ms", "time that 90 of 100 requests took at most", "ms", (LOAD,)),
    Metric("latency_95_ms", "time that 95 of 100 requests took at most", "ms", (LOAD,)),
    Metric("latency_99_ms", "time that 99 of 100 requests took at most", "ms", (LOAD,), column="99% ms"),
    Metric("latency_99_9_ms", "time that 999 of 1,000 requests took at most", "ms", (LOAD,)),
    Metric("latency_most_ms", "time that the slowest request took", "ms", (LOAD,)),
    Metric("pages_per_s", "pages per second", "pages/s", (LOAD,), higher_is_better=True, column="pages/s"),
    Metric("page_ms", "median time of a page", "ms", (LOAD,), column="page ms"),
    Metric("page_90_ms", "time that 90 of 100 pages took at most", "ms", (LOAD,)),
    Metric("page_95_ms", "time that 95 of 100 pages took at most", "ms", (LOAD,)),
    Metric("page_99_ms", "time that 99 of 100 pages took at most", "ms", (LOAD,), column="99% ms"),
    Metric("page_99_9_ms", "time that 999 of 1,000 pages took at most", "ms", (LOAD,)),
    Metric("page_most_ms", "time that the slowest page took", "ms", (LOAD,)),
    Metric("failed_requests", "requests that failed", workloads=(LOAD,), whole=True),
    Metric("failed_pages", "pages that failed", workloads=(LOAD,), whole=True, column="failed"),
    Metric("unfinished_pages", "pages that had not ended at the end", workloads=(LOAD,), whole=True),
    Metric("dropped_arrivals", "arrivals for which no user was free", workloads=(LOAD,), whole=True),
    Metric("connections_opened", "connections that were opened", workloads=(LOAD,), whole=True),
    # Of the course of a load: docs/reference/load.md#measures-of-a-course.
    Metric("pages_per_s_most", "most pages per second", "pages/s", (LOAD,), higher_is_better=True),
    Metric("pages_most_at_s", "time at which pages per second were at their most", "s", (LOAD,)),
    Metric("users_at_pages_most", "users when pages per second were at their most", "users", (LOAD,)),
    Metric("users_at_limit", "users at which pages first take as long as the limit", "users", (LOAD,),
           higher_is_better=True, censored="users_at_limit_censored"),
    Metric("users_at_limit_censored", "pages never took as long as the limit (1)", "", (LOAD,), whole=True),
    Metric("limit_at_s", "time at which pages first take as long as the limit", "s", (LOAD,), higher_is_better=True),
    Metric("first_error_users", "users at the first error", "users", (LOAD,), higher_is_better=True,
           censored="first_error_users_censored"),
    Metric("first_error_users_censored", "there was no error (1)", "", (LOAD,), whole=True),
    Metric("first_error_at_s", "time of the first error", "s", (LOAD,), higher_is_better=True),
    Metric(GENERATOR_FULL_S, "time from which the generator had no processor left, or was late", "s", (LOAD,)),
    Metric("workers_full_s", "time at which no worker was left", "s", (LOAD,), higher_is_better=True),
    Metric("pages_full_s", "time at which pages per second came to their most, within 5%", "s", (LOAD,)),
    Metric("starvation_gap_s", "time between no worker left and the most pages per second", "s", (LOAD,)),
    Metric("starvation_ratio", "time until the most pages per second, as a multiple of that until no worker was left",
           workloads=(LOAD,), decimals=2),
    # What the recorder server_series saw: docs/reference/server-series.md.
    Metric("proxy_threads_most", "most threads of the proxy", workloads=(LOAD,), whole=True),
    Metric("proxy_threads_grown", "threads that the proxy made for the load", workloads=(LOAD,), whole=True),
    Metric("back_end_connections_most", "most connections from the proxy to the back end", workloads=(LOAD,),
           whole=True),
    *(Metric(f"{role}_{name}", f"processor time of the {words} {per}", unit, (LOAD,))
      for role, words in (("server", "server"), ("proxy", "proxy"), ("back_end", "back end"))
      for name, per, unit in (("cpu_s_per_gb", "for each GB", "s/GB"),
                              ("cpu_ms_per_request", "for each request", "ms"))),
    Metric("workers_busy_most", "most workers that were busy at once", workloads=(LOAD,), whole=True),
    Metric("server_memory_used", "memory that the server took for the load", "MB", (LOAD,), scale=1e6),
    # What the machine did: docs/reference/machine.md.
    Metric("cpu_client_s", "processor time of the browser, load generator or fetcher", "s", ANY),
    Metric("cpu_server_s", "processor time of the server", "s", ANY),
    Metric("cpu_gateway_s", "processor time of the gateway", "s", ANY),
    Metric("cpu_router_s", "processor time of the router", "s", ANY),
    Metric("cpu_capture_s", "processor time of captures", "s", ANY),
    Metric("cpu_harness_s", "processor time of lanelab itself", "s", ANY),
    Metric("cpu_other_s", "processor time of everything else on the machine", "s", ANY),
    Metric("cpu_busy", "processors in use", "%", ANY, scale=0.01),
    Metric("cpu_steal", "processors given to other virtual machines", "%", ANY, scale=0.01),
    Metric("load", "load average before the trial", "", ANY),
    Metric("pressure_cpu_some", "time in which something waited for a processor", "%", ANY, scale=0.01),
    Metric("pressure_io_some", "time in which something waited for a disk", "%", ANY, scale=0.01),
    Metric("pressure_io_full", "time in which everything waited for a disk", "%", ANY, scale=0.01),
    Metric("pressure_memory_some", "time in which something waited for memory", "%", ANY, scale=0.01),
    Metric("pressure_memory_full", "time in which everything waited for memory", "%", ANY, scale=0.01),
    Metric("router_wait_s", "time in which the router waited for a processor", "s", ANY),
    Metric("throttled_s", "time for which a limit stopped programs", "s", ANY),
)
# fmt: on
OF_VITALS = ("cls", "lcp_settled_ms", "long_task_count", "long_task_ms", "tbt_ms", "inp_ms")
SOFT_AT, SOFT_FCP, SOFT_LCP = OF_SOFT_NAVIGATIONS = ("soft_navigation_ms", "soft_fcp_ms", "soft_lcp_ms")
INP_CENSORED = "inp_censored"
OF_INPUT = ("inp_ms", INP_CENSORED, *OF_SOFT_NAVIGATIONS)  # that only a step in which a script acts may have
# What steps of a journey have, as METRIC@STEP: docs/reference/journeys.md. Some have no whole trial's number.
STEP_METRICS: tuple[Metric, ...] = (
    *(
        metric
        for metric in METRICS
        if metric.name
        in (
            "plt_ms",
            "plt_navigation_ms",
            "ttfb_ms",
            "dcl_ms",
            "first_paint_ms",
            "fcp_ms",
            "lcp_ms",
            "bound_ms",
            "requests",
            "connections_opened",
        )
    ),
    Metric("connections_reused", "connections of earlier steps that carried a request", whole=True),
    Metric("from_cache", "requests that the browser's cache answered", whole=True),
    # With vitals: docs/reference/vitals.md#steps-of-a-journey.
    *(metric for metric in METRICS if metric.name in OF_VITALS and metric.name != "inp_ms"),
    Metric(
        "inp_ms",
        "interaction to next paint, of the slowest interaction",
        "ms",
        column="INP ms",
        censored=INP_CENSORED,
        censored_because="interactions were too quick to be told",
        is_most=True,
    ),
    Metric(INP_CENSORED, "the slowest interaction took at most that long, too short to be told (1)", whole=True),
    Metric(SOFT_AT, "soft navigation, from the step's begin to its input", "ms"),
    Metric(SOFT_FCP, "first contentful paint of the soft navigation, from its input", "ms", column="soft FCP ms"),
    Metric(SOFT_LCP, "largest contentful paint of the soft navigation, from its input", "ms", column="soft LCP ms"),
)
_OF_SERVER_SERIES = (
    *("workers_busy_most", "workers_full_s", "pages_full_s", "starvation_gap_s", "starvation_ratio"),
    "server_memory_used",
)
# The setting of an experiment without which no trial has the metric. Those that are not here are the workload's own.
NEEDS: Mapping[str, str] = {
    **dict.fromkeys((metric.name for metric in METRICS if metric.workloads == ANY), "machine: true"),
    **dict.fromkeys(_OF_SERVER_SERIES, "server_series: true"),
    **dict.fromkeys((metric.name for metric in METRICS if metric.name.startswith(_OF_ROLES)), "server_series: true"),
    **dict.fromkeys(("bytes_down", "bytes_up", "bytes"), "capture: client"),
    **dict.fromkeys(("connections", "connections_used", "retransmissions"), "capture: client"),
    **{f"{what}_packets_{way}": "capture: client" for what in _OF_PACKETS for way in ("down", "up")},
    **dict.fromkeys(("emulation_error_ms", "emulation_error_99_ms"), "capture: [client, server]"),
    **dict.fromkeys(("speed_index_ms", "visually_complete_ms"), "trace: filmstrip"),
    **dict.fromkeys(OF_VITALS, "vitals: true"),
    "inp_ms": "vitals: {click: SELECTOR}",
    **dict.fromkeys((OPTIMAL, TIMES_OPTIMAL), "links: [{rtt: 0ms}]"),
}
# The same of a step's, by the name of its metric alone.
STEP_NEEDS: Mapping[str, str] = dict.fromkeys((*OF_VITALS, INP_CENSORED, *OF_SOFT_NAVIGATIONS), "vitals: true")
# Of which a trial may have 0 where everything is well: a change from 0 is no number of percent.
MAY_BE_ZERO = frozenset(
    metric.name
    for metric in METRICS
    if metric.name in ("retransmissions", "starvation_gap_s", "stream_switches", GENERATOR_FULL_S)
    or metric.name in ("cls", "long_task_count", "long_task_ms", "tbt_ms")
    or metric.name.startswith("pushed_")
    or metric.name.endswith("_censored")
    or metric.name.startswith(("part_", *_OF_PACKETS))
    or metric.workloads == ANY
)
_STEP_MAY_HAVE_NONE = (
    *("requests", "connections_opened", "connections_reused", "from_cache", "bound_ms"),
    INP_CENSORED,
)
PRIMARY: Mapping[str, str] = {PAGE_LOAD: "plt_ms", LOAD: "requests_per_s", FETCH: "fetch_ms"}
# What trials of a workload are called.
TRIALS: Mapping[str, str] = {
    PAGE_LOAD: "page loads",
    LOAD: "loads",
    FETCH: "fetches",
}


def primary_of(workload: str) -> Metric:
    """Return the metric that trials of a workload are for. One that the table does not know has no words but its
    name."""
    name = PRIMARY[workload]
    return next((metric for metric in METRICS if metric.name == name), Metric(name, name, workloads=(workload,)))


def metric_named(name: str) -> Metric | None:
    """Return the metric of this name or key, also that of a step of a journey."""
    base, mark, step = name.partition(OF_STEP)
    known = next((metric for metric in (STEP_METRICS if mark else METRICS) if base in (metric.name, metric.key)), None)
    return metric_of_step(known, step) if known and mark else known


def metrics_of_steps(steps: Iterable[str], *, by_script: bool = True) -> list[Metric]:
    """Return the metrics that trials with these steps may have of each. `by_script`: a script makes them, which may
    click."""
    may_have = [metric for metric in STEP_METRICS if by_script or metric.name not in OF_INPUT]
    return [metric_of_step(metric, step) for step in steps for metric in may_have]


def need_of(metric: Metric) -> str:
    """Return the setting of an experiment without which no trial has the metric; "" where it is the workload's own."""
    base, mark, _ = metric.name.partition(OF_STEP)
    return (STEP_NEEDS if mark else NEEDS).get(base, "")


def may_be_zero(metric: Metric) -> bool:
    """Return whether a trial may have 0 of it where everything is well."""
    base, mark, _ = metric.name.partition(OF_STEP)
    return base in MAY_BE_ZERO or bool(mark and base in _STEP_MAY_HAVE_NONE)


def of_step(name: str, step: str) -> str:
    """Return the name of a measure of a step."""
    return f"{name}{OF_STEP}{step}"


def metric_of_step(metric: Metric, step: str) -> Metric:
    """Return the metric of one step: always a measure of the record."""
    name, words = of_step(metric.name, step), f"{metric.words}, step {step}"
    censored = of_step(metric.censored, step) if metric.censored else ""
    return replace(metric, name=name, words=words, workloads=(PAGE_LOAD,), column="", censored=censored, of=None)


def metrics_of(workload: str) -> list[Metric]:
    """The metrics that trials of this workload may have, in the table's order."""
    return [metric for metric in METRICS if workload in metric.workloads]


def measured(record: "TrialRecord") -> dict[str, float]:
    """Every number of a trial by its name: metrics first, then measures that the table does not know."""
    known = {metric.name: metric.value(record) for metric in metrics_of(record.workload)}
    values = {name: value for name, value in known.items() if value is not None}
    return {**values, **{name: value for name, value in record.measures.items() if name not in values}}
