"""What tests hold on to: an open bed, and the command line."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import SOURCES
from lanelab.driver.bed.node import Command, Completed, Stdio
from lanelab.driver.link import Link
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest.effort import Effort
from lanelab.driver.run.channel.client import Bed


class OpenBed:
    """A bed, with the few things that tests do to it."""

    def __init__(self, bed: Bed) -> None:
        self.bed = bed

    def run(self, node: str, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Completed:
        """Run a command on a node to its end, feeding it and reading it through pipes."""
        source, feed = os.pipe()
        out, out_end = os.pipe()
        err, err_end = os.pipe()
        try:
            process = self.bed.exec(node, Command(argv, env=env or {}), Stdio(source, out_end, err_end))
        finally:
            for fd in (source, out_end, err_end):
                os.close(fd)
        with os.fdopen(feed, "wb") as writer, os.fdopen(out, "rb") as output, os.fdopen(err, "rb") as errors:
            writer.write(stdin)
            writer.close()
            said, complained = output.read().decode(), errors.read().decode()
        return Completed(process.wait(), said, complained)

    def set(self, **settings: str) -> Link:
        link = Link.parse(settings)
        self.bed.set_link(link)
        return link

    def test(self, *, thorough: bool = False) -> dict[str, Result]:
        found = self.bed.test_link(Effort(thorough=thorough))
        return {result.name: result for result in found.results}


@dataclass(frozen=True)
class LanelabCommand:
    """`./lanelab` without the launcher, which has tests of its own."""

    build: Path

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-P", "-m", "lanelab.driver.cli", *words]

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(SOURCES), "LANELAB_BUILD": str(self.build), "LANELAB_NO_INSTALL": "1"}

    def run(
        self, *words: str, stdin: str = "", cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **(env or {})}
        return subprocess.run(
            self.argv(*words), input=stdin, capture_output=True, text=True, env=environment, cwd=cwd, check=False
        )

    def start(self, *words: str, options: Sequence[str] = ()) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.argv(*words, *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment,
            start_new_session=True,
        )
