"""A small lab with a text, and runs of its experiment that are made up."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from lanelab.driver.experiment.claim import digest_of
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.lab.description import Lab, read_lab
from lanelab.driver.lab.folder import LabFolder, begin_lab, fix
from lanelab.driver.lab.text import read_text
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.folder.copies import SelfTestCopy, StoredSelfTest, TrialCopy
from tests.kit.made_trials import FILES, PAGE_BYTES, MadeLoad, record_of, self_test
from tests.kit.stored_run import PROVENANCE, RunContent, artifacts_of, stamp, store_run

NAME = "small"
EXPERIMENT = """\
description: The dummy page over two links, one connection against six
sites: dummy
links: {rate: 10mbit, rtt: [20ms, 100ms]}
arms:
  six connections: {tls: off}
  one connection: {protocol: h2, tls: 1.3}
trials: 8
"""
DESCRIPTION = """\
experiment: {file}

predictions:
  load:
    value: {{of: six connections, metric: plt}}
    where: {{rtt: 100ms}}
    margin: 10%
  faster:
    change: {{of: one connection, to: six connections, metric: plt}}
    where: {{rtt: 100ms}}
    answer: direction
    margin: 2%
  share:
    change: {{of: one connection, to: six connections, metric: plt}}
    where: {{rtt: 20ms}}
    margin: 5pp
  product: {{calculated: 86, unit: packets}}
  ping: {{unit: ms}}

numbers:
  1: [load, share]
"""
TEXT = """\
# Lab 0: small

A minute.

**What you learn**: that this works.

## Background

One connection or six.

## Predict first

Write an answer for each.

- `load`: How long does the page take over six connections at 100 ms, in ms?
- `faster`: Is it lower, higher or the same over one?
- `share`: And at 20 ms, by how many percent does it change?
- `product`: What is the bandwidth-delay product at 100 ms?
- `ping`: What does ping show?

## Run it

    ./lanelab run small.yaml
    ./lanelab report small

## What to see

| arm | ms |
| --- | --: |
| six connections | 1,000 |

## Questions

1. Why?
2. And why not?

## Going further

- Read on.

## Answers

<details>
<summary>Predictions</summary>

- `load`: a secret second.

</details>

<details>
<summary>Questions</summary>

1. Because.
2. Therefore.

</details>
"""


def make_lab(folder: Path) -> Lab:
    """Write the lab into a folder, and read it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "experiment.yaml").write_text(EXPERIMENT)
    (folder / f"{NAME}.yaml").write_text(DESCRIPTION.format(file=folder / "experiment.yaml"))
    (folder / f"{NAME}.md").write_text(TEXT)
    return read_lab(NAME, folder)


def student_folder(described: Path, path: Path, student: str, answers: Mapping[str, str] | None = None) -> LabFolder:
    """Begin the lab for a student, and fix the answers."""
    lab = read_lab(NAME, described)
    folder = begin_lab(lab, read_text(lab), student, path, described=described)
    if answers:
        fix(folder, answers)
    return folder


def store_lab_run(
    folder: Path, text: str, *, created_utc: str, rounds: int = 8, factors: Sequence[float] = (1.0, 0.8)
) -> Path:
    """Store a run of an experiment, whose arms take so many times as long as expected."""
    experiment = parse_experiment(text, "lab", {"dummy"})
    rng = random.Random(5)
    places = {arm.name: factors[at % len(factors)] for at, arm in enumerate(experiment.arms)}
    trials = list[TrialCopy]()
    for number in range(1, rounds + 1):
        for cell in experiment.cells:
            load = MadeLoad(cell.link.link, "http", PAGE_BYTES, places[cell.arm.name] * rng.lognormvariate(0, 0.005))
            record = record_of(load, stamp(2 + len(trials) * 2), rng, with_requests=True)
            trials.append(
                TrialCopy(
                    trial=len(trials) + 1, bed=1, cell=cell.id, round=number, attempt=1, wall_s=2.0, record=record,
                    artifacts=artifacts_of(FILES), asked="", versions="", origin="",
                )
            )  # fmt: skip
    sound = cast(StoredSelfTest, self_test({"rate": "10mbit", "rtt": "20ms"}))
    tests = [SelfTestCopy(1, case.label, "before", stamp(1), passed=True, data=sound) for case in experiment.links]
    pairs = [[base.id, arm.id] for base, arm in experiment.pairs.cells]
    plan = {"order": "interleaved", "looks": [[rounds, 0.05]], "timeout_s": 60, "compared": pairs, "not_compared": []}
    meta = {
        "workload": "page_load", "name": "small", "description": "", "seed": str(experiment.seed), "state": "finished",
        "figures": "[]", "plan": json.dumps(plan), "experiment_sha256": hashlib.sha256(text.encode()).hexdigest(),
        run_format.ID: hashlib.sha256(str(folder).encode()).hexdigest()[:16], run_format.VARIANT: "",
        run_format.CLAIMS: "[]", run_format.CLAIMS_DIGEST: digest_of([]), "created_utc": created_utc,
    }  # fmt: skip
    store_run(folder, RunContent(text, meta, experiment.cells, PROVENANCE, trials, FILES, tests))
    return folder
