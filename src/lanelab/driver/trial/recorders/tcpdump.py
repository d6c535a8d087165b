"""The recorder `capture`: tcpdump on nodes. It has begun when `start` returns, and has everything when `stop` does."""

import contextlib
import os
import re
import select
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.coded import Coded, JsonObject
from lanelab.driver.base.errors import BedError, InputError
from lanelab.driver.base.settings.kinds import Kind
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.base.settings.source import Written, read_known
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.base.units import Size
from lanelab.driver.bed.node import Command, Node, Stdio
from lanelab.driver.record.evidence.capture import CaptureCounts
from lanelab.driver.record.metrics import OVER_LINK
from lanelab.driver.record.reasons import Reason
from lanelab.driver.trial.recorders.recorder import Context, Recorder, Recording, Weight

READY_TIMEOUT_S = 15.0
STOP_TIMEOUT_S = 10.0
ASK_AGAIN_S = 0.003
STUCK_S = 0.2  # on loopback the kernel counts packets that libpcap leaves out: those never come
BUFFER_KIB = 16384  # some 10,000 frames: half a second of 200 Mbit/s while tcpdump is not running
# The answer to SIGUSR1 is one line. What tcpdump says when it ends has a line for each count, and is no answer.
COUNTS = re.compile(r"(\d+) packets? captured, (\d+) packets? received by filter, (\d+) packets? dropped by kernel")
LISTENING = "listening on"
SEGMENT, FRAME, PACKET_RECORD = 1448, 1514, 16  # bytes: TCP payload of a packet, the packet, its head in a capture
NODES = ("client", "server")
SMALLEST_SNAPLEN, LARGEST_SNAPLEN = 96, 262_144  # headers of Ethernet, IP and TCP with options; tcpdump's own most
HEADERS = 800  # bytes of a request and its response together


class RecordingError(BedError):
    """A capture did not start, or ended before it was stopped."""


class Capture:
    """A running tcpdump. Use: capture = Capture(node, file, snaplen).start(); …; counts = capture.stop()."""

    def __init__(
        self, node: Node, file: str, snaplen: int = 0, device: str = "eth0", without: int | None = None
    ) -> None:
        """`file` is of the node; `snaplen` 0 keeps whole packets; `without`: a port whose packets are left out."""
        self._node, self._file = node, file
        # Immediate: the kernel hands over each packet as it comes, and not a block of them after up to a second.
        # -U: what tcpdump has, the file has.
        options = ["--immediate-mode", "-U", "-n", "-B", str(BUFFER_KIB), "-s", str(snaplen)]
        self._argv = ["tcpdump", "-i", device, *options, "-w", file]
        self._argv += [f"not port {without}"] if without else []
        self._output = ""
        self._stderr = -1

    def start(self) -> "Capture":
        """Returns when packets are captured: tcpdump says so after its socket is bound."""
        self._stderr, stderr = os.pipe()
        try:
            self._process = self._node.spawn(Command(self._argv), Stdio(stderr=stderr))
        except BaseException:
            os.close(self._stderr)
            raise
        finally:
            os.close(stderr)
        if not self._read_until(lambda: LISTENING in self._output, scaled(READY_TIMEOUT_S)):
            why = self._last_words()
            self.kill()
            raise RecordingError(f"on {self._node.name}, tcpdump did not start: {why}", "Run: ./lanelab doctor")
        return self

    def stop(self) -> dict[str, int]:
        """End it; every packet that had come by now is in the file. captured, received, dropped."""
        until = time.monotonic() + scaled(STOP_TIMEOUT_S)
        try:
            counts = self._ask(until)
            # What had arrived when we asked first must be written; others may go on coming.
            arrived, progress = counts["received"], time.monotonic()
            while counts["captured"] + counts["dropped"] < arrived and time.monotonic() - progress < scaled(STUCK_S):
                time.sleep(ASK_AGAIN_S)
                before, counts = counts, self._ask(until)
                if counts["captured"] != before["captured"]:
                    progress = time.monotonic()
        finally:
            self.kill()
        return counts

    def fetch(self, target: Path) -> None:
        """Fetch what was captured, as a local file."""
        self._node.get(self._file, target)

    def kill(self) -> None:
        """Kill it at once. The file is whole nevertheless, up to a packet that was just being written."""
        with contextlib.suppress(OSError):
            os.close(self._stderr)
        self._process.signal(signal.SIGTERM)

    def _ask(self, until: float) -> dict[str, int]:
        """tcpdump answers SIGUSR1 with its counts. The answer of one that has ended is from before it ended."""
        self._output = ""
        self._process.signal(signal.SIGUSR1)
        self._read_until(lambda: bool(COUNTS.search(self._output)), until - time.monotonic())
        match = COUNTS.search(self._output)
        if not match or self._has_ended():
            raise RecordingError(
                f"on {self._node.name}, tcpdump ended before it was stopped, or hangs: {self._last_words()}",
                f"Is there room for {self._file}?",
            )
        return dict(zip(("captured", "received", "dropped"), map(int, match.groups()), strict=True))

    def _has_ended(self) -> bool:
        with contextlib.suppress(TimeoutError):
            self._process.wait(0)
            return True
        return False

    def _read_until(self, enough: Callable[[], bool], timeout_s: float) -> bool:
        """Read what it says until that is enough; False when it ended or the time is over."""
        until = time.monotonic() + timeout_s
        while not enough():
            ready, _, _ = select.select([self._stderr], [], [], max(until - time.monotonic(), 0))
            data = os.read(self._stderr, 65536) if ready else b""
            if not data:
                return False
            self._output += data.decode(errors="replace")
        return True

    def _last_words(self) -> str:
        return "; ".join(self._output.split("\n")[-3:]).strip("; ") or "it said nothing"


