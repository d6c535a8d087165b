"""A program in the place of `lanelab run`: it holds a run as a writer does, and says when it is interrupted."""

import shutil
import sys
from pathlib import Path

import lanelab

PROGRAM = """
import fcntl, os, shutil, signal, sqlite3, sys, time
sample, folder = sys.argv[1], next(w.partition("=")[2] for w in sys.argv if w.startswith(("--out=", "--resume=")))
signal.signal(signal.SIGINT, lambda *_: print("interrupted", flush=True))
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print("words", *sys.argv[2:], flush=True)
if not os.path.exists(folder):
    shutil.copytree(sample, folder)
lock = open(folder + "/in-use", "a")
fcntl.flock(lock, fcntl.LOCK_EX)
with sqlite3.connect(folder + "/run.sqlite") as database:
    database.execute("UPDATE meta SET value = 'running' WHERE key = 'state'")
while True:
    time.sleep(0.05)
"""


def played_program(folder: Path) -> tuple[str, ...]:
    """The command, to which the words of `lanelab run` are added. It takes its run from a copy of the sample."""
    sample = folder / "sample-to-play"
    if not sample.exists():
        shutil.copytree(lanelab.sample_run().folder, sample)
    return sys.executable, "-c", PROGRAM, str(sample)
