"""ChromeDriver in the client node, and Selenium's way to it: one per bed, on the node's loopback and nowhere else."""

import contextlib
import http.client
import os
import socket
import time
from collections.abc import Iterator
from typing import Any, TypeAlias

import urllib3
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.remote_connection import ChromeRemoteConnection
from selenium.webdriver.remote.client_config import ClientConfig

from lanelab.driver.arm.browsers.chromium.log import Entry
from lanelab.driver.arm.browsers.failures import Answer, BrowserError, read_answer
from lanelab.driver.base.timeouts import scaled
from lanelab.driver.bed.node import Command, Node, Stdio
from lanelab.driver.record.reasons import Reason

ADDRESS, PORT = "127.0.0.1", 9515
URL = f"http://{ADDRESS}:{PORT}"
START_TIMEOUT_S = 5.0
READY_TIMEOUT_S = 20.0
ANSWER_TIMEOUT_S = 20.0  # for everything but a load, which has the experiment's own limit
MARGIN_S = 5.0  # ChromeDriver tells of a load's time-out itself; this is for a ChromeDriver that does not
LOOK_EVERY_S = 0.01
# What ChromeDriver's messages contain when the page's process, or the whole browser, is gone.
_CRASHED = (
    "tab crashed",
    "page crash",
    "session deleted as the browser has closed",
    "not connected to devtools",
    "chrome not reachable",
    "invalid session id",
    "unable to receive message from renderer",
    "no such window",
    "web view not found",
    "disconnected",
)


_Words: TypeAlias = dict[str, Any]  # as Selenium has all that goes to ChromeDriver and comes from it


class _Connection(urllib3.connection.HTTPConnection):
    """HTTP over a connection that begins in the node."""

    node: Node

    def _new_conn(self) -> socket.socket:
        try:
            return self.node.connect(self.host, self.port or PORT, scaled(START_TIMEOUT_S))
        except OSError as error:
            raise urllib3.exceptions.NewConnectionError(self, str(error)) from error


def _pool_into(node: Node) -> urllib3.PoolManager:
    """No second try behind our back: a page would be loaded twice. No proxy of the user's environment either."""
    connection = type("NodeConnection", (_Connection,), {"node": node})
    pool = type("NodePool", (urllib3.HTTPConnectionPool,), {"ConnectionCls": connection})
    manager = urllib3.PoolManager(timeout=scaled(ANSWER_TIMEOUT_S), retries=False)
    manager.pool_classes_by_scheme = {"http": pool}
    return manager


