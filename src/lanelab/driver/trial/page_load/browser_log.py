"""What a browser says of a load in which it spoke to the server itself: of each request, and line by line beside the
server's log. Pure."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.arm.servers.server import PORTS, TLS_NAMES
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.judges.objects import NOT_MODIFIED, PREFLIGHT
from lanelab.driver.trial.page_load.requests import (
    asked_for_a_part,
    fetched_from,
    few,
    in_clear,
    is_own_redirect,
    on_network,
    target,
)
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target

BROKEN_OFF = "X"
WITHIN_QUIC = "QUIC"  # what Chromium says in place of a version of TLS
ICON = "/favicon.ico"  # browsers look for it by themselves, and do not always say so
Answered = tuple[str, int | None]  # target, status


@dataclass(frozen=True, slots=True)
class BrowserTold:
    record: TrialRecord
    evidence: PageLoadEvidence
    arm: Arm
    site: Site
    led: Collection[str]  # addresses to which redirects led, those of other servers' hosts too

    @property
    def fetched(self) -> list[Request]:
        """Requests of the site's hosts that were answered over the network."""
        return fetched_from(self.site.hosts, self.record.requests)

    @property
    def broken_off(self) -> bool:
        """Return whether the load did not come to its end. A server may then not have logged what it was still sending,
        or had just sent: its log cannot have everything."""
        return self.evidence.broken_off

    def protocol(self, excused: Collection[Request] = ()) -> Iterator[str]:
        """In clear no browser speaks anything but HTTP/1.1. `excused`: these could not know better."""
        requests, aside = self.fetched, {id(each) for each in excused}
        wrong = [
            each
            for each in requests
            if id(each) not in aside and each.protocol != ("http/1.1" if self._clear(each) else self.arm.protocol)
        ]
        if wrong:
            used = ", ".join(sorted({str(each.protocol) for each in wrong}))
            what = f"by the browser {len(wrong)} of {len(requests)} requests used {used} instead of {self.arm.protocol}"
            yield f"{what}: {few([target(each) for each in wrong])}"

    def tls(self) -> Iterator[str]:
        wanted, requests = None if self.arm.tls == "off" else f"TLS {self.arm.tls}", self.fetched
        versions = [(each, self._tls_of(each)) for each in requests]
        wrong = [(each, tls) for each, tls in versions if tls != (None if self._clear(each) else wanted)]
        if wrong:
            used = ", ".join(sorted({tls or "no TLS" for _, tls in wrong}))
            what = f"by the browser {len(wrong)} of {len(requests)} requests used {used} instead of"
            yield f"{what} {wanted or 'no TLS'}: {few([target(each) for each, _ in wrong])}"

    def _clear(self, request: Request) -> bool:
        return in_clear(self.arm, PORTS.get(urlsplit(request.url).scheme))

    def _tls_of(self, request: Request) -> str | None:
        """Return the browser's word. It has none on an answer to which another host's redirect led; the server's log
        has, or the capture, by which every connection to that port is judged."""
        if request.tls == WITHIN_QUIC and request.protocol == "h3":
            return "TLS 1.3"  # there is no other
        if request.tls or not request.url.startswith("https:"):
            return request.tls
        there = request.url.partition("#")[0]
        if there not in self.led:
            return None
        if "tls" in SERVERS[self.arm.server].untold(self.arm.protocol):
            return f"TLS {self.arm.tls}"
        served = self.evidence.server.requests if self.evidence.server else ()
        tls_port = f":{PORTS['https']}"  # the same path may be a redirect in clear
        by_connection = {
            each.tls
            for each in served
            if "".join(served_target(each)) == target(request) and each.local.endswith(tls_port)
        }
        return next((f"TLS {name}" for name, logged in TLS_NAMES.items() if by_connection == {logged}), None)

    # --- beside the server's log

    def targets(self, witnesses: Witnesses) -> Iterator[str]:
        """What the browser says was answered before the load event the server has answered, with the same status. What
        the server was asked during the load the browser has asked."""
        lines = [each for each in witnesses.served_requests if each.method != PREFLIGHT]
        answered = Counter(self._answered(target(each), each.status) for each in self.fetched if must_be_logged(each))
        served = Counter(self._answered("".join(served_target(each)), each.status) for each in lines)
        missing = answered - served
        if self.broken_off:
            known = {"".join(served_target(each)) for each in lines}
            missing = Counter({each: number for each, number in missing.items() if each[0] in known})
        if missing:
            yield f"the server's log lacks {few([_words(*each) for each in sorted(missing, key=str)])}"
        wanted = Counter(target(each) for each in on_network(self.record.requests))
        strange = Counter("".join(served_target(each)) for each in self._during_the_load(lines)) - wanted
        if strange:
            yield f"the browser does not tell of {few(sorted(strange))}"

    def _answered(self, target: str, status: int | None) -> Answered:
        """A repeated view may be told that nothing has changed, and show its copy."""
        return target, None if self.arm.start == "warm" or status == NOT_MODIFIED else status

    def _during_the_load(self, lines: list[ServedRequest]) -> Iterator[ServedRequest]:
        """Yield the requests that the browser must tell of. It may have repeated a broken one without a word, may not
        have noted yet what came after the load, and tells nothing of what a worker asks for."""
        aside = {each.url for each in self.site.objects if each.late}
        parts = {target(each) for each in self.record.requests if asked_for_a_part(each)}
        plt_ms = self.evidence.loaded_ms
        logged = self.evidence.server.requests if self.evidence.server else ()
        first_us = min((each.began_us for each in logged), default=0)
        for each in lines:
            address = "".join(served_target(each))
            late = plt_ms is None or each.began_us - first_us > plt_ms * 1000
            if not (
                late or each.connection == BROKEN_OFF or address in parts or address in aside or address.endswith(ICON)
            ):
                yield each


def must_be_logged(request: Request) -> bool:
    """Return whether the server's log has to have this answer: what came later may not be there yet. A part of a body
    may come by several requests, and of a preflight the browser tells little."""
    unasked = is_own_redirect(request)
    return request.before_load and not unasked and request.method != PREFLIGHT and not asked_for_a_part(request)


def _words(target: str, status: int | None) -> str:
    return f"{target} ({status})" if status else target