@dataclass(frozen=True, slots=True)
class CaptureOptions(Coded):
    """Says where packets are recorded, and how much of each."""

    nodes: tuple[str, ...] = ("client",)
    snaplen: int = 0  # bytes; 0: whole packets


@dataclass(frozen=True, slots=True)
class Captures(Coded):
    """The counts of tcpdump, by node."""

    by_node: Mapping[str, CaptureCounts]


def _snaplen(value: object, key: str) -> int:
    if value == "all":
        return 0
    size = Size.parse(value, key=key)
    if size and not SMALLEST_SNAPLEN <= size.bytes <= LARGEST_SNAPLEN:
        what = f"{size} of each packet cannot be kept: headers alone take up to {SMALLEST_SNAPLEN}B"
        raise InputError(what, f"Write {SMALLEST_SNAPLEN}B to {LARGEST_SNAPLEN}B, or all", key=key)
    return size.bytes


KEYS = Table(
    (
        Setting(
            "nodes",
            None,
            "",
            "where packets are recorded",
            "[client, server]",
            "`client`, `server`, both, or `off`",
            "`client`",
        ),
        Setting(
            "snaplen",
            Kind("SIZE", "`96B` to `262144B`, or `all`", _snaplen),
            "all",
            "how much of each packet is kept",
            "96B",
        ),
    )
)
_NODE: JsonObject = {"enum": ["client", "server"]}
_SOME_NODES: JsonObject = {"anyOf": [_NODE, {"type": "array", "items": _NODE, "minItems": 1}]}
SHAPE: JsonObject = {"anyOf": [{"enum": ["off", "client", "server"]}, _SOME_NODES, {"$ref": "#/definitions/capture"}]}
KEY_SHAPES: Mapping[str, JsonObject] = {"nodes": {"anyOf": [{"enum": ["off"]}, _SOME_NODES]}}


class Tcpdump(Recorder[CaptureOptions]):
    name = "capture"
    workloads = OVER_LINK
    options_type = CaptureOptions
    setting = Setting(
        "capture",
        None,
        "",
        "packets to record",
        "{nodes: [client, server], snaplen: 96B}",
        "`off`, nodes, or [keys](#capture)",
        "`client`, whole packets",
    )
    keys = KEYS
    shape = SHAPE
    key_shapes = KEY_SHAPES
    reason = Reason.CAPTURE_LOST_PACKETS
    starts_ahead = True

    def __init__(self, options: CaptureOptions) -> None:
        super().__init__(options)
        self._captures: dict[str, Capture] = {}

    @classmethod
    def read(cls, written: Written | None) -> CaptureOptions | None:
        """Read `off`, nodes, or a mapping."""
        if written is None:
            return CaptureOptions()
        entries = KEYS.entries(written) if written.is_mapping else {"nodes": written}
        snaplen = KEYS.values_of(entries)["snaplen"]
        if "nodes" not in entries:
            return CaptureOptions(snaplen=snaplen)
        nodes = entries["nodes"]
        if not nodes.is_list and nodes.text() == "off":
            if "snaplen" in entries:
                raise entries["snaplen"].error("it means nothing where nothing is recorded", "Leave it out")
            return None
        names = read_known(nodes, (*NODES, "off"), "node")
        if "off" in names:
            raise nodes.error("off and a node: which of the two?", "Write off alone, or nodes")
        return CaptureOptions(tuple(node for node in NODES if node in names), snaplen)

    @classmethod
    def has(cls, options: CaptureOptions, wanted: Coded | None) -> bool:
        return isinstance(wanted, CaptureOptions) and set(wanted.nodes) <= set(options.nodes)

    @classmethod
    def disk_bytes(cls, options: CaptureOptions, weight: Weight) -> float:
        carried = weight.bytes + HEADERS * weight.objects
        packets = carried / SEGMENT * 1.5  # half as many acknowledgements as segments
        whole = carried + packets * (FRAME - SEGMENT + PACKET_RECORD)
        return len(options.nodes) * min(whole, packets * ((options.snaplen or FRAME) + PACKET_RECORD))

    def start(self, context: Context) -> None:
        self._folder = context.folder
        for name in self.options.nodes:
            capture = Capture(
                context.nodes[name],
                f"{context.scratch}/{name}.pcap",
                self.options.snaplen,
                without=context.not_captured,
            )
            self._captures[name] = capture.start()

    def stop(self) -> Recording:
        """What a capture has is fetched even where tcpdump cannot say how much that is."""
        counts: dict[str, CaptureCounts] = {}
        first: BedError | None = None
        for name, capture in self._captures.items():
            file = f"{name}.pcap"
            try:
                try:
                    counted = capture.stop()
                finally:
                    capture.fetch(self._folder / file)
                counts[name] = CaptureCounts(file=file, **counted)
            except BedError as error:
                first = first or error
        self._captures.clear()
        if first:
            raise first
        return Recording(files=tuple(each.file for each in counts.values()), evidence=Captures(counts))

    def close(self) -> None:
        for capture in self._captures.values():
            with contextlib.suppress(BedError):
                capture.stop()
        self._captures.clear()
