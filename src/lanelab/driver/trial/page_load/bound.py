"""What no page load can beat on a link. Pure.

    look-up + TCP handshake + TLS handshake + request and answer + bytes that had to pass the bottleneck / rate

It must never be above a real load's time, or sound trials would be refused; so wherever something may be quicker than
it looks, the quick case is taken:

- Jitter can make a delay shorter, by four times its amount (netem's tables end there); reordering can skip it.
- A shaper that is no netem lets a burst pass at once.
- With TLS 1.2 a browser may send its request before the server's last message (False Start), so its handshake counts
  one round trip, as that of TLS 1.3.
- With QUIC the handshake counts one round trip, TLS included, and none with early data, as with any connection from the
  visit before. A browser that has to be told (`h3_discovery: alt-svc`) asks over TCP first.
- Handshakes, acknowledgements and requests count as one smallest frame for each way of a round trip.
- Through the gateway the same holds: what it knows before the browser has asked is nothing but names.
- An answer that is to wait (`answer_delay`) adds that, the page's own and the longest of the others; none in a repeat
  view, nor of what was recorded.
- Where rates change, bytes pass as the trace lets them; a radio's waits are not counted.
- Where hosts are not equally far, the page's own distance counts until it is there, and then the slowest of all hosts:
  a connection to it, a request and its answer. Nobody connects to a host before the page has named it.
- Bytes are those of answers that ended before the load event, in frames as full as they can be. Of each answer the
  least that client and server say is taken. What was lost, sent again or came later is not counted.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.units import NS_PER_S
from lanelab.driver.bed.routers.lateness import ROUTER_LATENESS
from lanelab.driver.link import HEADER, Direction, Link
from lanelab.driver.link.shaping.bottleneck import SHAPER_BURST, is_exact, wire_bps
from lanelab.driver.link.shaping.shaping import compensated
from lanelab.driver.record.evidence.browser import Request
from lanelab.driver.record.evidence.moving import MOST_LATE_US
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.evidence.server import ResolverLog
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.prepare.variant import RECORDED
from lanelab.driver.site.push_plan import OFF
from lanelab.driver.site.third_parties import RECORDED as RECORDED_TIMES
from lanelab.driver.site.third_parties import values_at
from lanelab.driver.trial.page_load.answer_bytes import answer_bytes, loaded
from lanelab.driver.trial.page_load.judges.moving import FASTER, SAVED_US
from lanelab.driver.trial.page_load.requests import host, target

US_PER_S = 1_000_000
TRACE_AHEAD_US, TRACE_STEP_US = 1_000_000, 20_000  # a trace begins at most so long before navigation
TCP_FRAME = HEADER + 20 + 20  # the smallest frame of a connection, without options
QUIC_FRAME = HEADER + 20 + 8 + 1 + 1 + 16  # the least beside data: IP, UDP, a short header, its number, the tag
COMPENSATION = max(ROUTER_LATENESS.values())  # the most that is taken off a delay because a router wakes late


def physical_bound(link: Link, arm: Arm, record: TrialRecord | None = None) -> float:
    """Milliseconds that the load in this record cannot have been faster than; without a record, any cold load."""
    answers = loaded(record)
    first, rest = _split(answers)
    to_page = quickest(link.to_host(host(first)) if first else link.usual)
    chains = _chains(link, to_page, arm, first, rest)
    evidence = record.page_load if record else None
    packets = evidence.packets.get("client") if evidence else None
    resolver = evidence.resolver if evidence else None
    before = trips_before_request(to_page, link.usual, arm, resolver, first)
    before += _longest_wait_ns(arm, [first] if first else [])
    late_us = evidence.moving.played.worst_late_us if evidence and evidence.moving else MOST_LATE_US

    def with_answers(begun: int, up: int, down: int, carried: Sequence[Request]) -> int:
        """Return when all of these are there; their own frames are among the bytes."""
        size = frames_bytes(answer_bytes(carried, record), packets, to_page)
        return begun + up + down + _passing_ns(link.usual, size, begun, late_us)

    # Any host's bytes may be the last.
    last_ns = min(_delay_ns(each.down) for each in (to_page, *(chain.link for chain in chains)))
    least = with_answers(before, _shortest_ns(to_page.up), last_ns, answers)
    if arm.start == "warm" or not rest:
        return milliseconds(least if answers or arm.start != "warm" else 0)
    # What the page names is asked for when the page is there: another round trip, which only the page can make use of.
    needed = before + trip_ns(to_page)
    entered = min(chain.before + _shortest_ns(chain.link.up) for chain in chains)
    together = with_answers(needed, entered, last_ns, rest)
    longest = max(
        with_answers(needed + chain.before, _shortest_ns(chain.link.up), _delay_ns(chain.link.down), answered)
        + (0 if answered else _longest_wait_ns(arm, chain.answers))
        for chain in chains
        for answered in (chain.answers, ())  # with all of their bytes, or with the longest that one had to wait
    )
    return milliseconds(max(least, together, longest))


class Chain(NamedTuple):
    """One host of those that the page names, and what is asked of it."""

    link: Link
    answers: Sequence[Request]
    before: int = 0  # ns until the first of them can be asked for, once the page is there


def _chains(link: Link, to_page: Link, arm: Arm, page: Request | None, rest: Sequence[Request]) -> list[Chain]:
    """Return what is asked of each host beside the page. Where hosts are equally far they may share connections, and
    those may be there already; else each has an address, and so connections, of its own."""
    if not link.distances:
        return [Chain(to_page, rest)]
    by_host: dict[str, list[Request]] = {}
    for each in rest:
        by_host.setdefault(host(each), []).append(each)
    chains = []
    for name, answers in by_host.items():
        way = quickest(link.to_host(name))
        open_already = page is not None and name == host(page)
        chains.append(Chain(way, answers, 0 if open_already else _trips_to_open(arm, answers) * trip_ns(way)))
    return chains


def _trips_to_open(arm: Arm, answers: Sequence[Request]) -> int:
    """Return how many round trips it takes until a host can be asked that nobody knew of before the page."""
    quic = any(_over_quic(arm, each) for each in answers)
    if quic and arm.early_data:
        return 0
    in_clear = arm.schemes == RECORDED and not all(each.url.startswith("https:") for each in answers)
    return 1 + (arm.tls != "off" and not in_clear and not quic)


def quickest(link: Link) -> Link:
    """Of a link that moves one that stands still, at its highest rates and its least delays."""
    if not link.moves:
        return link
    down, up = (replace(way.still, rate=way.fastest) for way in (link.down, link.up))
    return replace(link, down=down, up=up)


def _passing_ns(link: Link, size: int, since_ns: int, late_us: int) -> int:
    """Return how long the bottleneck down is busy with that many bytes, from some time after navigation on. A trace
    begins shortly before that; a step may have come late; the shaper may have saved up."""
    rates = link.down.rates
    if rates is None or size <= 0:
        return down_ns(quickest(link), size)
    together = rates.most * (SAVED_US + late_us) / US_PER_S + link.mtu + HEADER
    wanted = (size * 8 / FASTER - together) * US_PER_S
    if wanted <= 0:
        return 0
    begins = (ahead + since_ns / 1000 for ahead in range(0, TRACE_AHEAD_US, TRACE_STEP_US))
    return int(min(rates.until(rates.total(at) + wanted) - at for at in begins) * 1000)


def trip_ns(link: Link) -> int:
    """Return the shortest round trip of two smallest frames."""
    return _shortest_ns(link.down) + _shortest_ns(link.up)


def down_ns(link: Link, size: int) -> int:
    """Return how long the bottleneck down is busy with that many bytes of frames, at least."""
    way = link.down
    if way.rate is None or size <= 0:
        return 0
    burst = 0 if is_exact(way) else link.mtu + HEADER + way.rate.carries(SHAPER_BURST).bytes
    steady = max(0, size - burst) * 8 * NS_PER_S // way.rate.bps
    pace = _pace_bps(way)
    return max(steady, size * 8 * NS_PER_S // pace if pace else 0)


def _pace_bps(way: Direction) -> int | None:
    """Return the rate at which even a packet that finds the line idle is sent."""
    return None if way.skips_delay and not is_exact(way) else wire_bps(way)


def _shortest_ns(way: Direction) -> int:
    pace = _pace_bps(way)
    return _delay_ns(way) + (TCP_FRAME * 8 * NS_PER_S // pace if pace else 0)


def _delay_ns(way: Direction) -> int:
    """Return the shortest that a packet can be under way beside its time on the wire."""
    if way.skips_delay:
        return 0
    # tc takes whole microseconds, rounded
    return max(0, compensated(way.delay, COMPENSATION).ns - way.extra_delay.ns - 1000)


def trips_before_request(
    link: Link, to_resolver: Link, arm: Arm, resolver: ResolverLog | None, first: Request | None
) -> int:
    """Return how long it takes until the first request can be sent. `link`: to the page's host."""
    if arm.start == "warm":
        return 0  # the connection, and the address, may be there from the visit before
    in_clear = arm.schemes == RECORDED and not (first and first.url.startswith("https:"))  # by the site's own addresses
    trips = 1 + (arm.tls != "off" and not in_clear and not _over_quic(arm, first))
    names = {query.name.rstrip(".").lower() for query in resolver.queries} if resolver else set()
    looked_up = arm.dns == "resolver" and first is not None and host(first) in names
    return trips * trip_ns(link) + (trip_ns(quickest(to_resolver)) if looked_up else 0)


