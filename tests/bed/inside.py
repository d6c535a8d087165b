"""Checks that run where the bed process does, with the nodes themselves in their hands.

A file of checks ends with `main(check_this, check_that)`; `results` runs it, once, in a bed of its own. Each check gets
the bed; what it says when it fails comes back as text, empty when all is well.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driver.bed.node import Node
from driver.bed.registry import substrate_named
from driver.bed.remote import namespaces
from driver.bed.ssh.hosts import Hosts
from driver.bed.substrate import BedSettings, Substrate
from driver.channel.link_state import LinkState
from model.paths import PROJECT


@dataclass
class InsideBed:
    """A bed as the bed process has it."""

    substrate: Substrate
    link: LinkState
    memory: Path = Path("/run/checks")  # of this bed alone
    kept: dict[str, Any] = field(default_factory=dict)  # what checks leave for later ones

    @property
    def client(self) -> Node:
        return self.substrate.node("client")

    @property
    def server(self) -> Node:
        return self.substrate.node("server")


Check = Callable[[InsideBed], None]


def results(module: str, folder: Path, *, through: Sequence[str] = (), hosts: Hosts | None = None) -> dict[str, str]:
    """Run a module's checks in a new bed: name -> what was wrong. `through`: a command that runs what follows it
    elsewhere; `hosts`: where an ssh bed's nodes are."""
    made = [json.dumps(hosts.to_json())] if hosts else []
    done = subprocess.run(
        [*through, sys.executable, "-P", "-m", module, str(folder), *made],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def main(*checks: Check) -> None:
    """Run the checks and end this process."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a check prints is for people
    hosts = Hosts.from_json(json.loads(sys.argv[2])) if len(sys.argv) > 2 else None
    settings = BedSettings(Path(sys.argv[1]), "ssh" if hosts else "netns", hosts=hosts)
    substrate = substrate_named(settings.substrate)
    namespaces.precise_timers()
    substrate.enter(settings)
    substrate.bring_up(settings)
    bed = InsideBed(substrate, LinkState(substrate))
    bed.memory.mkdir()
    found = {}
    for check in checks:
        try:
            check(bed)
            found[check.__name__] = ""
        except BaseException:  # noqa: BLE001 - reported by the test that asked; pytest's own failures are no Exceptions
            found[check.__name__] = traceback.format_exc()
    out.write(json.dumps(found))
    out.close()
    substrate.close()
    os._exit(0)
