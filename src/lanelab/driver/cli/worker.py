"""lanelab worker: this machine lends its beds to runs of others."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import click

from lanelab.driver.api.events import Event
from lanelab.driver.api.lend_beds import KINDS, Lent, Supervisor, allowed_kinds, lend
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.settings.kinds import MOST_BEDS
from lanelab.driver.cli.bed_options import router_option
from lanelab.driver.cli.output import note

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("worker")
@click.argument("scheduler")
@click.option(
    "--beds", type=click.IntRange(1, MOST_BEDS), default=1, show_default=True, metavar="N", help="How many to lend"
)
@click.option("--machine", metavar="NAME", default="", help="What results call this machine (default: its host name)")
@click.option(
    "--allow",
    "allowed",
    metavar="WHAT",
    multiple=True,
    help=f"Let experiments of others run code here: {', '.join(KINDS)}; with commas, or several times",
)
@click.option("--insecure", is_flag=True, help="Reach a scheduler on another machine without TLS")
@click.option("--tls-ca", type=FILE, help="For tls://: the authority, in PEM")
@click.option("--tls-cert", type=FILE, help="For tls://: our certificate, in PEM")
@click.option("--tls-key", type=FILE, help="For tls://: its key, in PEM")
@router_option
def worker(  # noqa: PLR0913 - an option each
    scheduler: str,
    beds: int,
    machine: str,
    allowed: tuple[str, ...],
    router: str,
    *,
    insecure: bool,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Lend the beds of this machine to a run.

    SCHEDULER is the invitation that `lanelab run --listen` has written, or the address of a Dask scheduler:
    tls://HOST:PORT or tcp://HOST:PORT. Whoever has the keys of that scheduler may run programs here, as you.

    Goes on until Ctrl-C, and waits while the scheduler is away.

    \b
    Examples:
      lanelab worker invitation.json
      lanelab worker invitation.json --beds 4 --machine rack2
      lanelab worker tls://10.0.0.5:8786 --tls-ca ca.pem --tls-cert me.pem --tls-key me.key
    """
    lent = Lent(beds, machine, allowed_kinds(allowed), router)
    supervisor = lend(scheduler, lent, (tls_ca, tls_cert, tls_key), insecure=insecure, on_event=_tell)
    with _stopping(supervisor), supervisor:
        note(f"lending {counted(beds, 'bed')} to {supervisor.address}. Ctrl-C ends it")
        supervisor.wait()


@contextmanager
def _stopping(supervisor: Supervisor) -> Iterator[None]:
    """End the beds in order at Ctrl-C and SIGTERM."""

    def handle(_number: int, _frame: FrameType | None) -> None:
        threading.Thread(target=supervisor.stop, name="stop").start()  # a handler must not wait for a lock

    numbers = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) != signal.SIG_IGN]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(event: Event) -> None:
    if event.words:
        note(event.words)
