"""Where the program `lanelab` begins. Until everything is imported, Ctrl-C just ends the process."""

import signal

if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from lanelab.driver.cli.main import main

__all__ = ["main"]
