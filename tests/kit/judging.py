"""What judges say of records that tests have made; and the tables of tests/bad/records, patched into sound records."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.packets import PacketSummary
from lanelab.driver.record.reasons import Failure, Reason
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES
from lanelab.driver.trial.page_load.expectation import Expected
from lanelab.driver.trial.page_load.judges.registry import judge
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.machine import ROOT
from tests.kit.quic_records import flow, quic_record
from tests.kit.records import SITE, Data, agree, ask, connection, record, request

LINK = Link.parse({"rtt": "40ms", "rate": "10mbit"})
HTTP = Arm.parse("http", {})
STRICT = Tolerances()
FOLDER = ROOT / "tests" / "bad" / "records"
SOUND: dict[str, Callable[[Arm], Data]] = {"page-load": record, "quic": quic_record}
AT_THE_TOP = {"record", "arms", "mistakes"}
KEYS = {"reason", "along", "arm", "change", "add", "remove", "ask", "connection", "flow", "alone", "says"}


def judged(
    data: Data,
    arm: Arm,
    *,
    packets: PacketSummary | None = None,
    allowed: Tolerances = STRICT,
    agreed: bool = True,
) -> list[Failure]:
    """Every failure of a trial of the tiny site. `agreed`: the server's log is made to say what the browser says."""
    data = copy.deepcopy(data)
    if packets:
        data["evidence"]["packets"]["client"] = packets.to_json()
        data["evidence"]["capture"]["client"].update(captured=packets.packets)
        for each in data["requests"]:  # captures that are made by hand carry no whole answers
            each["wire_bytes"] = min(each["wire_bytes"], 1)
    if data["evidence"]["server"] and agreed:
        agree(data, arm)
    coding = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}.get(arm.compression)
    texts = (replace(each, compressed=coding if each.mime in COMPRESSED_TYPES else None) for each in SITE.objects)
    site = replace(SITE, objects=tuple(texts))
    expected = Expected(arm, site, LINK, allowed, {"capture": CaptureOptions()})
    return judge(TrialRecord.from_json(data), expected)


@dataclass(frozen=True)
class Case:
    """What makes a sound record unsound, and what a judge says of it."""

    kind: str  # of the sound record
    arm: Arm = field(repr=False)
    arms: dict[str, Arm] = field(repr=False)
    reason: Reason
    along: frozenset[Reason]  # what judges say besides
    says: str
    alone: bool  # what the browser says does not change the log of the server
    patch: dict[str, Any]

    def record(self) -> Data:
        data = copy.deepcopy(SOUND[self.kind](self.arm))
        self.apply(data)
        return data

    def apply(self, data: Data) -> None:
        for pointer, value in self.patch.get("change", {}).items():
            for inside, step in _places(data, pointer):
                assert not isinstance(inside, dict) or step in inside, f"{pointer} is not in a record: `add` it"
                inside[step] = copy.deepcopy(value)
        for pointer, value in self.patch.get("add", {}).items():
            for inside, step in _places(data, pointer):
                inside[step] = copy.deepcopy(value)
        for pointer in self.patch.get("remove", []):
            for inside, step in _places(data, pointer):
                del inside[step]
        for each in self.patch.get("ask", []):
            ask(data, request(each["url"], 9, self.arm) | {k: v for k, v in each.items() if k != "url"}, self.arm)
        for each in self.patch.get("connection", []):
            self._add_connection(data["evidence"]["packets"]["client"], **each)
        for each in self.patch.get("flow", []):
            own = {"quic": None} if "quic" in each else {}
            settings = {key: value for key, value in each.items() if key != "quic"}
            data["evidence"]["packets"]["client"]["by_udp_flow"].append(flow(**settings).to_json() | own)

    def _add_connection(self, summary: Data, *, arm: str = "", client_port: int = 45000, **more: Any) -> None:
        """One that an arm would have; without an arm one beside the load, which says nothing that is known."""
        unknown = {} if arm else {"spoken_up": None, "spoken_down": None}
        made = connection(client_port, self.arms[arm] if arm else Arm.parse("clear", {}), **unknown, **more)
        summary["by_connection"].append(made.to_json())
        if not arm:
            summary["bytes"] += 43_000

    def failures(self) -> list[Failure]:
        return judged(self.record(), self.arm, agreed=self.kind == "page-load" and not self.alone)


def cases(name: str) -> list[Case]:
    """Read those of a file in tests/bad/records."""
    table = yaml.safe_load((FOLDER / f"{name}.yaml").read_text())
    assert table.keys() == AT_THE_TOP, f"{name}.yaml: {sorted(table)}"
    assert table["mistakes"], f"{name}.yaml has no mistakes"
    arms = {each: Arm.parse(each, settings) for each, settings in table["arms"].items()}
    return [_case(f"{name}.yaml: {each}", table["record"], arms, each) for each in table["mistakes"]]


def _case(place: str, kind: str, arms: dict[str, Arm], each: dict[str, Any]) -> Case:
    assert KEYS.issuperset(each), place
    assert each["says"], f"{place}: says nothing"
    assert each.get("alone", True) is True, f"{place}: `alone` is true, or not there"
    along = frozenset(map(Reason, each.get("along", [])))
    return Case(kind, arms[each["arm"]], arms, Reason(each["reason"]), along, each["says"], "alone" in each, each)


def _places(data: Any, pointer: str) -> Iterator[tuple[Any, Any]]:
    """Where `/requests/1/status` is. A star stands for every element of a list."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    if first == "*":
        steps: list[Any] = list(range(len(data)))
    else:
        steps = [int(first) if isinstance(data, list) else first]
    for step in steps:
        if rest:
            yield from _places(data[step], rest)
        else:
            yield data, step


def reasons(data: Data, arm: Arm = HTTP, **more: Any) -> list[Reason]:
    return [failure.reason for failure in judged(data, arm, **more)]
