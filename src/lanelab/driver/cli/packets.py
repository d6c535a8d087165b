"""lanelab packets: the packets of a trial's requests, by Wireshark's dissectors; of a load its first packets."""

import click

from lanelab.driver.api.opened_run import Run, open_run
from lanelab.driver.api.request_packets import (
    FirstPackets,
    PacketLine,
    RequestSummary,
    first_packets,
    median_trial,
    request_packets,
)
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.completions import complete_cell, complete_trial
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("packets")
@run_argument
@click.option("--trial", shell_complete=complete_trial, type=click.IntRange(min=1), metavar="N", help="Which trial")
@click.option(
    "--cell",
    shell_complete=complete_cell,
    metavar="CELL",
    help="Or the median trial of this cell, as `lanelab explain` names it",
)
@click.option("--request", type=click.IntRange(min=1), metavar="K", help="The packets of this request alone")
@json_option
def packets(name: str, *, trial: int | None, cell: str | None, request: int | None, as_json: bool) -> None:
    """The packets of a trial's requests, decrypted: look-up, connection, request, response, acknowledgements.

    Reads the client's capture with tshark. RUN is a folder, the name of a run in ./runs, or `latest`.
    What is shown, and what a shared packet is: docs/reference/packets.md

    A load of a server keeps its first packets alone. Of these it shows the connections.

    \b
    Examples:
      lanelab packets latest --trial 12
      lanelab packets latest --trial 12 --request 3
      lanelab packets latest --cell "dummy, 2% lost, one connection"
    """

    if (trial is None) == (cell is None):
        raise InputError("name a trial or a cell, and not both", "Write --trial N, or --cell CELL")
    run = open_run(name)
    number = trial or _median_trial(run, cell or "")
    if not run.loads_pages:
        _load(run, number, request, as_json=as_json)
        return
    packets_of = request_packets(run, number)
    if request is None:
        every = packets_of.overview()
        if as_json:
            print_json([each.to_json() for each in every])
            return
        _overview(every, len(packets_of.shared))
        return
    carried = packets_of.carried(request)
    summary, lines = packets_of.summary(carried), packets_of.lines(carried)
    if as_json:
        print_json({**summary.to_json(), "packets": [each.to_json() for each in lines]})
        return
    _one(summary, lines)


def _median_trial(run: Run, name: str) -> int:
    """Return the number of the cell's median trial, and say which it is."""
    trial = median_trial(run, name)
    note(f"{trial.cell}: its median is trial {trial.number}")
    return trial.number


def _load(run: Run, number: int, request: int | None, *, as_json: bool) -> None:
    if request is not None:
        what = "it means nothing for a load of a server, which keeps no requests one by one"
        raise InputError(what, "Leave it out: the connections of its first packets are shown", key="--request")
    first = first_packets(run, number)
    if as_json:
        print_json(first.to_json())
        return
    _connections(first)
    note(f"the first {first.packets} packets of the load; times are from the first of them")
    if first.incomplete:
        note(f"a part of them could not be read: {first.incomplete}")
    note(f"each packet: lanelab export {run.folder} --format pcapng, and Wireshark")


def _connections(first: FirstPackets) -> None:
    rows = []
    for each in first.connections:
        handshake = "" if each.handshake_ms is None else f"{each.handshake_ms:.1f}"
        whole = "yes" if each.handshake else "no"
        times = (f"{each.first_ms:.1f}", f"{each.last_ms:.1f}")
        spoken = (each.spoken or "", each.tls or "", whole, handshake)
        where = (str(each.client_port), f"{each.server}:{each.server_port}", each.over)
        rows.append((*where, *spoken, *times, str(each.packets), str(each.bytes)))
    names = ("port", "server", "over", "spoken", "TLS", "handshake")
    numbers = ("round trip ms", "first ms", "last ms", "packets", "bytes")
    console().print(table((*names, *numbers), rows, right=("port", *numbers)))


def _overview(every: list[RequestSummary], shared: int) -> None:
    rows = []
    for each in every:
        times = ["" if ms is None else f"{ms:.1f}" for ms in (each.first_ms, each.last_ms)]
        where = ["" if number is None else str(number) for number in (each.client_port, each.stream)]
        counts = [str(number) for number in (each.packets, each.shared, each.sent_again)]
        rows.append((str(each.request), each.url, *where, *times, *counts))
    columns = ("request", "address", "port", "stream", "first ms", "last ms", "packets", "shared", "again")
    console().print(table(columns, rows, right=columns[2:]))
    note("times are from when the page was asked for; packets of one request: --request K")
    if shared:
        note(f"{shared} packets are shared: each request that has frames in them, or beside them, counts them")


def _one(summary: RequestSummary, lines: list[PacketLine]) -> None:
    stream = f", stream {summary.stream}" if summary.stream is not None else ""
    note(f"request {summary.request}: {summary.url} (connection of port {summary.client_port}{stream})")
    rows = [
        (
            str(line.number),
            f"{line.ms:.3f}",
            "up" if line.up else "down",
            str(line.bytes),
            f"{line.role}{', shared' if line.shared else ''}{', again' if line.sent_again else ''}",
            f"{line.protocol}: {line.summary}",
        )
        for line in lines
    ]
    columns = ("packet", "ms", "way", "bytes", "what for", "what it says")
    console().print(table(columns, rows, right=("packet", "ms", "bytes")))
