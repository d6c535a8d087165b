"""The packets of a trial as tables: by lanelab's reader, by tshark, and by pyshark."""

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lanelab.analysis.results.dissection import WITHIN, tshark_fields
from lanelab.analysis.results.export import place_of
from lanelab.analysis.results.export_tables import Kind, Row, arrow_table
from lanelab.analysis.results.first_packets import first_capture
from lanelab.analysis.results.load_view import CAPTURE
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.refusals import refusals
from lanelab.analysis.results.trial_packets import decoded_as
from lanelab.driver.base.errors import ArgumentError, CaptureError, InputError, MissingProgram
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import unchanged_artifacts
from lanelab.driver.run.folder.trial_records import read_record
from lanelab.driver.trial.packets.timeline import Timeline, read_timeline

if TYPE_CHECKING:
    import pyarrow
    from pyarrow.compute import Expression
    from pyshark.packet.packet import Packet

US_OF_MS, US_OF_S, NS_OF_US = 1_000, 1_000_000, 1_000
LONGEST_S = 600
# Without this what was lost and sent again is never put in its place: everything behind it is not dissected.
OPTIONS = ("-n", "-o", "tcp.reassemble_out_of_order:TRUE")
OF_PYSHARK = """
import pickle, sys
import pyshark
path, chosen, *options = sys.argv[1:]
capture = pyshark.FileCapture(path, display_filter=chosen or None, custom_parameters=options)
pickle.dump(list(capture), sys.stdout.buffer)
capture.close()
"""


def capture_of(folder: Path, trial: int) -> Path:
    """Return the client's capture, of a load that of its first packets. InputError where the trial has none."""
    capture = _kept(folder, trial)
    if capture is None:
        raise InputError(f"trial {trial} has no capture of the client", "Captures are off, or its files were removed")
    return capture


def _kept(folder: Path, trial: int) -> Path | None:
    whole = unchanged_artifacts(folder, trial, (CAPTURE,)) / CAPTURE
    return whole if whole.is_file() else first_capture(folder, trial)


def began_us(record: TrialRecord) -> float | None:
    """Return when the page was asked for, since 1970; None where the trial asked for none, or nobody knows."""
    page = record.page_load
    return page.clock.asked if page and page.clock else None


def packets_table(capture: Path, record: TrialRecord, chosen: "Expression | None") -> "pyarrow.Table":
    """Return a row for each packet of TCP and UDP; `chosen`: for those alone."""
    timeline = read_timeline(capture, ADDRESSES["client"])
    rows = sorted(_rows(timeline, began_us(record)), key=lambda row: row[0])
    table = arrow_table((dict(zip(COLUMNS, row, strict=True)) for row in rows), COLUMNS)
    if chosen is None:
        return table
    if isinstance(chosen, str):
        remedy = 'Write pyarrow.compute.field("payload") > 0, or use dissected() for a filter of Wireshark\'s'
        raise ArgumentError(f"{chosen!r} is no expression of pyarrow", remedy, key="filter")
    try:
        return table.filter(chosen)
    except (TypeError, ValueError, NotImplementedError) as error:  # those of pyarrow are among them
        remedy = f"Its columns are {', '.join(table.column_names)}"
        raise ArgumentError(f"the filter cannot be used: {str(error).splitlines()[0]}", remedy, key="filter") from error


def packets_of_run(run: Run, chosen: "Expression | None") -> "pyarrow.Table":
    """Return the packets of every trial that has a capture, with the trial that they are of, and whether it counts."""
    import pyarrow as pa  # noqa: PLC0415 - large

    tables, refused = [], refusals(run)
    for trial in run.trials:
        capture = _kept(run.folder, trial.number)
        if capture is not None:
            packets = packets_table(capture, read_record(run.folder, trial.number), chosen)
            place = place_of(trial, refused)
            columns = {name: pa.array([value] * len(packets)) for name, value in place.items()}
            tables.append(pa.table({**columns, **{name: packets.column(name) for name in packets.column_names}}))
    if not tables:
        raise InputError(f"no trial of {run.folder} has a capture of the client", "Captures are off, or were removed")
    return pa.concat_tables(tables)


