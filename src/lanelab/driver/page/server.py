"""Serves the pages on a port of this machine, out of the way of what is measured here."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from lanelab.analysis.results.run_summary import require_folder
from lanelab.driver.base.errors import InputError
from lanelab.driver.page.access import Access, Role
from lanelab.driver.page.app import application
from lanelab.driver.page.pages import Pages
from lanelab.driver.page.shelf import Shelf

LOCAL = ("127.0.0.1", "localhost")
ENDS_WITHIN_S = 2
MOST_CONNECTIONS = 300  # at the same time: a class of thirty has some each


@dataclass(frozen=True, slots=True)
class Address:
    """It says where a browser finds the page, and makes the links that let one in."""

    port: int
    access: Access

    def link(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.access.link(Role.RUN)}"


def serve(folder: Path, port: int, listening: Callable[[Address], None], allowed: frozenset[str] = frozenset()) -> None:
    """Serve the runs of this folder until SIGINT or SIGTERM. `listening` is called with the address at the beginning,
    and again whenever the link has been used. `allowed`: which code of their authors experiments may run."""
    require_folder(folder)
    with listening_socket(port) as bound:
        number = int(bound.getsockname()[1])
        access = Access(hosts(number), number)
        address = Address(number, access)
        access.used = lambda: listening(address)
        shelf = Shelf(folder)
        shelf.begin()
        pages = Pages(shelf, access, allowed)
        server = Server(pages)
        listening(address)
        asyncio.run(server.serve([bound]))


class Server(uvicorn.Server):
    """Ends the streams of those who watch, too: they would hold it up."""

    def __init__(self, pages: Pages) -> None:
        config = uvicorn.Config(
            application(pages),
            log_level="error",
            access_log=False,
            lifespan="off",
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_graceful_shutdown=ENDS_WITHIN_S,
        )
        super().__init__(config)
        self._pages = pages

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pages.ending = True
        self._pages.bench.close()
        await super().shutdown(sockets)


def hosts(port: int) -> frozenset[str]:
    """Return what a browser of this machine may call the server."""
    return frozenset(f"{name}:{port}" for name in LOCAL)


def listening_socket(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((LOCAL[0], port))
        bound.listen()  # from here on browsers wait, and are not turned away
    except OSError as error:
        bound.close()
        what = f"cannot listen on port {port}: {error.strerror}"
        raise InputError(what, "Name another one, or leave --port out: a free one is taken") from error
    return bound
