"""A class does a lab: every command that its page prints, in order, as it is printed."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.kit.labs import Lab, classroom, labs

# Where a busy machine left cells without trials, `lanelab run` says so. Of a trial whose link was refused there,
# `lanelab packets` has nothing to show.
INCOMPLETE, NO_PAGE = 3, "has asked for no page"
# Lab 8 asks on purpose for a link that no router can be.
NOT_A_LINK = "the link is NOT what was asked for"
PACKETS = re.compile(r"(\./lanelab) packets (\S+) .*(--trial \d+)")


def ids(lab: Lab) -> str:
    return lab.name


def was_refused(command: str, folder: Path) -> bool:
    """Whether the trial whose packets are asked for failed before it began."""
    asked = PACKETS.search(command)
    assert asked, command
    show = [asked[1], "show", asked[2], *asked[3].split(), "--json"]
    done = subprocess.run(show, cwd=folder, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    return bool(record["failures"]) and record["evidence"] is None


@pytest.mark.long  # three minutes each
@pytest.mark.parametrize("lab", labs(), ids=ids)
def test_every_command_works_as_printed(lab: Lab, tmp_path: Path) -> None:
    classroom(tmp_path)
    environment = {**os.environ, "BROWSER": "true"}  # --open starts no browser here
    for command in lab.commands():
        done = subprocess.run(  # noqa: S602 - what the page prints
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        allowed = {0, INCOMPLETE} if "lanelab run" in command else {0}
        if NO_PAGE in done.stderr and was_refused(command, tmp_path):
            continue
        if "link test" in command and NOT_A_LINK in done.stdout + done.stderr:
            assert "ends with status 1" in lab.page.read_text()
            allowed = {1}
        assert done.returncode in allowed, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert done.stdout.strip() or done.stderr.strip() or not command.startswith("./lanelab"), command
