"""A bed in this very process, for tests of what the bed process calls: nodes are ours to hold.

    python -P -m tests.e2e.inside MODULE FUNCTION FOLDER LINK-JSON ARGUMENTS-JSON

calls FUNCTION(inside, **arguments) of a module of tests.e2e and prints what it returns as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver.bed.node import Node
from driver.bed.registry import substrate_named
from driver.bed.remote import namespaces
from driver.bed.substrate import BedSettings, Substrate
from driver.channel.link_state import LinkState
from model.paths import PROJECT


@dataclass(frozen=True)
class Inside:
    """A bed that is up, as the bed process has it."""

    substrate: Substrate
    link: LinkState
    folder: Path  # survives the bed

    def node(self, name: str) -> Node:
        return self.substrate.node(name)


def call(module: str, function: str, folder: Path, link: Mapping[str, str], **arguments: object) -> Any:
    """What that function returns, called inside a new bed."""
    words = [module, function, str(folder), json.dumps(link), json.dumps(arguments)]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "tests.e2e.inside", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
        cwd=PROJECT,
        check=False,
        timeout=280,
    )
    answer = folder / f"{function}.json"
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(answer.read_text())


def main() -> None:
    module, function, folder, link, arguments = sys.argv[1:]
    parent = os.getppid()
    namespaces.die_with_parent(parent)
    namespaces.precise_timers()
    substrate = substrate_named("netns")
    settings = BedSettings(folder=Path(folder))
    substrate.enter(settings)
    substrate.bring_up(settings)
    state = LinkState(substrate)
    state.set(json.loads(link))
    inside = Inside(substrate, state, Path(folder))
    found = getattr(importlib.import_module(f"tests.e2e.{module}"), function)(inside, **json.loads(arguments))
    Path(folder, f"{function}.json").write_text(json.dumps(found))
    substrate.close()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
