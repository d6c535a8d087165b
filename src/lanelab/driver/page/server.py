"""Serves the pages on a port of this machine, out of the way of what is measured here."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from lanelab.analysis.results.run_summary import require_folder
from lanelab.driver.page.access import Access, Role
from lanelab.driver.page.app import application
from lanelab.driver.page.crowd import MOST_CONNECTIONS
from lanelab.driver.page.listen import Place
from lanelab.driver.page.pages import Pages
from lanelab.driver.page.patience import PatientProtocol
from lanelab.driver.page.shelf import Shelf

HERE = Place()
ENDS_WITHIN_S = 2
CLOSING = 50  # connections that have given up their places, and are not closed yet


@dataclass(frozen=True, slots=True)
class Address:
    """It says where a browser finds the page, and makes the links that let one in."""

    port: int
    access: Access
    place: Place = HERE

    def link(self, role: Role = Role.RUN) -> str:
        return f"{self.place.url(self.port)}/{self.access.link(role)}"


def serve(
    folder: Path,
    port: int,
    listening: Callable[[Address], None],
    allowed: frozenset[str] = frozenset(),
    place: Place = HERE,
) -> None:
    """Serve the runs of this folder until SIGINT or SIGTERM. `listening` is called with the address at the beginning,
    and again whenever the link has been used. `allowed`: which code of their authors experiments may run. `place`:
    where it is served; only on this machine, unless something else is given."""
    require_folder(folder)
    with place.socket(port) as bound:
        number = int(bound.getsockname()[1])
        access = access_at(place, number)
        address = Address(number, access, place)
        access.used = lambda: listening(address)
        shelf = Shelf(folder)
        shelf.begin()
        pages = Pages(shelf, access, allowed)
        server = Server(pages, place)
        listening(address)
        asyncio.run(server.serve([bound]))


def access_at(place: Place, port: int) -> Access:
    """Return who gets in at a place: nobody yet."""
    return Access(place.hosts(port), port, place.scheme)


class Server(uvicorn.Server):
    """Ends the streams of those who watch, too: they would hold it up."""

    def __init__(self, pages: Pages, place: Place = HERE) -> None:
        certificate, key = place.files or (None, None)
        config = uvicorn.Config(
            application(pages),
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS + CLOSING,
            timeout_graceful_shutdown=ENDS_WITHIN_S,
            http=PatientProtocol,
            ws="none",  # who asks for one is given the page, or refused; otherwise each would fill the terminal
            proxy_headers=False,  # nobody stands between: what says so is not believed
            ssl_certfile=certificate,
            ssl_keyfile=key,
        )
        super().__init__(config)
        self._pages = pages

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.ending = True
        self._pages.bench.close()
        await super().shutdown(sockets)
