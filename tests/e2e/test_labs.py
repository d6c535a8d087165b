"""A class does a lab: every command that its page prints, in order, as it is printed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.kit.labs import Lab, classroom, labs

# Where a busy machine left cells without trials: `lanelab run` says so, and `lanelab packets` has nothing to show.
INCOMPLETE, NO_PAGE = 3, "has asked for no page"


def ids(lab: Lab) -> str:
    return lab.name


@pytest.mark.long  # three minutes each
@pytest.mark.parametrize("lab", labs(), ids=ids)
def test_every_command_works_as_printed(lab: Lab, tmp_path: Path) -> None:
    classroom(tmp_path)
    environment = {**os.environ, "BROWSER": "true"}  # --open starts no browser here
    incomplete = False
    for command in lab.commands():
        done = subprocess.run(  # noqa: S602 - what the page prints
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        allowed = {0, INCOMPLETE} if "lanelab run" in command else {0}
        if incomplete and "lanelab packets" in command and NO_PAGE in done.stderr:
            continue
        incomplete |= done.returncode == INCOMPLETE
        assert done.returncode in allowed, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert done.stdout.strip() or done.stderr.strip() or not command.startswith("./lanelab"), command
