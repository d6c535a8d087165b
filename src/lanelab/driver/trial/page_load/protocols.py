"""The verdict on the wire of a trial: what was spoken, whether all who can know say the same. Pure.

How connections were used is asked in connection_use.py. Each claim is checked with every witness that can know of it.
"""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.gateway import log
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.arm.servers.server import TLS_NAMES
from lanelab.driver.record.evidence.ends import Ends, ports_of
from lanelab.driver.record.evidence.gateway import GatewayConnection, Push
from lanelab.driver.record.evidence.packets import Connection
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.evidence.server import ServedRequest
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.browser_log import BrowserTold
from lanelab.driver.trial.page_load.discovery import ALT_SVC
from lanelab.driver.trial.page_load.quic_verdict import OverQuic
from lanelab.driver.trial.page_load.requests import few, in_clear
from lanelab.driver.trial.page_load.requests import target as target_of
from lanelab.driver.trial.page_load.witnesses import Target, Witnesses, served_target, surplus, target

FIRST_BYTES = {"spdy/3.1": "spdy/3"}  # 3.1 begins like 3: what is new in it comes later
SERVER_NAMES = {"http/1.1": "HTTP/1.1", "h2": "HTTP/2.0", "h3": "HTTP/3.0"}


@dataclass(frozen=True, slots=True)
class Protocols:
    """The protocols that were spoken."""

    record: TrialRecord
    evidence: PageLoadEvidence
    arm: Arm
    site: Site
    witnesses: Witnesses
    led: Collection[str]  # addresses to which redirects led, those of other servers' hosts too

    def failures(self) -> Iterator[Failure]:
        browser, quic = self._browser, self._quic
        if self.witnesses.gateway:
            protocol, tls = [*self._protocol_by_gateway()], []
            mismatch = [*self._log(), *self._ports(), *self._targets()]
            if self.witnesses.before_gateway:
                mismatch += self._asked_of_the_gateway()
        else:
            protocol, tls = [*browser.protocol(quic.excused())], [*browser.tls()]
            mismatch = [*browser.targets(self.witnesses), *self._served_ports()]
        mismatch += self._unplaced()
        for reason, details in (
            (
                Reason.PROTOCOL_FALLBACK,
                [*protocol, *self._protocol_by_server(), *self._protocol_by_capture(), *quic.protocol()],
            ),
            (Reason.TLS_FALLBACK, [*tls, *self._tls(), *quic.tls()]),
            (Reason.EARLY_DATA_IGNORED, [*quic.early()]),
            (Reason.WIRE_MISMATCH, [*mismatch, *quic.moved()]),
        ):
            if details:
                yield Failure(reason, "; ".join(details))

    @property
    def _client(self) -> str:
        return self.witnesses.client

    @property
    def _browser(self) -> BrowserTold:
        return BrowserTold(self.record, self.evidence, self.arm, self.site, self.led)

    @property
    def _quic(self) -> OverQuic:
        return OverQuic(self.record, self.evidence, self.arm, self.site, self.witnesses)

    # --- the protocol

    def _protocol_by_server(self) -> Iterator[str]:
        served = self.witnesses.served_requests
        wrong = [each for each in served if not self._is_served_right(each)]
        if wrong:
            used = few(sorted({_served_words(each) for each in wrong}))
            yield f"by the server's log {len(wrong)} of {len(served)} requests used {used}, not {self.arm.protocol}"

    def _protocol_by_gateway(self) -> Iterator[str]:
        wanted, witnesses = self.arm.protocol, self.witnesses
        wrong = [each for each in witnesses.answered if each.protocol != wanted]
        if wrong:
            used = few(sorted({str(each.protocol) for each in wrong}))
            what = f"by the {self._client} {len(wrong)} of {len(witnesses.answered)} requests used {used}"
            yield f"{what} instead of {wanted}"
        for each in witnesses.connections:
            name = f"connection {each.connection} to {each.host}"
            if each.protocol not in (wanted, None, ""):
                yield f"by the {self._client} {name} spoke {each.protocol} instead of {wanted}"
            elif self.arm.tls != "off" and each.secured_ms is not None and not self._is_chosen(each.alpn):
                yield f"{name}: the server chose {each.alpn or 'nothing'} by ALPN instead of {wanted}"
            elif each.error and each.connected_ms is not None and self._has_no_answer(each):
                yield f"{name} broke down before any answer: {each.error}"

    def _is_chosen(self, alpn: str | None) -> bool:
        """For HTTP/1.1 a server need not choose anything."""
        return alpn == self.arm.protocol or (not alpn and self.arm.protocol == "http/1.1")

    def _has_no_answer(self, connection: GatewayConnection) -> bool:
        """Return whether a connection has no answer, and the browser's requests that waited for it have none either."""
        number, witnesses = connection.connection, self.witnesses
        wanted = {each.url for each in self.site.objects}
        harmed = any(each.error and not each.cancelled and each.url in wanted for each in witnesses.requests)
        return self.arm.multiplexed and harmed and not any(each.connection == number for each in witnesses.answered)

    def _is_served_right(self, line: ServedRequest) -> bool:
        if self.arm.spdy:
            return bool(line.spdy == self.arm.spdy)
        wanted = "http/1.1" if in_clear(self.arm, line.ends.server_port) else self.arm.protocol
        # Over HTTP/2 a browser is told of HTTP/3. Which requests may come so, the browser's judge says.
        learning = wanted == "h3" and self.arm.h3_discovery == ALT_SVC and line.protocol == SERVER_NAMES["h2"]
        return bool(not line.spdy and (learning or line.protocol == SERVER_NAMES[wanted]))

    def _protocol_by_capture(self) -> Iterator[str]:
        for each in self.witnesses.captured or ():
            wanted = self._first_bytes(each)
            for side, spoken, payload in (
                ("client", each.spoken_up, each.payload_up),
                ("server", each.spoken_down, each.payload_down),
            ):
                if payload and spoken not in (wanted, None):  # not known: its first bytes were lost
                    yield f"by the capture the {side} began with {spoken} instead of {wanted}, port {each.client_port}"
                    return
            offered = each.alpn_offered
            if offered is not None and not self._may_be_offered(offered):
                yield f"by the capture {few(list(offered)) or 'nothing'} was offered by ALPN"
                return

    def _first_bytes(self, connection: Connection) -> str:
        if in_clear(self.arm, connection.server_port):
            return "http/1.1"
        return "tls" if self.arm.tls != "off" else FIRST_BYTES.get(self.arm.protocol, self.arm.protocol)

    def _may_be_offered(self, offered: tuple[str, ...]) -> bool:
        """The gateway offers what the arm says. A browser always offers what it can; the server chooses."""
        wanted = "h2" if self.arm.protocol == "h3" else self.arm.protocol  # this is over TCP
        others = set(offered) - {wanted, "http/1.1"} if self.witnesses.gateway else set()
        return not others and (not self.arm.multiplexed or wanted in offered)

    # --- TLS

    def _tls(self) -> Iterator[str]:
        witnesses = self.witnesses
        wanted = None if self.arm.tls == "off" else f"TLS {self.arm.tls}"
        versions_by: tuple[tuple[str, list[tuple[str | None, str | None]]], ...] = (
            (f"the {witnesses.client}", [(each.tls, wanted) for each in witnesses.used]),
            (
                "the server's log",
                [(each.tls, self._logged_tls(each.ends.server_port)) for each in self._telling_of_tls],
            ),
            (
                "the capture",
                [
                    (_captured_tls(each, wanted), None if in_clear(self.arm, each.server_port) else wanted)
                    for each in witnesses.captured or ()
                    if each.payload_up
                ],
            ),
        )
        for who, versions in versions_by:
            wrong = {version or "no TLS" for version, right in versions if version != right}
            if wrong:
                yield f"by {who} there was {few(sorted(wrong))} instead of {wanted or 'no TLS'}"

    @property
    def _telling_of_tls(self) -> list[ServedRequest]:
        return [] if "tls" in self.witnesses.untold else self.witnesses.served_requests

    def _logged_tls(self, server_port: int) -> str | None:
        return None if self.arm.tls == "off" or in_clear(self.arm, server_port) else TLS_NAMES[self.arm.tls]

    # --- whether all say the same

    def _log(self) -> Iterator[str]:
        """Of a log with gaps the other checks would take for right what they do not see."""
        yield from log.gaps(self.evidence.gateway or log.parse(b""))

    def _ports(self) -> Iterator[str]:
        """Every connection to the server is one of the gateway's, and the other way round; by HTTP/3 those of QUIC."""
        if self.witnesses.captured is None:
            return
        ends = {each.connection: each.ends for each in self.witnesses.connections if each.ends}
        by_quic = (self.witnesses.quic or ()) if self.arm.protocol == H3 else ()
        captured = Counter(each.ends for each in self.witnesses.captured)
        captured.update(each.ends for each in by_quic)
        unknown = surplus(captured, Counter(ends.values()))
        if unknown and not self._given_up(unknown):
            listed = few(ports_of(unknown, captured))
            yield f"{len(unknown)} connections of the capture are not the {self._client}'s: port {listed}"
        answered = {each.connection for each in self.witnesses.answered}
        lost = surplus(Counter(ends[number] for number in answered if number in ends), captured)
        absent = [*ports_of(lost, ends.values()), *(f"of connection {each}" for each in answered - set(ends))]
        if absent:
            listed = few(absent)
            yield f"{len(absent)} of the {self._client}'s connections are not in the capture: port {listed}"

    def _served_ports(self) -> Iterator[str]:
        """Every connection that the server was asked on is in the capture."""
        if self.witnesses.captured is None:
            return
        captured = {each.ends for each in self.witnesses.captured}
        captured |= {each.ends for each in self.witnesses.quic or ()}
        absent = sorted(set(self.witnesses.served_by_connection()).difference(*(each.names for each in captured)))
        if absent:
            listed = few(ports_of(absent, captured))
            yield f"{len(absent)} connections of the server's log are not in the capture: port {listed}"

    def _unplaced(self) -> Iterator[str]:
        """Yield lines of a log that leaves the client's ports to the capture, of which that does not tell the
        connection."""
        lines = self.evidence.server.unplaced if self.evidence.server and self.witnesses.captured is not None else ()
        if lines:
            named = [f"{each.method} {each.path or '-'} ({each.status}): {each.why}" for each in lines]
            yield f"the capture does not tell the connection of {len(lines)} lines of the server's log: {few(named)}"

    def _given_up(self, unknown: list[Ends]) -> bool:
        """Return whether these are connections that the gateway ended while it still made them: it names no port of
        theirs."""
        silent = {each.ends for each in self.witnesses.captured or () if not each.payload_up}
        nameless = sum(not each.local for each in self.witnesses.connections)
        return silent.issuperset(unknown) and len(unknown) <= nameless

    def _targets(self) -> Iterator[str]:
        """What the gateway says was answered the server has answered, on the same connection with the same status. What
        the server was asked beside that the gateway has asked, and given up or sent again."""
        ends = self.witnesses.ends_of()
        answered = Counter(
            (ends.get(each.connection or 0), each.status, target(each.url)) for each in self.witnesses.answered
        )
        served = Counter((each.ends, each.status, served_target(each)) for each in self.witnesses.served)
        missing = surplus(answered, served)
        if self._browser.broken_off:
            known = {each[2] for each in served}
            missing = [each for each in missing if each[2] in known]
        if missing:
            yield f"the server's log lacks {few([_words(*each) for each in missing])}"
        answered += Counter((ends.get(each.connection), each.status, target(each.url)) for each in self._unused_pushes)
        unfinished = {target(each.url) for each in self.witnesses.pushes if each.refused or each.error}
        unfinished |= {target(each.url) for each in self.witnesses.requests if each.status is None or each.tries > 1}
        strange = [each for each in surplus(served, answered) if each[2] not in unfinished]
        if strange:
            yield f"the {self._client} does not tell of {few([_words(*each) for each in strange])}"

    @property
    def _unused_pushes(self) -> list[Push]:
        """Answers that came without a request, and of which none had use."""
        return [each for each in self.witnesses.pushes if each.status is not None and each.adopted_by is None]

    def _asked_of_the_gateway(self) -> Iterator[str]:
        """What came to the browser came through the gateway. It may have asked for more, whose answers it did not
        await."""
        loaded = Counter(target_of(each) for each in self._browser.fetched)
        passed = Counter("".join(target(each.url)) for each in self.witnesses.requests)
        missing = surplus(loaded, passed)
        if missing:
            yield f"the browser loaded what the gateway does not tell of: {few(missing)}"