class Session(webdriver.Remote):
    """Selenium's Remote with what its Chrome class has beside; every failure is a BrowserError."""

    def __init__(self, node: Node, options: Options) -> None:
        # Its own limit: Selenium's is 120 s, and a browser that hangs must not hang the bed.
        self.limits = ClientConfig(URL, keep_alive=True, timeout=int(scaled(ANSWER_TIMEOUT_S)))
        self.limits.ignore_certificates = False
        connection = ChromeRemoteConnection(URL, client_config=self.limits)
        connection._conn = _pool_into(node)
        super().__init__(connection, options=options)

    def execute(
        self,
        driver_command: Any,  # noqa: ANN401 - Selenium's own type here is an alternative that nobody uses
        params: _Words | None = None,
    ) -> _Words:
        with self._reached(driver_command):
            try:
                answer: _Words = super().execute(driver_command, params)
            except WebDriverException as error:
                reason = (error.msg or repr(error)).splitlines()[0]
                raise BrowserError(
                    f"ChromeDriver, at '{driver_command}': {reason}", reason=reason_of(error.msg or "")
                ) from error
        return answer

    def carry_out(self, command: str, parameters: _Words) -> Any:  # noqa: ANN401 - Selenium's own words
        """Send a command of a user's script, and return the answer as it is: errors, too, are the script's."""
        executor: Any = self.command_executor
        with self._reached(command):
            return executor.execute(command, parameters)

    @contextlib.contextmanager
    def _reached(self, command: str) -> Iterator[None]:
        try:
            yield
        except urllib3.exceptions.ConnectTimeoutError as error:  # refused, too: there is no ChromeDriver any more
            raise BrowserError(f"ChromeDriver is gone: nothing answers '{command}'") from error
        except urllib3.exceptions.TimeoutError as error:
            what = f"ChromeDriver did not answer '{command}' within {self.limits.timeout:g} s"
            raise BrowserError(what, reason=Reason.TIMEOUT) from error
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            raise BrowserError(f"ChromeDriver went away during '{command}': {error}") from error

    def log(self, kind: str) -> list[Entry]:
        """Return what was logged since the last call."""
        return read_answer(list[Entry], self.execute("getLog", {"type": kind})["value"], "getLog")

    def cdp(self, method: str, /, **parameters: object) -> object:
        """Send a DevTools command to the page."""
        return self.execute("executeCdpCommand", {"cmd": method, "params": parameters})["value"]

    def ask(self, kind: type[Answer], method: str, /, **parameters: object) -> Answer:
        """Do the same as `cdp`, for an answer that holds this."""
        return read_answer(kind, self.cdp(method, **parameters), method)

    def limit(self, load_s: float) -> None:
        """Limit how long the next load may take."""
        self.set_page_load_timeout(load_s)
        self.limits.timeout = int(load_s + scaled(MARGIN_S))

    def unlimit(self, answer_s: float = ANSWER_TIMEOUT_S) -> None:
        self.limits.timeout = int(scaled(answer_s))


class Driver:
    """The ChromeDriver process of a bed. What it says goes to a file, since it is only wanted after a failure."""

    def __init__(self, node: Node, program: str) -> None:
        self._node = node
        # It listens on the node's loopback alone: whoever may talk to it can do what the user can.
        argv = [program, f"--port={PORT}", "--log-level=WARNING"]
        self._output = os.memfd_create("chromedriver")
        self._process = node.spawn(Command(argv), Stdio(stdout=self._output, stderr=self._output))
        try:
            self._await_ready()
        except BaseException:
            self.close()
            raise

    def _await_ready(self) -> None:
        until = time.monotonic() + scaled(READY_TIMEOUT_S)
        question = f"GET /status HTTP/1.1\r\nHost: {ADDRESS}:{PORT}\r\nConnection: close\r\n\r\n".encode()
        while time.monotonic() < until:
            if self._node.exchange(ADDRESS, PORT, question, timeout_s=2).startswith(b"HTTP/1.1 200"):
                return
            with contextlib.suppress(TimeoutError):
                self._process.wait(LOOK_EVERY_S)
                break
        raise BrowserError(
            f"on {self._node.name}, ChromeDriver did not start: {self.last_words()}", "See `lanelab doctor`"
        )

    def last_words(self) -> str:
        output = os.pread(self._output, 1 << 20, 0).decode(errors="replace")
        return "; ".join(output.splitlines()[-5:]) or "it said nothing"

    def attach(self, debugger_port: int) -> Session:
        """Open a session with a browser that runs in the same node."""
        options = Options()
        options.debugger_address = f"127.0.0.1:{debugger_port}"
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        return Session(self._node, options)

    def alive(self) -> bool:
        with contextlib.suppress(OSError):
            self._node.connect(ADDRESS, PORT, timeout_s=2).close()
            return True
        return False

    def close(self) -> None:
        self._process.signal(9)
        with contextlib.suppress(TimeoutError):
            self._process.wait(5)
        with contextlib.suppress(OSError):
            os.close(self._output)


def reason_of(message: str) -> Reason:
    """Return the failure that this message of ChromeDriver means."""
    text = message.lower()
    if "net::err_" in text:
        return Reason.NAVIGATION_FAILED
    if any(words in text for words in _CRASHED):
        return Reason.BROWSER_CRASHED
    if "timeout" in text or "timed out" in text:
        return Reason.TIMEOUT
    return Reason.BROWSER_FAILED
