"""This machine lends its beds to runs of others."""

from collections.abc import Sequence
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.programs.needs import PAGE_LOAD, programs
from lanelab.driver.run.events import Listener, unheard
from lanelab.driver.run.sweep.address import address_of
from lanelab.driver.run.sweep.permissions import KINDS
from lanelab.driver.run.sweep.supervisor import Lent, Supervisor

__all__ = ["KINDS", "Lent", "Supervisor", "allowed_kinds", "lend"]
TlsFiles = tuple[Path | None, Path | None, Path | None]  # the authority, our certificate, its key


def lend(
    scheduler: str,
    lent: Lent,
    tls_files: TlsFiles = (None, None, None),
    *,
    insecure: bool = False,
    on_event: Listener = unheard,
) -> Supervisor:
    """Return the workers of this machine, which begin when they are entered. scheduler: an invitation, or the address
    of a Dask scheduler; insecure: on another machine without TLS."""
    where = address_of(scheduler, tls_files, insecure=insecure)
    prepare(programs(*PAGE_LOAD))
    return Supervisor(where, lent, tell=on_event)


def allowed_kinds(texts: Sequence[str]) -> frozenset[str]:
    """Return what experiments of others may do here, from what an owner wrote, with commas or several times. Raises
    InputError for what is none of KINDS."""
    words = [word.strip() for text in texts for word in text.split(",")]
    for word in words:
        if word not in KINDS:
            there_are = f"There are: {', '.join(KINDS)}"
            raise InputError(f"'{word}' is nothing that can be allowed", there_are, key="--allow")
    return frozenset(words)
