"""Traces in files: CSV of seconds and values, and Mahimahi's list of moments. Pure: text in, trace out.

CSV: lines `seconds,value`, where a header names the value: `seconds,mbit`, `seconds,kbit`, `seconds,bit` or
`seconds,ms`; each value holds until the next line's time. The last line has a time and the word `end`. Lines that begin
with # are comments.

Mahimahi: each line is a whole number of milliseconds, at which a packet of 1500 bytes may pass (1504 with Mahimahi's
own header). They become rates of steps of 100 ms, as many frames of 1514 bytes as there are lines in each step.
"""

from collections import Counter
from fractions import Fraction

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.link.kinds import HEADER
from lanelab.driver.link.moving.trace import SHORTEST_STEP, Trace, What, trace_of

SCALES = {"mbit": 1_000_000, "kbit": 1000, "bit": 1}
END = "end"
PACKET = 1500  # bytes of IP at each of Mahimahi's moments
DEFAULT_STEP = Duration.parse("100ms")
MOST_LINES = 5_000_000
CSV_LIKE = (
    "A CSV file begins with seconds,mbit (or seconds,ms), goes on with lines like 0.5,3.2 and finishes with 60,end"
)


def read_trace(text: str, name: str, what: What, *, source: str, step: Duration | None = None) -> Trace:
    """Read the text of a trace. `source` is what errors call the file; `step` is for Mahimahi's, `DEFAULT_STEP` unless
    the user chose one."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    if not lines:
        raise InputError("the trace is empty", CSV_LIKE, place=source)
    if len(lines) > MOST_LINES:
        raise InputError(f"the trace has more than {MOST_LINES} lines", "Take a part of it", place=source)
    if "," in lines[0][1]:
        if step is not None:
            what_is = "a CSV file has steps of its own: only files of Mahimahi's are cut into steps"
            raise InputError(what_is, "Leave step out", key="step", place=source)
        return _csv(lines, name, what, source)
    if what == "delay":
        raise InputError("a trace of delays is a CSV file", CSV_LIKE, place=source)
    return _mahimahi(lines, name, source, step or DEFAULT_STEP)


def what_is_told(text: str) -> What:
    """Return which values a file says that it has. Mahimahi's have rates."""
    lines = (line.strip() for line in text.splitlines())
    header = next((line for line in lines if line and not line.startswith("#")), "")
    return "delay" if header.lower().replace(" ", "") == "seconds,ms" else "rate"


def _csv(lines: list[tuple[int, str]], name: str, what: What, source: str) -> Trace:
    scale = _scale(lines[0][1], what, source)
    steps: list[tuple[int, int]] = []
    length: int | None = None
    for number, line in lines[1:]:
        where = f"{source}, line {number}"
        if length is not None:
            raise InputError(f"there is a line behind the one with '{END}'", "Remove it", place=where)
        time, comma, value = (part.strip() for part in line.partition(","))
        if not comma:
            raise InputError(f"{line[:40]!r} is not a time and a value", CSV_LIKE, place=where)
        at = _number(time, 1_000_000, where)
        if not steps and at:
            raise InputError(f"the first step begins at {time} s", "Begin at 0: a trace has no gaps", place=where)
        if steps and at <= steps[-1][0]:
            what_is = f"the time {time} is not after the one before, {steps[-1][0] / 1e6:g}"
            raise InputError(what_is, "Times rise from line to line", place=where)
        if value == END:
            length = at
        else:
            steps.append((at, _number(value, scale, where)))
    if length is None or not steps:
        raise InputError("the trace does not say when it ends", CSV_LIKE, place=source)
    return trace_of(what, name, steps, length, place=source)


def _scale(header: str, what: What, source: str) -> int:
    scales = SCALES if what == "rate" else {"ms": 1000}
    time, _, unit = (part.strip().lower() for part in header.partition(","))
    if time != "seconds" or unit not in scales:
        wanted = " or ".join(f"seconds,{name}" for name in scales)
        raise InputError(f"its first line is {header[:40]!r}", f"Begin a trace of {what}s with {wanted}", place=source)
    return scales[unit]


def _number(text: str, scale: int, where: str) -> int:
    if text.startswith("-"):
        raise InputError(f"{text[:40]} is negative", "Write 0 or more", place=where)
    if not text.replace(".", "", 1).isascii() or not text.replace(".", "", 1).isdigit() or len(text) > 24:
        raise InputError(f"{text[:40]!r} is no number", "Write digits, with a point for decimals", place=where)
    return round(Fraction(text) * scale)


def _mahimahi(lines: list[tuple[int, str]], name: str, source: str, step: Duration) -> Trace:
    step_ms = step.ns // 1_000_000
    if step_ms * 1_000_000 != step.ns or not step_ms:
        raise InputError(f"a step of {step} is no whole number of milliseconds", "Write one like 100ms", key="step")
    last = 0
    packets: Counter[int] = Counter()
    for number, line in lines:
        where = f"{source}, line {number}"
        if not (line.isascii() and line.isdigit()) or len(line) > 12:
            what = f"{line[:40]!r} is no moment in milliseconds"
            raise InputError(what, "Mahimahi's files have one whole number a line. " + CSV_LIKE, place=where)
        if int(line) < last:
            raise InputError(f"{line} ms is before the moment above it, {last} ms", "Moments never fall", place=where)
        last = int(line)
        packets[max(0, last - 1) // step_ms] += 1
    # Mahimahi begins again at the time of the last moment. What is left of a step there belongs to the one before.
    count = max(1, last // step_ms if last % step_ms < SHORTEST_STEP.ns // 1_000_000 else -(-last // step_ms))
    bits, steps = (PACKET + HEADER) * 8 * 1000, []
    for at in range(count):
        end = last if at == count - 1 else (at + 1) * step_ms
        moments = sum(packets[each] for each in (at, count)) if at == count - 1 else packets[at]
        steps.append((at * step_ms * 1000, moments * bits // max(1, end - at * step_ms)))
    return trace_of("rate", name, steps, last * 1000, place=source)


def csv_of(trace: Trace, about: str = "") -> str:
    """The canonical CSV; `about` becomes its comment."""
    unit, scale = ("kbit", 1000) if trace.what == "rate" else ("ms", 1000)
    rows = [f"# {line}" for line in about.splitlines()]
    rows.append(f"seconds,{unit}")
    rows += [f"{at / 1e6:.6g},{value / scale:.10g}" for at, value in trace.steps]
    return "\n".join([*rows, f"{trace.length_us / 1e6:.6g},{END}", ""])
