"""The command line as a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from model.configuration import PROJECT


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_do_no_harm(closed: str) -> None:
    words = [sys.executable, "-m", "driver.cli", "link", "list", "--json"]
    argv = ["sh", "-c", f'exec "$@" {closed}', "sh", *words]
    done = subprocess.run(argv, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (">&-" in closed.replace("2>&-", "")) == (done.stdout == "")
