"""A bed in a process of its own, for tests of what the bed process calls: the nodes are the test's to hold.

`results` runs a file of checks, once, in a bed of its own: the file ends with `main(check_this, check_that)`, each
check gets the bed, and the text of its failure comes back. `call` runs one function and returns what it returns.
"""

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.bed.node import Node
from lanelab.driver.bed.registry import kind_named
from lanelab.driver.bed.remote import namespaces
from lanelab.driver.bed.ssh.hosts import Hosts
from lanelab.driver.bed.substrate import BedSettings, NodeSettings, Substrate
from lanelab.driver.link import Link
from lanelab.driver.link.live.state import LinkState


@dataclass
class InsideBed:
    """A bed as the bed process has it."""

    substrate: Substrate
    link: LinkState
    folder: Path  # outlives the bed
    memory: Path = Path("/run/checks")  # of this bed alone
    kept: dict[str, Any] = field(default_factory=dict)  # what checks leave for later ones

    def node(self, name: str) -> Node:
        return self.substrate.node(name)

    @property
    def client(self) -> Node:
        return self.node("client")

    @property
    def server(self) -> Node:
        return self.node("server")


Check = Callable[[InsideBed], None]
CALL_WITHIN_S = 840  # below the limit of a test, which a busy machine may come near


def results(module: str, folder: Path, *, through: Sequence[str] = (), hosts: Hosts | None = None) -> dict[str, str]:
    """Run a module's checks in a new bed: name -> what was wrong. `through`: a command that runs what follows it
    elsewhere; `hosts`: where an ssh bed's nodes are."""
    where = [json.dumps(hosts.to_json())] if hosts else []
    done = _python([*through], "-m", module, str(folder), *where)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    outcome: dict[str, str] = json.loads(done.stdout)
    return outcome


def call(module: str, function: str, folder: Path, link: Mapping[str, str], **arguments: object) -> Any:
    """What a function of a module of tests.e2e returns, called with a new bed that has this link."""
    words = [module, function, str(folder), json.dumps(link), json.dumps(arguments)]
    done = _python([], "-c", "from tests.kit.inside import call_here; call_here()", *words, timeout_s=CALL_WITHIN_S)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads((folder / f"{function}.json").read_text())


def _python(through: Sequence[str], *words: str, timeout_s: float | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*through, sys.executable, "-P", *words],
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )


def _bring_up(settings: BedSettings) -> InsideBed:
    namespaces.precise_timers()
    substrate = kind_named(settings.substrate).make(settings.nodes)
    substrate.enter(settings)
    substrate.bring_up(settings)
    return InsideBed(substrate, LinkState(substrate), settings.folder)


def main(*checks: Check) -> None:
    """Run the checks and end this process."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a check prints is for people
    folder = Path(sys.argv[1])
    over_ssh = len(sys.argv) > 2
    nodes = Hosts.from_json(json.loads(sys.argv[2])) if over_ssh else NodeSettings()
    bed = _bring_up(BedSettings(folder, "ssh" if over_ssh else "netns", nodes=nodes))
    bed.memory.mkdir()
    outcome = {}
    for check in checks:
        try:
            check(bed)
            outcome[check.__name__] = ""
        except BaseException:  # noqa: BLE001 - reported by the test that asked; pytest's own failures are no Exceptions
            outcome[check.__name__] = traceback.format_exc()
    out.write(json.dumps(outcome))
    out.close()
    _end(bed)


def call_here() -> None:
    """What `call` starts; its arguments are those of the command."""
    module, function, folder, link, arguments = sys.argv[1:]
    namespaces.die_with_parent(os.getppid())
    bed = _bring_up(BedSettings(folder=Path(folder)))
    bed.link.set(Link.parse(json.loads(link)))
    answer = getattr(importlib.import_module(f"tests.e2e.{module}"), function)(bed, **json.loads(arguments))
    Path(folder, f"{function}.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    sys.stderr.flush()
    _end(bed)


def _end(bed: InsideBed) -> None:
    bed.substrate.close()
    os._exit(0)
