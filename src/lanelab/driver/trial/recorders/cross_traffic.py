"""Cross traffic of a trial: bulk TCP flows over the link that begin before the load and end after it.

It has the life of a recorder, and is no row of the registry: whether there is cross traffic is a setting of the link.
"""

import json
import statistics
import time

from lanelab.driver.base.coded import Coded
from lanelab.driver.bed.remote.cross import ReceiverReport, SenderReport
from lanelab.driver.link import Link
from lanelab.driver.link.live.cross_flows import CrossFlows
from lanelab.driver.record.evidence.cross import CrossEvidence, CrossFlow, ProbeTimes
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight

NAME, FILE = "cross", "cross.json"
BITS, PERCENT = 8, 100


class _NoOptions(Coded):
    """The link has them."""


class Cross(Recorder[_NoOptions]):
    name = NAME
    reason = Reason.CROSS_MISSING

    def __init__(self, link: Link) -> None:
        super().__init__(_NoOptions())
        self._link = link
        self._flows: CrossFlows | None = None
        self._settled_s, self._ended = 0.0, False

    @classmethod
    def disk_bytes(cls, options: _NoOptions, weight: Weight) -> float:  # noqa: ARG003 - of a recorder
        return 0.0

    def start(self, context: Context) -> None:
        """Raises BedError. The load may begin when it returns: the flows have what they can get."""
        self._folder = context.folder
        self._flows = CrossFlows(self._link)
        self._flows.start(context.nodes)

    def load_begins(self) -> None:
        if self._flows:
            self._settled_s = time.monotonic() - self._flows.flowing_since_s
            self._flows.tell("begin")

    def load_ended(self) -> None:
        if self._flows:
            self._flows.tell("end")
        self._ended = True

    def stop(self) -> Recording:
        if not self._ended or self._flows is None:
            self.close()
            return Recording()  # there was no load, and the trial has failed already
        received, sent = self._flows.seen()
        idle_ms = self._flows.idle_ms
        self.close()
        (self._folder / FILE).write_text(json.dumps({"sender": sent, "receiver": received}))
        evidence = evidence_of(self._link, received, sent, idle_ms, self._settled_s)
        return Recording(files=(FILE,), measures=measures_of(self._link, evidence), evidence=evidence)

    def close(self) -> None:
        flows, self._flows = self._flows, None
        if flows:
            flows.close()


def evidence_of(
    link: Link, received: ReceiverReport, sent: SenderReport, idle_ms: float, settled_s: float
) -> CrossEvidence:
    """Return what both ends saw, flow by flow. The receiver takes flows in the order in which the sender opens them."""
    trips: dict[int, list[float]] = {}
    for _, number, rtt_us, *_ in sent["samples"]:
        trips.setdefault(number, []).append(rtt_us / 1000)
    ends = zip(sent["flows"], received["before"], received["bytes"], strict=False)  # a judge counts them
    flows = tuple(
        CrossFlow(
            congestion_control=flow["control"],
            bytes_before=before,
            bytes=got,
            retransmissions=flow["retransmissions"],
            rtt_ms=round(statistics.median(trips[number]), 3) if number in trips else None,
            ended=flow["ended"],
        )
        for number, (flow, before, got) in enumerate(ends)
    )
    times = sorted(took for _, took in received["answers"])
    probes = ProbeTimes(
        idle_ms=round(idle_ms, 3),
        sent=received["sent"],
        answered=len(times),
        median_ms=round(statistics.median(times), 3) if times else None,
        worst_95_ms=round(times[min(len(times) - 1, len(times) * 95 // 100)], 3) if times else None,
    )
    return CrossEvidence(link.cross.way, flows, round(settled_s, 3), received["load_s"], received["silence_s"], probes)


def measures_of(link: Link, seen: CrossEvidence) -> dict[str, float]:
    """Return measures by their names in driver/record/metrics.py."""
    bps = BITS * sum(flow.bytes for flow in seen.flows) / seen.load_s
    measures: dict[str, float] = {"cross_rate": bps}
    rate = link.down.rate if seen.way == "down" else link.up.rate
    if rate:
        measures["cross_share"] = PERCENT * bps / rate.bps
    trips = [flow.rtt_ms for flow in seen.flows if flow.rtt_ms is not None]
    if trips:
        measures["cross_rtt_ms"] = statistics.median(trips)
    probes = seen.probes
    for name, value in (("queueing_delay_ms", probes.median_ms), ("queueing_delay_95_ms", probes.worst_95_ms)):
        if value is not None:
            measures[name] = max(0.0, round(value - probes.idle_ms, 3))
    return measures
