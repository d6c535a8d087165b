"""The page of lanelab serve, served for a test, and somebody who asks it for things over a plain connection."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from socket import socket
from unittest.mock import patch
from urllib.parse import urlencode

import uvicorn

from lanelab.driver.page import priority, server
from lanelab.driver.page.access import Access, Role
from lanelab.driver.page.listen import Place
from lanelab.driver.page.pages import Pages
from lanelab.driver.page.shelf import Shelf

STARTS_WITHIN_S = 10
# Each screen, in a folder that has the runs `sample` and `other`, both of which are lanelab's sample run.
SCREENS = (
    "", "runs/sample/", "runs/sample/report/", "runs/sample/trials/", "runs/sample/trials/3/", "runs/sample/trials/10/",
    "runs/sample/race/", "compare/?run=sample&cell=2&run=other&cell=5", "compare/?run=sample&cell=4&run=sample&cell=5",
    "bench/", "begin/", "race/", "labs/", "labs/4-tls-round-trips/", "nothing",
)  # fmt: skip


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    text: str


@dataclass
class Visitor:
    """Another program on this machine, which knows a place. Its headers are its own."""

    port: int
    access: Access
    headers: dict[str, str] = field(default_factory=dict)
    role: Role = Role.RUN  # whose place

    def url(self, path: str = "") -> str:
        """The address of a page, as a browser at that place has it."""
        return f"{self.access.scheme}://127.0.0.1:{self.port}/{self.access.places[self.role]}/{path.lstrip('/')}"

    def link(self) -> str:
        return f"{self.access.scheme}://127.0.0.1:{self.port}/{self.access.link(self.role)}"

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        """Ask for a page at the place."""
        return self.ask_outside(f"/{self.access.places[self.role]}{path}", method, body, **headers)

    def ask_outside(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        connection.request(method, path, body, headers=sent)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)

    def post(self, path: str, fields: Mapping[str, Sequence[str]], **headers: str) -> Answer:
        """Send a form, as a page of ours does unless headers say otherwise."""
        body = urlencode(fields, doseq=True)
        sent = {"Sec_Fetch_Site": "same-origin", "Content_Type": "application/x-www-form-urlencoded", **headers}
        return self.ask(path, "POST", body, **sent)

    def news(self, path: str) -> tuple[HTTPConnection, HTTPResponse]:
        """A stream that goes on. Whoever asks closes it."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("GET", f"/{self.access.places[self.role]}{path}", headers=self.headers)
        return connection, connection.getresponse()

    def enter(self, token: str) -> Answer:
        self.role = Role.WATCH if token == self.access.watcher else self.role
        answer = self.ask(f"/enter?token={token}")
        cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        if cookie:
            self.headers["Cookie"] = cookie
        return answer


@contextmanager
def served(folder: Path, allowed: frozenset[str] = frozenset(), place: Place = server.HERE) -> Iterator[Visitor]:
    """Yield a visitor who has not come in yet."""
    with place.socket(0) as bound:
        port = int(bound.getsockname()[1])
        with patch.object(priority, "_yield_processors", lambda: None):  # tests fill the machine
            pages = Pages(Shelf(folder), server.access_at(place, port), allowed)
        with serving(server.Server(pages, place), bound):
            yield Visitor(port, pages.access)


@contextmanager
def serving(serves: uvicorn.Server, bound: socket) -> Iterator[None]:
    thread = threading.Thread(target=serves.run, args=([bound],))
    thread.start()
    until = time.monotonic() + STARTS_WITHIN_S
    while not serves.started and time.monotonic() < until:
        time.sleep(0.01)
    try:
        yield
    finally:
        serves.should_exit = True
        thread.join()