COLUMNS: dict[str, Kind] = {
    "number": "int", "at_ms": "float", "up": "bool", "bytes": "int", "protocol": "text", "client_port": "int",
    "server": "text", "server_port": "int", "payload": "int", "seq": "int", "ack": "int", "flags": "int",
    "window": "int",
}  # fmt: skip
Fields = tuple[int, float | None, bool, int, str, int, str, int, int, int | None, int | None, int | None, int | None]


def _rows(timeline: Timeline, began: float | None) -> Iterator[Fields]:
    for stream in timeline.streams:
        (_, near), (server, far) = stream.client, stream.server
        for one in stream.packets:
            at_ms = _since(began, one.at_ns / NS_OF_US)
            place = one.number, at_ms, one.up, one.frame_bytes, "tcp", near, server, far
            yield (*place, one.payload, one.seq, one.ack, one.flags, one.window)
    for each in timeline.datagrams:
        at_ms = _since(began, each.at_ns / NS_OF_US)
        place = each.number, at_ms, each.up, each.frame_bytes, "udp", each.client_port, each.server, each.server_port
        yield (*place, each.length, None, None, None, None)


def _since(began_us: float | None, at_us: float) -> float | None:
    """Return milliseconds since the page was asked for."""
    return None if began_us is None else (at_us - began_us) / US_OF_MS


def dissected_table(capture: Path, record: TrialRecord, chosen: str, fields: Sequence[str]) -> "pyarrow.Table":
    """Return a row for each packet that tshark's filter takes, with these fields of tshark's as text."""
    fields = [fields] if isinstance(fields, str) else list(fields)
    lines = tshark_fields(
        _tshark(), capture, ("frame.number", "frame.time_epoch", *fields), chosen, (*OPTIONS, *_decoding(record))
    )
    began = began_us(record)
    kinds: dict[str, Kind] = {"number": "int", "at_ms": "float", **dict.fromkeys(fields, "text")}
    return arrow_table((_dissected(line, fields, began) for line in lines), kinds)


def _dissected(line: Sequence[str], fields: Sequence[str], began: float | None) -> Row:
    number, at_s, *values = line
    texts = {name: value.replace(WITHIN, ",") or None for name, value in zip(fields, values, strict=True)}
    at_ms = _since(began, float(at_s) * US_OF_S)
    return {"number": int(number), "at_ms": None if at_ms is None else round(at_ms, 3), **texts}


def pyshark_packets(capture: Path, record: TrialRecord, chosen: str) -> "list[Packet]":
    """Return the packets as pyshark reads them, in a process of its own: within a running event loop it refuses to."""
    _tshark()
    command = [sys.executable, "-c", OF_PYSHARK, str(capture), chosen, *OPTIONS, *_decoding(record)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_S)
    except subprocess.TimeoutExpired as error:
        raise CaptureError(f"pyshark did not read {capture} within {LONGEST_S} s", "Name a filter") from error
    if done.returncode:
        *_, last = done.stderr.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
        if "No module named 'pyshark'" in last:
            remedy = "pip install --require-hashes -r requirements-packets.lock, or use dissected()"
            raise MissingProgram("pyshark is not installed", remedy)
        raise CaptureError(f"pyshark could not read {capture}: {last}", "Is the filter one of Wireshark's?")
    packets: list[Packet] = pickle.loads(done.stdout)  # noqa: S301 - of the process above
    return packets


def _tshark() -> Path:
    program = find("tshark")
    if program is None:
        raise MissingProgram("tshark is not installed", "Install Wireshark's package `tshark`")
    return program


def _decoding(record: TrialRecord) -> tuple[str, ...]:
    """Return what tshark has to know of connections in clear, where they are not HTTP."""
    clear = decoded_as(record.requests)
    return ("-d", f"tcp.port==80,{clear}") if clear else ()
