"""An independent reader of captures, to compare ours with."""

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
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


SIDE = r"(?P<{0}>[\d.]+):(?P<{0}_port>\d+)"
AMOUNT = r"\s+(?P<{0}_packets>\d+)\s+[\d,]+\s*\w+"  # bytes are rounded there
CONVERSATION = re.compile(
    SIDE.format("a") + r"\s+<->\s+" + SIDE.format("b") + AMOUNT.format("to_a") + AMOUNT.format("to_b")
)


def conversations(file: Path) -> dict[int, tuple[int, int]]:
    """Of each TCP connection, by the client's port (the first to speak): packets up and down."""
    found = CONVERSATION.finditer(tshark(file, "-q", "-z", "conv,tcp"))
    return {int(match["a_port"]): (int(match["to_b_packets"]), int(match["to_a_packets"])) for match in found}


def sizes(file: Path) -> Counter[tuple[int, int]]:
    """Bytes of whole frames by source and destination port."""
    found: Counter[tuple[int, int]] = Counter()
    for source, target, size in fields(file, "tcp.srcport", "tcp.dstport", "frame.len", only="tcp"):
        found[int(source), int(target)] += int(size)
    return found


def sent_again(file: Path) -> Counter[int]:
    """Segments that tshark takes for sent again, by source port."""
    # Where it meets what closes a gap soon after other data it guesses that this was only out of order; where nothing
    # can overtake, it was sent again.
    repeated = "tcp.analysis.retransmission or tcp.analysis.out_of_order"
    return Counter(int(port) for (port,) in fields(file, "tcp.srcport", only=repeated))
