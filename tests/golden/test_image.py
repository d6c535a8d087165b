"""Images: the command that makes the file system of each, and what a container begins with."""

import json
from pathlib import Path

import pytest

from tests.kit.machine import ROOT
from tools.image.targets import SYSTEMS, TARGETS, bootstrap, config, image_name, wheels_command

FOLDER = Path(__file__).parent / "image"


@pytest.mark.parametrize("family", SYSTEMS)
@pytest.mark.parametrize("target", TARGETS)
def test_what_makes_an_image(target: str, family: str, update_golden: bool) -> None:
    wheels = [
        wheels_command("python", Path(lock), SYSTEMS[family], "x86_64", Path("ingredients"))
        for lock in TARGETS[target].locks
    ]
    commands = [*wheels, bootstrap(family, None, ['Acquire::Retries "3"'])]
    words = "\n\n".join("\n".join(argv) for argv in commands).replace(str(ROOT), "PROJECT")
    written = f"{image_name(target, family)}\n\n{words}\n\n{json.dumps(config(target), indent=1)}\n"
    file = FOLDER / f"{target}-{family}.txt"
    if update_golden:
        file.write_text(written)
    assert written == file.read_text()