def resumption(arm: Arm, witnesses: Witnesses) -> Iterator[Failure]:
    """Yield a failure where a session was resumed that must not be, in any arm."""
    if arm.tls == "off" or arm.tls_resumption:
        return
    resumed_by = (
        (f"the {witnesses.client}", [each.tls_resumed for each in witnesses.connections]),
        ("the server's log", [bool(each.tls_resumed) for each in witnesses.served]),
        ("the capture", [bool(each.tls_resumed) for each in witnesses.captured or ()]),
        ("the capture, within QUIC,", [bool(each.quic and each.quic.tls_resumed) for each in witnesses.quic or ()]),
    )
    counts = [f"by {who} {sum(resumed)} of {len(resumed)}" for who, resumed in resumed_by if any(resumed)]
    if counts:
        what = "connections or requests were of a resumed session, which must not be"
        yield Failure(Reason.RESUMPTION_IGNORED, f"{', '.join(counts)} {what}")


def _captured_tls(connection: Connection, wanted: str | None) -> str | None:
    """What is not to be seen is taken for right: with a short snap length the version is not."""
    if not connection.tls:
        return None
    return connection.tls_version or wanted or "TLS"


def _served_words(line: ServedRequest) -> str:
    return f"spdy/{line.spdy}" if line.spdy else str(line.protocol)


def _words(ends: Ends | None, status: int, target: Target) -> str:
    return f"{''.join(target)} ({status}, port {ends.client_port if ends else None})"
