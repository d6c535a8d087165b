"""An independent reader of captures, to compare ours with."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")


def tshark(file: Path, *options: str) -> str:
    done = subprocess.run(
        ["tshark", "-n", "-r", str(file), *options], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fields(file: Path, *names: str, only: str = "", options: Sequence[str] = ()) -> list[tuple[str, ...]]:
    """Of each packet the values of these fields."""
    wanted = [word for name in names for word in ("-e", name)]
    chosen = ["-Y", only] if only else []
    lines = tshark(file, *options, *chosen, "-T", "fields", *wanted).splitlines()
    return [tuple(line.split("\t")) for line in lines]


@dataclass(frozen=True, slots=True)
class Segment:
    """What tshark says of a packet of TCP."""

    stream: int
    source: int  # port
    target: int
    frame_bytes: int
    sent_again: bool
    is_probe: bool


def segments(file: Path) -> list[Segment]:
    """Start tshark once: that is what takes its time."""
    numbers = ("tcp.stream", "tcp.srcport", "tcp.dstport", "frame.len")
    # Where it meets what closes a gap soon after other data it guesses that this was only out of order; where nothing
    # can overtake, it was sent again.
    repeated = ("tcp.analysis.retransmission", "tcp.analysis.out_of_order")
    probes = ("tcp.analysis.keep_alive", "tcp.analysis.zero_window_probe")
    return [
        Segment(int(row[0]), int(row[1]), int(row[2]), int(row[3]), any(row[4:6]), any(row[6:]))
        for row in fields(file, *numbers, *repeated, *probes, only="tcp")
    ]


def conversations(seen: Sequence[Segment]) -> dict[int, tuple[int, int]]:
    """Of each TCP connection, by the client's port (the first to speak): packets up and down."""
    clients: dict[int, int] = {}
    for each in seen:
        clients.setdefault(each.stream, each.source)
    ways = Counter((each.stream, each.source == clients[each.stream]) for each in seen)
    return {client: (ways[stream, True], ways[stream, False]) for stream, client in clients.items()}


def sizes(seen: Sequence[Segment]) -> Counter[tuple[int, int]]:
    """Bytes of whole frames by source and destination port."""
    by_ports: Counter[tuple[int, int]] = Counter()
    for each in seen:
        by_ports[each.source, each.target] += each.frame_bytes
    return by_ports


def sent_again(seen: Sequence[Segment]) -> Counter[int]:
    """Segments that tshark takes for sent again, by source port."""
    return Counter(each.source for each in seen if each.sent_again)
