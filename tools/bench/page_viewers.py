"""Many who watch a run in `lanelab serve`, as their browsers do: a stream of news each, and the page again after each
piece of it. A process of its own, out of the way of what is measured."""

import os
import signal
import sys
import threading
import time
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

WAITS_S = 600
AGAIN_AFTER_S = 3.0  # as browsers do


class Crowd:
    """It counts the pages that its viewers were given."""

    def __init__(self, host: str, place: str, cookie: str, run: str) -> None:
        self._host, self._place, self._headers, self._run = host, place, {"Cookie": cookie}, run
        self._lock = threading.Lock()
        self.views = 0

    def watch(self) -> None:
        """Watch until the process ends. What breaks off is begun again, as a browser does."""
        while True:
            try:
                self._see()
                self._listen()
            except (OSError, HTTPException):
                pass
            time.sleep(AGAIN_AFTER_S)

    def _see(self) -> None:
        connection = HTTPConnection(self._host, timeout=WAITS_S)
        connection.request("GET", f"{self._place}/runs/{self._run}/", headers=self._headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        if answer.status == 200:
            with self._lock:
                self.views += 1

    def _listen(self) -> None:
        connection = HTTPConnection(self._host, timeout=WAITS_S)
        connection.request("GET", f"{self._place}/runs/{self._run}/changes", headers=self._headers)
        for line in connection.getresponse():
            if line.startswith(b"event: changed"):
                self._see()
        connection.close()


def main() -> None:
    """Watch until SIGTERM, and print how many pages were given. The arguments are a link that lets in, the name of the
    run, and how many viewers there are."""
    link, run, many = sys.argv[1:]
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))  # viewers of a class have machines of their own
    address = urlsplit(link)
    connection = HTTPConnection(address.netloc, timeout=WAITS_S)
    connection.request("GET", f"{address.path}?{address.query}")
    cookie = connection.getresponse().headers["Set-Cookie"].partition(";")[0]
    crowd = Crowd(address.netloc, address.path.removesuffix("/enter"), cookie, run)

    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # before there are threads: one of them would get it
    for _ in range(int(many)):
        threading.Thread(target=crowd.watch, daemon=True).start()
    signal.sigwait([signal.SIGTERM])
    sys.stdout.write(f"{crowd.views}\n")
    sys.stdout.flush()
    os._exit(0)
