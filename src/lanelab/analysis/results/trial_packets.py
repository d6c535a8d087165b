"""The packets of a trial's requests as a command, a script or a page shows them: by tshark, with times since the page
was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.dissection import dissect
from lanelab.analysis.results.load_clock import ends_of
from lanelab.analysis.results.load_parts import LoadFacts
from lanelab.analysis.results.request_packets import REQUEST, RESPONSE, Carried, Dissected, RequestPacket
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import CaptureError, InputError, MissingProgram
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import unchanged_artifacts
from lanelab.driver.run.folder.trial_records import read_record

CAPTURE = "client.pcapng.gz"
WHOLE_PACKET = 1514  # bytes of a frame as Ethernet has it
US_OF_MS = 1000


@dataclass(frozen=True, slots=True)
class RequestSummary(Coded):
    """One request on the wire. Times: of its own first and last packet; None where none is known."""

    request: int
    url: str
    client_port: int | None
    connection: int | None
    stream: int | None
    first_ms: float | None
    last_ms: float | None
    packets: int
    shared: int  # with other requests
    sent_again: int


@dataclass(frozen=True, slots=True)
class PacketLine(Coded):
    """One packet of a request."""

    number: int
    ms: float
    up: bool
    bytes: int
    payload: int
    role: str
    shared: bool
    sent_again: bool
    protocol: str
    summary: str


class TrialPackets:
    """The packets of one trial."""

    def __init__(self, folder: Path, trial: int) -> None:
        """Raises InputError, CaptureError or MissingProgram where they cannot be told."""
        record = read_record(folder, trial)
        page = record.page_load
        if page is None or page.clock is None:
            remedy = f"lanelab show RUN --trial {trial} says what it did"
            raise InputError(f"trial {trial} has asked for no page", remedy)
        self._trial, self._asked_us = trial, page.clock.asked
        self._dissected = _dissected(folder, trial, record, page)
        self.shared = self._dissected.shared()

    def overview(self) -> list[RequestSummary]:
        """Return a line for each request."""
        places = range(len(self._dissected.requests))
        return [self.summary(self._dissected.request(place)) for place in places]

    def carried(self, number: int) -> Carried:
        """Return where the request went, with its packets. Raises InputError or CaptureError where there is none."""
        many = len(self._dissected.requests)
        if number > many:
            remedy = f"Its requests: {f'1 to {many}' if many else 'none'}"
            raise InputError(f"trial {self._trial} has no request {number}", remedy, key="--request")
        carried = self._dissected.request(number - 1)
        if not carried.packets:
            raise self._dissected.why_not(number - 1)
        return carried

    def summary(self, carried: Carried) -> RequestSummary:
        exchanged = carried.of(REQUEST, RESPONSE)
        return RequestSummary(
            request=carried.number,
            url=carried.request.url,
            client_port=carried.ends.client_port if carried.ends else None,
            connection=carried.connection,
            stream=carried.stream,
            first_ms=self._ms(exchanged[0].at_us) if exchanged else None,
            last_ms=self._ms(exchanged[-1].at_us) if exchanged else None,
            packets=len(carried.packets),
            shared=sum(frame.number in self.shared for frame in exchanged),
            sent_again=sum(packet.frame.again for packet in carried.packets),
        )

    def lines(self, carried: Carried) -> list[PacketLine]:
        return [self._line(packet) for packet in carried.packets]

    def _line(self, packet: RequestPacket) -> PacketLine:
        frame = packet.frame
        return PacketLine(
            number=frame.number,
            ms=self._ms(frame.at_us),
            up=frame.up,
            bytes=frame.bytes,
            payload=frame.payload,
            role=packet.role,
            shared=frame.number in self.shared,
            sent_again=frame.again,
            protocol=frame.protocol,
            summary=frame.info,
        )

    def _ms(self, at_us: float) -> float:
        return (at_us - self._asked_us) / US_OF_MS


def _dissected(folder: Path, trial: int, record: TrialRecord, page: PageLoadEvidence) -> Dissected:
    capture = unchanged_artifacts(folder, trial, (CAPTURE,)) / CAPTURE
    summary = page.packets.get("client")
    if summary is None or not capture.is_file():
        raise InputError(f"trial {trial} has no capture of the client", "Captures are off, or its files were removed")
    if summary.snaplen < WHOLE_PACKET:
        short = f"{summary.snaplen} bytes of each packet were captured, too few to look into them"
        raise CaptureError(f"of trial {trial} only {short}", "Leave `snaplen` of `capture` out, and run it again")
    program = find("tshark")
    if program is None:
        raise MissingProgram("tshark is not installed", "Install Wireshark's package `tshark`")
    facts = LoadFacts.of(record)
    quic = any(each.protocol == "h3" for each in facts.requests)
    frames = dissect(program, capture, decoded_as(facts.requests), quic=quic)
    return Dissected(frames, facts.requests, ends_of(facts))


def decoded_as(requests: Sequence[Request]) -> str | None:
    """Return what tshark has to be told of connections in clear; None: nothing."""
    if any(each.wire and each.wire.protocol == "spdy/2" for each in requests):
        remedy = "See gateway.jsonl.gz of the trial, or measure with protocol: spdy/3"
        raise CaptureError("tshark dissects SPDY/3, not SPDY/2, so it cannot tell these requests apart", remedy)
    carried = [each.wire for each in requests if each.wire and each.wire.connection is not None]
    clear = {each.protocol for each in carried if each.tls is None}
    if len(clear) > 1:
        what = f"hosts of this trial speak {' and '.join(sorted(clear))} in clear, and tshark takes one for all of them"
        raise CaptureError(f"{what}, so it cannot tell these requests apart", "Measure with TLS, whose ALPN tells it")
    return "spdy" if any(each.startswith("spdy") for each in clear) else "http2" if "h2" in clear else None
