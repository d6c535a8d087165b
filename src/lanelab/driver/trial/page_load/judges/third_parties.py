"""Whether third parties did what the arm asks of them: what is blocked was not fetched, dead hosts did not answer,
answers waited, and had their statuses. Pure.

Each is asked of the browser, and of a witness beside it: the server's log, or the capture.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lanelab.driver.arm.third_parties import ThirdParties
from lanelab.driver.bed.dead_addresses import dead_addresses
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.packets import Connection, FlowSummary
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.site.push_plan import OFF
from lanelab.driver.trial.page_load import sockets
from lanelab.driver.trial.page_load.earlier import earlier
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs
from lanelab.driver.trial.page_load.judges.objects import NOT_MODIFIED
from lanelab.driver.trial.page_load.requests import few, on_network, target, was_answered
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target
from lanelab.driver.trial.serving import addresses_of

# What a browser says of a request that it was not to make: DevTools' word, and those for a name that is not there.
BLOCKED = ("inspector", "net::ERR_NAME_NOT_RESOLVED", "net::ERR_BLOCKED_BY_CLIENT", "NS_ERROR_UNKNOWN_HOST")
ROUNDING_MS = 1.0  # of what browsers and servers tell


@dataclass(frozen=True, slots=True)
class ThirdPartyVerdict:
    """Compares what a trial tells of third parties with what the arm wants of them."""

    case: Case
    wanted: ThirdParties
    requests: list[Request] = field(default_factory=list)  # of the browser, by the network or for it
    served: list[ServedRequest] = field(default_factory=list)

    @classmethod
    def of(cls, case: Case) -> "ThirdPartyVerdict":
        wanted = ThirdParties.of(case.arm, case.site)
        lines = Witnesses.of(case.evidence, case.arm).served_requests
        return cls(case, wanted, on_network(case.record.requests), lines)

    def failures(self) -> Iterator[Failure]:
        arm = self.case.arm
        wrong = [
            *(self._blocked() if arm.block else ()),
            *(self._unreachable() if arm.unreachable else ()),
            *(self._delayed() if arm.answer_delay else ()),
            *(self._answered() if arm.answer else ()),
        ]
        if wrong:
            yield Failure(Reason.THIRD_PARTIES, "; ".join(wrong))

    # --- what is not fetched

    def _blocked(self) -> Iterator[str]:
        attempts = [each for each in self.requests if self._is_blocked(target(each))]
        came = [target(each) for each in attempts if each.status is not None]
        if came:
            yield f"{few(came)} came, and is blocked"
        logged = [url for url in map(_url, self.served) if self._is_blocked(url)]
        if logged:
            yield f"the server was asked for {few(logged)}, which is blocked"
        others = [f"{target(each)} ({each.error or 'no error'})" for each in attempts if each.error not in BLOCKED]
        if others and not came:
            yield f"the browser does not say that it blocked {few(others)}"
        if not attempts and self._is_due(self._is_blocked):
            yield "nothing that is blocked was asked for"
        yield from self._packets_to_blocked()

    def _packets_to_blocked(self) -> Iterator[str]:
        """Where each host has an address of its own, none goes to that of a blocked one. What a load before had
        begun there may still be ended."""
        packets, arm = self.case.packets, self.case.arm
        if packets is None or arm.addresses == "shared":
            return
        hosts_at = {address: host for host, address in addresses_of(arm, self.case.site, self.case.link).items()}
        ends: list[Connection | FlowSummary] = [*packets.by_connection, *packets.by_udp_flow]
        begun = sockets.without(ends, earlier(packets))
        hosts = {hosts_at.get(each.server, "") for each in begun} & self.wanted.blocked_hosts
        if hosts:
            yield f"packets went to {few(sorted(hosts))}, which is blocked"

    def _is_blocked(self, url: str) -> bool:
        return url in self.wanted.blocked or url.partition("/")[0] in self.wanted.blocked_hosts

    def _unreachable(self) -> Iterator[str]:
        hosts = self.wanted.dead_hosts
        came = [target(each) for each in self.requests if each.status is not None and _host(target(each)) in hosts]
        came += [url for url in map(_url, self.served) if _host(url) in hosts]
        if came:
            yield f"{few(sorted(set(came)))} came, and its host is not reachable"
        packets = self.case.packets
        if packets is None:
            yield "without a capture of the client nobody saw its packets"
            return
        addresses = set(dead_addresses(hosts).values())
        tried = [each for each in packets.by_connection if each.server in addresses]
        answered = [f"{each.server}:{each.server_port}" for each in tried if each.packets_down]
        if answered:
            yield f"packets came from {few(answered)}, where nobody is to be"
        if not any(each.syn for each in tried) and self._is_due(lambda url: _host(url) in hosts):
            yield f"the browser tried to reach none of {few(list(hosts))}"

    def _is_due(self, named: Callable[[str], bool]) -> bool:
        """Return whether each load has to ask for one of these: not where all are late, or may be in a cache, nor one
        that came to no end."""
        if self.case.arm.start == "warm" or self.case.evidence.broken_off:
            return False
        return any(named(each.url) and not each.late for each in self.case.site.objects)

    # --- what comes in another way

    def _delayed(self) -> Iterator[str]:
        delays = {url: wait.ns / 1_000_000 for url, wait in self.wanted.delays.items()}
        lines = [each for each in self.served if _url(each) in delays]
        early = [
            f"{_url(each)} after {each.duration_us / 1000:.0f} ms of {delays[_url(each)]:.0f}"
            for each in lines
            if each.duration_us / 1000 < delays[_url(each)] - ROUNDING_MS
        ]
        if early:
            yield f"the server answered too soon: {few(early)}"
        early = [
            f"{target(each)} after {each.timings.wait:.0f} ms of {delays[target(each)]:.0f}"
            for each in self.requests
            if target(each) in delays and self._was_waited_for(each)
            and each.timings.wait < delays[target(each)] - ROUNDING_MS
        ]  # fmt: skip
        if early:
            yield f"the browser waited too little: {few(early)}"
        if not lines and self._is_due(lambda url: url in delays):
            yield "the server's log has nothing that was to wait"

    def _was_waited_for(self, each: Request) -> bool:
        """Return whether the browser tells how long. Where a 103 came first, that ended its wait; what was under way
        since then, or is in a cache, has another one."""
        hinted = self.case.arm.early_hints != OFF
        return was_answered(each) and not each.from_cache and not hinted and self.case.arm.push == OFF

    def _answered(self) -> Iterator[str]:
        """The browser's word on each status is asked for with those of all other objects (objects.py)."""
        answers = self.wanted.answers
        wrong = [
            f"{_url(each)} with {each.status} instead of {answers[_url(each)]}"
            for each in self.served
            if _url(each) in answers and each.status not in (answers[_url(each)], NOT_MODIFIED)
        ]
        if wrong:
            yield f"the server answered {few(wrong)}"
        known = {_url(each) for each in self.served} | {target(each) for each in self.requests}
        if not known & set(answers) and self._is_due(lambda url: url in answers):
            yield "nothing was asked for whose status is another"


def _url(line: ServedRequest) -> str:
    return "".join(served_target(line))


def _host(url: str) -> str:
    return url.partition("/")[0]


def _failures(case: Case) -> Iterator[Failure]:
    yield from ThirdPartyVerdict.of(case).failures()


JUDGE = Judge(Needs.LOAD, _failures)
