"""Why a trial does not count: each reason with its name and one line. docs/reference/verdicts.md says more of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    TIMEOUT = "timeout"
    NAVIGATION_FAILED = "navigation-failed"
    BROWSER_CRASHED = "browser-crashed"
    BROWSER_FAILED = "browser-failed"
    SERVER_FAILED = "server-failed"
    SERVER_ERROR_LOG = "server-error-log"
    PROTOCOL_FALLBACK = "protocol-fallback"
    TLS_FALLBACK = "tls-fallback"
    KEEPALIVE_IGNORED = "keepalive-ignored"
    MISSING_OBJECT = "missing-object"
    FAILED_OBJECT = "failed-object"
    EXTRA_REQUEST = "extra-request"
    OUTSIDE_REQUEST = "outside-request"
    FROM_CACHE = "from-cache"
    BELOW_BOUND = "below-bound"
    CAPTURE_LOST_PACKETS = "capture-lost-packets"
    ROUTER_LOST_PACKETS = "router-lost-packets"
    BED_LOST = "bed-lost"
    LINK_OUT_OF_TOLERANCE = "link-out-of-tolerance"

    @property
    def explanation(self) -> str:
        return EXPLANATIONS[self]


EXPLANATIONS = {
    Reason.TIMEOUT: "the page did not load within the time that the experiment gives it",
    Reason.NAVIGATION_FAILED: "the browser could not load the page itself",
    Reason.BROWSER_CRASHED: "the browser, or the process of its page, ended during the trial",
    Reason.BROWSER_FAILED: "the browser did not start, or did not do what it was told",
    Reason.SERVER_FAILED: "the server did not start, or ended during the trial",
    Reason.SERVER_ERROR_LOG: "the server's error log has lines that a sound trial does not leave",
    Reason.PROTOCOL_FALLBACK: "a request used another protocol than the arm's",
    Reason.TLS_FALLBACK: "a request used another version of TLS than the arm's, or none",
    Reason.KEEPALIVE_IGNORED: "connections were used again although keepalive is off, or never although it is on",
    Reason.MISSING_OBJECT: "an object of the site was not loaded before the load event",
    Reason.FAILED_OBJECT: "an object of the site failed to load, or had other content than the archive",
    Reason.EXTRA_REQUEST: "the browser asked the site for something that its manifest does not have",
    Reason.OUTSIDE_REQUEST: "the browser asked for something outside of the site",
    Reason.FROM_CACHE: "an object of a cold page load came from the browser's cache",
    Reason.BELOW_BOUND: "the page loaded faster than the link allows",
    Reason.CAPTURE_LOST_PACKETS: "the packet capture has gaps, so nothing can be concluded from it",
    Reason.ROUTER_LOST_PACKETS: "packets were lost before the link: the router was kept from its processor",
    Reason.BED_LOST: "the bed ended during the trial",
    Reason.LINK_OUT_OF_TOLERANCE: "the link was measured and is not what was asked for",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """One reason why this trial does not count, with what was found."""

    reason: Reason
    detail: str

    def to_json(self) -> dict[str, str]:
        return {"reason": self.reason.value, "detail": self.detail}
