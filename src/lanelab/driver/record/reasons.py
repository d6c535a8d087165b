"""Why a trial does not count, and what a reader must know of one that does: each by name.

docs/reference/verdicts.md explains each."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from lanelab.driver.base.coded import Coded


class Reason(StrEnum):
    TIMEOUT = "timeout"
    NAVIGATION_FAILED = "navigation-failed"
    BROWSER_CRASHED = "browser-crashed"
    BROWSER_FAILED = "browser-failed"
    INTERACTION_FAILED = "interaction-failed"
    SCRIPT_FAILED = "script-failed"
    SERVER_FAILED = "server-failed"
    SERVER_ERROR_LOG = "server-error-log"
    GATEWAY_FAILED = "gateway-failed"
    PROTOCOL_FALLBACK = "protocol-fallback"
    TLS_FALLBACK = "tls-fallback"
    RESUMPTION_IGNORED = "resumption-ignored"
    EARLY_DATA_IGNORED = "early-data-ignored"
    HINTS_IGNORED = "hints-ignored"
    KEEPALIVE_IGNORED = "keepalive-ignored"
    CONNECTIONS_EXCEEDED = "connections-exceeded"
    COALESCING_IGNORED = "coalescing-ignored"
    PIPELINING_IGNORED = "pipelining-ignored"
    COMPRESSION_IGNORED = "compression-ignored"
    MISSING_OBJECT = "missing-object"
    FAILED_OBJECT = "failed-object"
    EXTRA_REQUEST = "extra-request"
    INEXACT_ANSWER = "inexact-answer"
    OUTSIDE_REQUEST = "outside-request"
    THIRD_PARTIES = "third-parties"
    FROM_CACHE = "from-cache"
    DEVICE_IGNORED = "device-ignored"
    STREAM_SETTINGS = "stream-settings"
    PUSH_MISSING = "push-missing"
    PUSH_UNASKED = "push-unasked"
    WIRE_MISMATCH = "wire-mismatch"
    BELOW_BOUND = "below-bound"
    CAPTURE_LOST_PACKETS = "capture-lost-packets"
    ROUTER_LOST_PACKETS = "router-lost-packets"
    ROUTER_STOPPED = "router-stopped"
    STRAY_PACKETS = "stray-packets"
    CROSS_TRAFFIC = "cross-traffic"
    CROSS_MISSING = "cross-missing"
    CROSS_STALLED = "cross-stalled"
    LINK_SETTINGS = "link-settings"
    SETTINGS_CHANGED = "settings-changed"
    CONTENT_CHANGED = "content-changed"
    CLOCK_STEPPED = "clock-stepped"
    RECORDER_FAILED = "recorder-failed"
    GENERATOR_FAILED = "generator-failed"
    GENERATOR_LIMITED = "generator-limited"
    FETCHER_FAILED = "fetcher-failed"
    FETCHER_LIMITED = "fetcher-limited"
    AT_ONCE_IGNORED = "at-once-ignored"
    WARM_IGNORED = "warm-ignored"
    STOPPED = "stopped"
    FAILED_REQUESTS = "failed-requests"
    TOO_FEW_REQUESTS = "too-few-requests"
    EVIDENCE_MISSING = "evidence-missing"
    BED_LOST = "bed-lost"
    LINK_RTT = "link-rtt"
    LINK_DELAY = "link-delay"
    LINK_RATE = "link-rate"
    LINK_QUEUE = "link-queue"
    LINK_TRACE = "link-trace"
    LINK_MTU = "link-mtu"
    INITIAL_WINDOW = "initial-window"
    TCP_OPTIONS = "tcp-options"
    LINK_OUT_OF_TOLERANCE = "link-out-of-tolerance"


OF_A_TIME_OUT = frozenset(  # reasons that a trial has because its time was over
    (Reason.TIMEOUT, Reason.MISSING_OBJECT, Reason.FAILED_OBJECT, Reason.FAILED_REQUESTS, Reason.TOO_FEW_REQUESTS)
)


def timed_out(reasons: Collection[str]) -> bool:
    """Return whether a trial failed because it took too long, and for nothing else. It does not count, and yet says
    something of its cell: that it can take longer than the time it was given. To leave it out would make the cell look
    faster."""
    return Reason.TIMEOUT in reasons and OF_A_TIME_OUT.issuperset(reasons)


OF_A_BREAK = OF_A_TIME_OUT | {Reason.NAVIGATION_FAILED, Reason.SCRIPT_FAILED, Reason.PROTOCOL_FALLBACK}
OF_THE_BED = frozenset(  # reasons beside which a load broke by what the bed did to it
    {
        *(Reason.SERVER_FAILED, Reason.GATEWAY_FAILED, Reason.BROWSER_CRASHED, Reason.BROWSER_FAILED),
        *(Reason.GENERATOR_FAILED, Reason.GENERATOR_LIMITED, Reason.FETCHER_FAILED, Reason.FETCHER_LIMITED),
        *(Reason.ROUTER_LOST_PACKETS, Reason.ROUTER_STOPPED, Reason.CONTENT_CHANGED, Reason.SETTINGS_CHANGED),
        *(Reason.LINK_SETTINGS, Reason.LINK_TRACE, Reason.LINK_OUT_OF_TOLERANCE, Reason.STOPPED, Reason.BED_LOST),
    }
)


def broke(reasons: Collection[str]) -> bool:
    """Return whether a trial failed because its own requests did, on a bed that was sound. Losses and slow answers
    break loads, so how many break is the arm's and the link's. One that is tried again until it does not break makes
    the cell look faster. Whatever else speaks against such a trial may come of that, and excuses nothing."""
    return not timed_out(reasons) and not OF_A_BREAK.isdisjoint(reasons) and OF_THE_BED.isdisjoint(reasons)


@dataclass(frozen=True, slots=True)
class Failure(Coded):
    """One reason why this trial does not count, with what shows it."""

    reason: Reason
    detail: str


class FlagName(StrEnum):
    PROCESSORS_CONTENDED = "processors-contended"
    PROCESSORS_STOLEN = "processors-stolen"
    PROCESSORS_THROTTLED = "processors-throttled"
    ROUTER_WAITED = "router-waited"
    MEMORY_SHORT = "memory-short"
    LINK_LATE = "link-late"
    EMULATION_LATE = "emulation-late"
    SERVER_SLOW = "server-slow"
    DNS_SLOW = "dns-slow"
    FETCHED_TWICE = "fetched-twice"
    PROGRAM_STOPPED = "program-stopped"
    SAMPLES_MISSED = "samples-missed"
    SERVER_DROPPED = "server-dropped"
    CLIENT_DROPPED = "client-dropped"
    CONNECTIONS_LEFT = "connections-left"
    FETCHER_LATE = "fetcher-late"
    GENERATOR_UNJUDGED = "generator-unjudged"
    GENERATOR_FULL = "generator-full"


OF_THE_MACHINE = frozenset(  # flags that say a machine had no time for the trial
    {
        *(FlagName.PROCESSORS_CONTENDED, FlagName.PROCESSORS_STOLEN, FlagName.PROCESSORS_THROTTLED),
        *(FlagName.ROUTER_WAITED, FlagName.MEMORY_SHORT),
    }
)


@dataclass(frozen=True, slots=True)
class Flag(Coded):
    """One reason to doubt the numbers of a trial that counts nevertheless, with what shows it."""

    name: FlagName
    detail: str
