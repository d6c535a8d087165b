"""Every load in k6/ comes to exactly the files that its file shows: what k6 runs, and what our transports are told. As
test_apache.py."""

import difflib
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.trial.server_load.generator import Target
from lanelab.driver.trial.server_load.generators.k6 import MAIN, SETTINGS, K6Generator
from tests.kit.k6_loads import k6_settings, k6_target

FILES = sorted((Path(__file__).parent / "k6").glob("*.txt"))
DASHES = "----\n"


def target_of(text: str) -> Target:
    said = yaml.safe_load(text)
    script = b"export default function () {}\n" if said.get("load", {}).get("script", "").endswith(".js") else b""
    return k6_target(k6_settings(**said.get("load", {})), Arm.parse("arm", said.get("arm", {})), script=script)


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_files(file: Path, update_golden: bool) -> None:
    head, _, expected = file.read_text().partition(DASHES)
    made = K6Generator().invocation(target_of(head))
    parts = [" ".join(made.argv), *(f"{name}={value}" for name, value in made.environment.items())]
    found = "\n".join([*parts, "", made.files[MAIN].decode(), made.files[SETTINGS].decode()])
    if update_golden:
        file.write_text(head + DASHES + found)
        return
    difference = list(difflib.unified_diff(expected.splitlines(), found.splitlines(), lineterm="", n=1))
    assert not difference, "\n".join([f"{file.name} has changed:", *difference])


def test_each_kind_of_load_is_there() -> None:
    assert {file.stem for file in FILES} >= {"ramp", "arrivals", "script"}
