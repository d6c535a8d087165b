"""How long this machine keeps those waiting who want a processor.

A test that measures a link must tell a wrong link from a machine that others keep busy: there the router itself comes
too late to its packets, and no number of tries helps.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

TOO_LONG_MS = 3.0  # on a quiet machine it is some tenths
WAIT = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(worst * 1000)))
worst = 0.0
print("waiting", flush=True)
while True:
    before = time.monotonic()
    time.sleep(0.001)
    worst = max(worst, time.monotonic() - before - 0.001)
"""


@dataclass
class Stalls:
    """The longest wait, once it is over."""

    worst_ms: float = 0.0

    @property
    def too_long(self) -> bool:
        return self.worst_ms > TOO_LONG_MS


@contextmanager
def stalls() -> Iterator[Stalls]:
    """A process that does nothing but wait for its turn while the block runs."""
    found = Stalls()
    with subprocess.Popen([sys.executable, "-I", "-c", WAIT], stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout
        waiting.stdout.readline()
        try:
            yield found
        finally:
            waiting.terminate()
            found.worst_ms = float(waiting.stdout.read())
