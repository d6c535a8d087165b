"""What Dask says of itself is not the user's to read: lanelab tells what matters of it."""

import subprocess
import sys

SHOUT = """
import logging
from lanelab.driver.run.sweep.dask_settings import be_quiet
be_quiet()
from distributed import client, worker, scheduler
for name in ("distributed", "distributed.client", "distributed.worker", "distributed.gc", "tornado.application"):
    logging.getLogger(name).error("heard %s", name, exc_info=OSError("a stream was closed"))
"""


def test_no_logger_of_dask_is_heard() -> None:
    """Some have levels of their own. In a process of its own: it changes loggers for good."""
    done = subprocess.run([sys.executable, "-c", SHOUT], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
