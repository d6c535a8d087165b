"""lanelab packets: the packets of a trial's requests, by Wireshark's dissectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from lanelab.analysis.results.dissection import dissect
from lanelab.analysis.results.load_clock import ports_of
from lanelab.analysis.results.load_parts import Told
from lanelab.analysis.results.named_cells import cell_named
from lanelab.analysis.results.request_packets import REQUEST, RESPONSE, Carried, Dissected
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.tables import median_trial
from lanelab.driver.base.errors import CaptureError, InputError, MissingProgram
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.record.evidence.browser import LoadClock, Request
from lanelab.driver.record.evidence.page_load import PageLoadEvidence
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.folder.trial_content import read_record, unchanged_artifacts

CAPTURE = "client.pcapng.gz"
WHOLE_PACKET = 1514  # bytes of a frame as Ethernet has it
US_OF_MS = 1000


@click.command("packets")
@run_argument
@click.option("--trial", type=click.IntRange(min=1), metavar="N", help="Which trial")
@click.option("--cell", metavar="CELL", help="Or the median trial of this cell, as `lanelab explain` names it")
@click.option("--request", type=click.IntRange(min=1), metavar="K", help="The packets of this request alone")
@json_option
def packets(name: str, *, trial: int | None, cell: str | None, request: int | None, as_json: bool) -> None:
    """The packets of a trial's requests, decrypted: look-up, connection, request, response, acknowledgements.

    Reads the client's capture with tshark. RUN is a folder, the name of a run in ./runs, or `latest`.

    \b
    Examples:
      lanelab packets latest --trial 12
      lanelab packets latest --trial 12 --request 3
      lanelab packets latest --cell "dummy, 2% lost, one connection"
    """

    if (trial is None) == (cell is None):
        raise InputError("name a trial or a cell, and not both", "Write --trial N, or --cell CELL")
    folder = find_run(name)
    trial = trial or _median_trial(folder, cell or "")
    record = read_record(folder, trial)
    page, clock = _page_load(record, trial)
    asked_us = clock.asked
    found = _dissected(folder, trial, record, page)
    if request is None:
        _overview(found, asked_us, as_json=as_json)
        return
    if request > len(found.requests):
        numbers = f"1 to {len(found.requests)}" if found.requests else "none"
        raise InputError(f"trial {trial} has no request {request}", f"Its requests: {numbers}", key="--request")
    carried = found.request(request - 1)
    if not carried.packets:
        raise found.why_not(request - 1)
    _one(carried, found.shared(), asked_us, as_json=as_json)


def _median_trial(folder: Path, name: str) -> int:
    """The number of the cell's median trial, which is told."""

    run = read_run(folder)
    cell = cell_named(run, name, "--cell")
    found = median_trial(run.by_cell()[cell.number])
    if found is None:
        raise InputError(f"no trial of {cell} counts", f"lanelab show {folder} says why", key="--cell")
    note(f"{cell}: its median is trial {found.number}")
    return found.number


def _page_load(record: TrialRecord, trial: int) -> tuple[PageLoadEvidence, LoadClock]:
    """What is known of the page, and when it was asked for."""
    page = record.page_load
    if page is None or page.clock is None:
        raise InputError(f"trial {trial} has asked for no page", f"lanelab show RUN --trial {trial} says what it did")
    return page, page.clock


def _dissected(folder: Path, trial: int, record: TrialRecord, page: PageLoadEvidence) -> Dissected:
    capture = unchanged_artifacts(folder, trial, (CAPTURE,)) / CAPTURE
    summary = page.packets.get("client")
    if summary is None or not capture.is_file():
        raise InputError(f"trial {trial} has no capture of the client", "Captures are off, or its files were removed")
    if summary.snaplen < WHOLE_PACKET:
        short = f"{summary.snaplen} bytes of each packet were captured, too few to look into them"
        raise CaptureError(f"of trial {trial} only {short}", "Leave `snaplen` of `capture` out, and run it again")
    program = find("tshark")
    if program is None:
        raise MissingProgram("tshark is not installed", "Install Wireshark's package `tshark`")
    told = Told.of(record)
    quic = any(each.protocol == "h3" for each in told.requests)
    frames = dissect(program, capture, decoded_as(told.requests), quic=quic)
    return Dissected(frames, told.requests, ports_of(told))


