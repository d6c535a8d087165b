"""The verdict on QUIC: an arm with HTTP/3 used it for every request that could, as each who can know says, and no
other arm used it at all. Pure.

A browser falls back to HTTP/2 in silence: where no UDP comes through, where nobody told it, where the server wants
another protocol. So nothing here is taken from a setting: the browser names the protocol of each request, the server
logs it, and the capture has the connections, with who was asked for and what was offered and chosen.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.ends import ports_of
from lanelab.driver.record.evidence.packets import FlowSummary, QuicSummary
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.discovery import ALT_SVC, H2, not_told, not_yet
from lanelab.driver.trial.page_load.requests import fetched_from, few, host, on_network, target
from lanelab.driver.trial.page_load.witnesses import Witnesses, served_target

HTTPS = 443
SERVED = {"HTTP/3.0": H3, "HTTP/2.0": H2}


@dataclass(frozen=True, slots=True)
class OverQuic:
    record: TrialRecord
    evidence: PageLoadEvidence
    arm: Arm
    site: Site
    witnesses: Witnesses

    # --- the protocol

    def protocol(self) -> Iterator[str]:
        """Yield what speaks against HTTP/3, beside what is asked of every arm."""
        flows = self.witnesses.quic
        if flows is None:
            return
        if self.arm.protocol != H3:
            yield from self._unwanted(flows)
            return
        yield from self._connections(flows)
        yield from self._names(flows)
        yield from self._beside(flows)
        yield from self._agree()

    def excused(self) -> list[Request]:
        """Return requests that were asked for before the browser could use HTTP/3."""
        browser = self.evidence.browser
        first_us = browser.clock.first_request if browser and browser.clock else None
        return not_yet(self._fetched, self.witnesses.quic or (), first_us, self.arm.h3_discovery)

    @property
    def _client(self) -> str:
        """Return who asked: a browser by itself, or a fetcher."""
        return self.witnesses.client if self.witnesses.gateway else "browser"

    @property
    def _fetched(self) -> list[Request]:
        return fetched_from(self.site.hosts, self.record.requests)

    @property
    def _site_requests(self) -> list[Request]:
        """Return the requests for something of the site's hosts, also those that the cache or nobody answered."""
        return [each for each in on_network(self.record.requests) if host(each) in self.site.hosts]

    def _unwanted(self, flows: Sequence[FlowSummary]) -> Iterator[str]:
        """Yield attempts of QUIC by an arm that is not HTTP/3: there may be none."""
        if flows:
            ports = few([str(each.client_port) for each in flows])
            yield f"by the capture {len(flows)} QUIC connections were begun, port {ports}"

    def _connections(self, flows: Sequence[FlowSummary]) -> Iterator[str]:
        if self._all_from_cache():
            return
        whole = [each for each in flows if each.quic and each.quic.complete]
        unanswered, too_early = not any(each.packets_down for each in flows), self._too_early(flows)
        if not flows and not too_early:
            yield "by the capture no QUIC connection was begun"
        if flows and not whole and (unanswered or not self.evidence.broken_off):  # else its time was over first
            why = "nothing came back" if unanswered else "no handshake was complete"
            yield f"by the capture {len(flows)} QUIC connections were begun, and {why}"
        if self._fetched and not too_early and not any(each.protocol == H3 for each in self._fetched):
            yield f"by the {self._client} no request used h3"

    def _all_from_cache(self) -> bool:
        """Return whether nothing of the site's hosts had to come over the network. A browser connects all the same; but
        such a load may end before a handshake, where the round trip is long or the processor busy."""
        requests = self._site_requests
        return bool(requests) and all(each.from_cache for each in requests)

    def _too_early(self, flows: Sequence[FlowSummary]) -> bool:
        """Return whether the time of a load was over before anything was asked for that could have gone by HTTP/3: of
        hosts with a server of their own perhaps nothing at all. A browser that was told, and asks for more, begins a
        connection at once."""
        if not self.evidence.broken_off:
            return False
        if self.arm.h3_discovery != ALT_SVC:
            return not self._site_requests
        return len(self.excused()) == len(self._fetched) if flows else not_told(self._site_requests)

    def _names(self, flows: Sequence[FlowSummary]) -> Iterator[str]:
        """Yield what each handshake asked for and got. What is not known is the evidence's judge's."""
        hosts = set(self.site.hosts)
        for each in flows:
            quic, at = each.quic, f"port {each.client_port}"
            if quic is None:
                yield f"by the capture UDP of {at} to the server's QUIC begins no connection"
                continue
            if quic.server_name is not None and quic.server_name.lower() not in hosts:
                yield f"by the capture a QUIC connection was for {quic.server_name}, which is no host of the site, {at}"
            if quic.alpn_offered is not None and quic.alpn_offered != (H3,):
                offered = few(list(quic.alpn_offered)) or "nothing"
                yield f"by the capture {offered} was offered by ALPN within QUIC instead of h3, {at}"
            if quic.alpn_chosen is not None and quic.alpn_chosen != H3:
                yield f"by the capture the server chose {quic.alpn_chosen} by ALPN within QUIC, {at}"

    def _beside(self, flows: Sequence[FlowSummary]) -> Iterator[str]:
        """Yield TCP connections that carried what QUIC should have; and requests on no connection of the capture."""
        if self.arm.h3_discovery != ALT_SVC:
            used = [each for each in self.witnesses.captured or () if each.used and each.server_port == HTTPS]
            if used:
                ports = few([str(each.client_port) for each in used])
                yield f"by the capture {len(used)} TCP connections carried requests, port {ports}"
        whole = {each.ends for each in flows if each.quic and each.quic.complete}
        logged = {each.ends for each in self.witnesses.served_requests if _spoken(each) == H3}
        absent = sorted(logged.difference(*(each.names for each in whole)))
        if absent:
            listed = few(ports_of(absent, whole))
            yield f"{len(absent)} QUIC connections of the server's log are not in the capture: port {listed}"

    def _agree(self) -> Iterator[str]:
        """Yield what browser, or fetcher, and server say of each address."""
        counts = Counter((target(each), each.protocol) for each in self._fetched if each.before_load)
        addresses = {where for where, _ in counts}
        logged = Counter(
            ("".join(served_target(each)), _spoken(each))
            for each in self.witnesses.served_requests
            if "".join(served_target(each)) in addresses
        )
        known = {where for where, _ in logged}
        wrong = sorted({where for where, spoken in counts - logged if where in known and spoken in (H2, H3)})
        if wrong:
            yield f"{self._client} and server's log name different protocols for {few(wrong)}"

    # --- TLS, and what must not be

    def moved(self) -> Iterator[str]:
        """Yield connections that went on at another port or address."""
        for each in self.witnesses.quic or ():
            if each.quic is not None and each.quic.moved_from is not None:
                yield f"the QUIC connection of port {each.quic.moved_from} went on at port {each.client_port}"

    def early(self) -> Iterator[str]:
        """Yield a failure where data did not come ahead of the handshake's end as the arm says, by the capture."""
        known = [each.quic for each in self.witnesses.quic or () if each.quic is not None]
        if self.arm.protocol != H3:
            return
        sent = sum(each.early_packets > 0 for each in known)
        if not self.arm.early_data:
            if sent:
                yield f"by the capture {sent} of {len(known)} QUIC connections began with early data, which is off"
            return
        if known and not _first(known).early_packets:
            yield "by the capture the first QUIC connection sent no early data"
        refused = sum(each.early_packets > 0 and each.early_data_taken is False for each in known)
        if refused:
            yield f"by the capture the server refused the early data of {refused} QUIC connections"

    def tls(self) -> Iterator[str]:
        versions = {each.quic.tls_version for each in self.witnesses.quic or () if each.quic and each.quic.complete}
        wrong = versions - {None, f"TLS {self.arm.tls}"}
        if wrong:
            yield f"by the capture there was {few(sorted(map(str, wrong)))} within QUIC instead of TLS {self.arm.tls}"


def _first(known: Sequence[QuicSummary]) -> QuicSummary:
    """The one that could carry requests first."""
    return min(known, key=lambda each: each.ready_us or 1 << 62)


def _spoken(line: ServedRequest) -> str | None:
    return SERVED.get(line.protocol or "", line.protocol)
