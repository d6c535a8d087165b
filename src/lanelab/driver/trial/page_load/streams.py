"""The verdict on streams: windows, limits and priorities are those that the arm asks for, and what is pushed is what it
asks for. Pure. And what streams cost and how they took turns, as measures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.quic_stacks import H3
from lanelab.driver.record.evidence.gateway import GatewayConnection, GatewayLog, Push, Streams
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.site.push_plan import pushed_paths
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.requests import few
from lanelab.driver.trial.page_load.witnesses import Witnesses

WINDOW, CONNECTION_WINDOW, MOST, PUSH = (
    "initial_window_size",
    "connection_window",
    "max_concurrent_streams",
    "enable_push",
)
UNSAID_WEIGHT, USUAL_URGENCY = 16, 3
OK = 200
USUAL_OF_SPDY = {"spdy/2": 2}  # the number of the usual urgency, where it is another


@dataclass(frozen=True, slots=True)
class StreamsVerdict:
    arm: Arm
    site: Site
    witnesses: Witnesses
    broken_off: bool = False  # the load came to no end, so that what is missing may still have been to come

    def failures(self) -> Iterator[Failure]:
        if not self.witnesses.gateway or not self.arm.multiplexed:
            return
        wrong = [*self._settings(), *self._under_way(), *self._priorities()]
        if wrong:
            yield Failure(Reason.STREAM_SETTINGS, few(wrong, 4))
        yield from self._pushes()

    def _settings(self) -> Iterator[str]:
        """Yield what each side told the other, by the gateway's log. HTTP/3 has it in QUIC's handshake, and no arm
        asks for anything there."""
        if self.arm.protocol == H3:
            return
        for each in self._used:
            if each.streams is None:
                yield f"connection {each.connection} does not tell of its streams"
                continue
            for name, wanted in self._settings_wanted().items():
                actual = each.streams.told.get(name)
                if actual != wanted:
                    yield f"on connection {each.connection} the server was told {name} {actual} instead of {wanted}"
            if self.arm.protocol == "h2" and not each.streams.acknowledged and self._answered(each):
                yield f"on connection {each.connection} the server did not acknowledge the settings"
            yield from self._heard(each, each.streams)

    @property
    def _used(self) -> list[GatewayConnection]:
        return [each for each in self.witnesses.used if each.error is None]

    def _answered(self, connection: GatewayConnection) -> bool:
        return any(each.connection == connection.connection for each in self.witnesses.answered)

    def _settings_wanted(self) -> dict[str, int]:
        arm = self.arm
        settings = {WINDOW: arm.stream_window} if arm.protocol != "spdy/2" else {}
        if arm.protocol in ("h2", "spdy/3.1"):
            settings[CONNECTION_WINDOW] = arm.connection_window
        if arm.protocol == "h2":
            settings[PUSH] = int(arm.push != "off")
        return settings

    def _heard(self, connection: GatewayConnection, streams: Streams) -> Iterator[str]:
        wanted, accepted = self.arm.server_max_streams, streams.heard.get(MOST)
        if wanted and accepted != wanted and self._answered(connection):
            yield f"on connection {connection.connection} the server takes {accepted} streams instead of {wanted}"

    def _under_way(self) -> Iterator[str]:
        limits = [limit for limit in (self.arm.max_concurrent_streams, self.arm.server_max_streams) if limit]
        # Before the server's SETTINGS come a client may have more under way than the server takes.
        for each in self._used:
            if each.most_in_flight > self.arm.max_concurrent_streams:
                yield (
                    f"connection {each.connection} had {each.most_in_flight} requests under way, "
                    f"and no more than {min(limits)} were asked for"
                )

    def _priorities(self) -> Iterator[str]:
        if self.arm.priorities == "chromium":
            return
        usual = USUAL_OF_SPDY.get(self.arm.protocol, USUAL_URGENCY) if self.arm.spdy else UNSAID_WEIGHT
        wanted = usual if self.arm.priorities == "flat" else None
        wrong = [each for each in self.witnesses.answered if not each.pushed and each.wire_priority != wanted]
        if wrong:
            priorities = ", ".join(sorted({str(each.wire_priority) for each in wrong}))
            yield f"{len(wrong)} requests were sent with the priority {priorities} instead of {wanted}"

    def _pushes(self) -> Iterator[Failure]:
        """Yield what is wrong with pushes: each one asked for is promised and comes, and no other is."""
        wanted = {self.site.entry_host + path for path in pushed_paths(self.site, self.arm.push)}
        promised = {each.url for each in self.witnesses.pushes}
        missing = [] if self.broken_off else sorted(wanted - promised)
        broken = [
            f"{each.url} ({each.error or each.status})"
            for each in self.witnesses.pushes
            if each.url in wanted and not each.refused and self._is_broken(each)
        ]
        if missing or broken:
            words = [
                *(["not promised: " + few(missing)] * bool(missing)),
                *(["broken off: " + few(broken)] * bool(broken)),
            ]
            yield Failure(Reason.PUSH_MISSING, "; ".join(words))
        unasked = sorted(promised - wanted)
        refused = sum(each.streams.refused_pushes for each in self.witnesses.connections if each.streams)
        if unasked or refused:
            words = [*([few(unasked)] * bool(unasked)), *([f"{refused} that were refused"] * bool(refused))]
            yield Failure(Reason.PUSH_UNASKED, f"the server pushed what nobody asked for: {', '.join(words)}")

    def _is_broken(self, push: Push) -> bool:
        """Return whether it came to no good answer. Where the load came to no end one may still have been to come."""
        if self.broken_off:
            return push.status not in (None, OK)
        return bool(push.error) or push.status != OK


def stream_measures(log: GatewayLog | None) -> Mapping[str, float]:
    """Return how streams took turns, and what was pushed, where the log tells of streams."""
    streams = [each.streams for each in log.connections if each.streams] if log else []
    if log is None or not streams:
        return {}
    unused = [each for each in log.pushes if each.adopted_by is None]
    return {
        "data_frames": sum(each.data_frames for each in streams),
        "stream_switches": sum(each.switches for each in streams),
        "pushed_objects": len(log.pushes),
        "pushed_bytes": sum(each.body_bytes for each in log.pushes),
        "pushed_unused_bytes": sum(each.body_bytes for each in unused),
    }