def decoded_as(requests: Sequence[Request]) -> str | None:
    """What tshark has to be told of connections in clear; None: nothing."""
    if any(each.wire and each.wire.protocol == "spdy/2" for each in requests):
        remedy = "See gateway.jsonl.gz of the trial, or measure with protocol: spdy/3"
        raise CaptureError("tshark dissects SPDY/3, not SPDY/2, so it cannot tell these requests apart", remedy)
    clear = {each.wire.protocol for each in requests if each.wire and each.wire.tls is None}
    return "spdy" if any(each.startswith("spdy") for each in clear) else "http2" if "h2" in clear else None


def _overview(found: Dissected, asked_us: int, *, as_json: bool) -> None:
    every = [found.request(place) for place in range(len(found.requests))]
    shared = found.shared()
    if as_json:
        print_json([_summary(each, shared, asked_us) for each in every])
        return
    rows = []
    for each in every:
        line = _summary(each, shared, asked_us)
        times = [f"{line[key]:.1f}" if line[key] is not None else "" for key in ("first_ms", "last_ms")]
        where = ["" if line[key] is None else str(line[key]) for key in ("client_port", "stream")]
        counts = [str(line[key]) for key in ("packets", "shared", "sent_again")]
        rows.append((str(each.number), each.request.url, *where, *times, *counts))
    columns = ("request", "address", "port", "stream", "first ms", "last ms", "packets", "shared", "again")
    console().print(table(columns, rows, right=columns[2:]))
    note("times are from when the page was asked for; packets of one request: --request K")
    if shared:
        note(f"{len(shared)} packets are shared: each request that has frames in them, or beside them, counts them")


def _summary(carried: Carried, shared: frozenset[int], asked_us: int) -> dict[str, Any]:

    own = carried.of(REQUEST, RESPONSE)
    return {
        "request": carried.number,
        "url": carried.request.url,
        "client_port": carried.port,
        "connection": carried.connection,
        "stream": carried.stream,
        "first_ms": (own[0].at_us - asked_us) / US_OF_MS if own else None,
        "last_ms": (own[-1].at_us - asked_us) / US_OF_MS if own else None,
        "packets": len(carried.packets),
        "shared": sum(frame.number in shared for frame in own),
        "sent_again": sum(packet.frame.again for packet in carried.packets),
    }


def _one(carried: Carried, shared: frozenset[int], asked_us: int, *, as_json: bool) -> None:
    lines = [
        {
            "number": packet.frame.number,
            "ms": (packet.frame.at_us - asked_us) / US_OF_MS,
            "up": packet.frame.up,
            "bytes": packet.frame.bytes,
            "payload": packet.frame.payload,
            "role": packet.role,
            "shared": packet.frame.number in shared,
            "sent_again": packet.frame.again,
            "protocol": packet.frame.protocol,
            "summary": packet.frame.info,
        }
        for packet in carried.packets
    ]
    if as_json:
        print_json({**_summary(carried, shared, asked_us), "packets": lines})
        return
    where = f"connection of port {carried.port}" + (f", stream {carried.stream}" if carried.stream is not None else "")
    note(f"request {carried.number}: {carried.request.url} ({where})")
    rows = [
        (
            str(line["number"]),
            f"{line['ms']:.3f}",
            "up" if line["up"] else "down",
            str(line["bytes"]),
            f"{line['role']}{', shared' if line['shared'] else ''}{', again' if line['sent_again'] else ''}",
            f"{line['protocol']}: {line['summary']}",
        )
        for line in lines
    ]
    columns = ("packet", "ms", "way", "bytes", "what for", "what it says")
    console().print(table(columns, rows, right=("packet", "ms", "bytes")))
