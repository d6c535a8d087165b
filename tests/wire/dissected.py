"""What tshark's SPDY dissector, written by others from the same drafts, makes of a recording."""

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

COMPLAINTS = (
    "_ws.malformed || spdy.inflation_failed || spdy.type.invalid || spdy.goaway.invalid || "
    "spdy.rst_stream.invalid || spdy.malformed.frame_data || spdy.malformed.setting_frame || "
    "_ws.expert.severity >= 6291456"
)
# Putting bodies together again is no matter of SPDY, and where they are text tshark 4.0 fails at it in its own code.
FRAMES_ONLY = ("-o", "spdy.assemble_data_frames:FALSE")


@dataclass(frozen=True, slots=True)
class Dissection:
    complaints: list[str]
    frames: Counter[str]  # of each type; "data" for DATA


def dissect(tshark: Path, pcap: Path, port: int) -> Dissection:
    """Of the connections to that port."""
    whole = Dissection([], Counter())
    for file in _connections(tshark, pcap, port):
        whole.complaints.extend(_run(tshark, file, port, "-Y", COMPLAINTS))
        whole.frames.update(_frames(tshark, file, port))
    return whole


def priorities(tshark: Path, pcap: Path, port: int) -> dict[int, int]:
    """What clients gave the streams that they opened, on the only connection to that port."""
    lines = _run(tshark, pcap, port, "-O", "spdy", "-Y", f"tcp.dstport == {port} && spdy.type == 1")
    found: dict[int, int] = {}
    stream = 0
    for line in lines:
        if opening := re.match(r"SPDY: SYN_STREAM[^,]*, Stream: (\d+)", line):
            stream = int(opening.group(1))
        elif priority := re.search(r"= Priority: (\d+)", line):
            found[stream] = int(priority.group(1))
    return found


def _connections(tshark: Path, pcap: Path, port: int) -> list[Path]:
    """A file for each: with two in one file, tshark 4.0 fails at the second's header compression and not at the same
    packets alone."""
    opening = f"tcp.dstport == {port} && tcp.flags.syn == 1"
    numbers = _run(tshark, pcap, port, "-Y", opening, "-T", "fields", "-e", "tcp.stream")
    if len(numbers) == 1:
        return [pcap]
    files = [pcap.with_name(f"{pcap.name}-{number}") for number in numbers]
    for number, file in zip(numbers, files, strict=True):
        _run(tshark, pcap, port, "-Y", f"tcp.stream == {number}", "-w", str(file))
    return files


def _run(tshark: Path, pcap: Path, port: int, *more: str) -> list[str]:
    command = [str(tshark), "-n", "-r", str(pcap), *FRAMES_ONLY, "-d", f"tcp.port=={port},spdy", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    return done.stdout.splitlines()


def _frames(tshark: Path, pcap: Path, port: int) -> Counter[str]:
    lines = _run(tshark, pcap, port, "-Y", "spdy", "-T", "fields", "-e", "spdy.control_bit", "-e", "spdy.type")
    count: Counter[str] = Counter()
    for line in lines:
        bits, types = (part.split(",") if part else [] for part in line.split("\t"))
        count.update(f"control {kind}" for kind in types)
        count["data"] += sum(bit in {"0", "False"} for bit in bits)
    return count
