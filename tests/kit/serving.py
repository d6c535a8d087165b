"""lanelab serve as a process of its own, which a test may kill."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import SOURCES

LINK = re.compile(r"https?://\S+")


@dataclass(frozen=True)
class Served:
    """`link` lets one browser in."""

    process: "subprocess.Popen[str]"
    link: str

    @property
    def port(self) -> int:
        return int(self.link.split(":")[2].split("/")[0])

    @property
    def root(self) -> str:
        return self.link.partition("enter?")[0]


# Tests fill the machine: what is drawn where no other process wants the processor would not be drawn at all.
AS_ORDINARY = (
    "from lanelab.driver.page import priority; priority._yield_processors = lambda: None; "
    "from lanelab.driver.cli.main import main; main()"
)


@contextmanager
def serve_process(folder: Path, port: int = 0) -> Iterator[Served]:
    """Serve a folder until the block ends."""
    argv = [sys.executable, "-P", "-c", AS_ORDINARY, "serve", str(folder), "--port", str(port)]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": str(SOURCES)}) as process:
        try:
            assert process.stderr is not None
            text = ""
            while not (link := LINK.search(text)):
                line = process.stderr.readline()
                assert line, f"it ended: {text}"
                text += line
            yield Served(process, link[0])
        finally:
            process.kill()