def _longest_wait_ns(arm: Arm, answers: Sequence[Request]) -> int:
    """Return how long the server thought about one of them. Where it pushes or hints at objects, these are on their way
    while it thinks about the page."""
    if arm.answer_delay == RECORDED_TIMES or arm.start == "warm" or arm.early_hints != OFF or arm.push != OFF:
        return 0
    waits = [values_at(arm.answer_delay, target(each)) for each in answers]
    return max((wait.ns for wait in waits if wait is not None), default=0)


def _over_quic(arm: Arm, first: Request | None) -> bool:
    """Return whether the first request went by QUIC; of a load that nobody knows, whether it could."""
    return first.protocol == "h3" if first is not None else arm.protocol == "h3"


def _split(answers: Sequence[Request]) -> tuple[Request | None, list[Request]]:
    """Return the page, and what it made the browser ask for."""
    page = next((each for each in answers if each.type.lower() == "document"), answers[0] if answers else None)
    rest = [each for each in answers if page is not None and each.started_ms > page.started_ms]
    return page, rest


def frames_bytes(payload: int, packets: PacketSummary | None, link: Link) -> int:
    """Return the least bytes of whole frames that carry that many bytes of answers."""
    headers = [each.header_down for each in packets.by_connection if each.header_down] if packets else []
    header = min([*headers, *([QUIC_FRAME] if packets and packets.quic else [])], default=TCP_FRAME)
    return payload + header * -(-payload // (link.mtu + HEADER - header))


def milliseconds(nanoseconds: int) -> float:
    return nanoseconds // 1000 / 1000
