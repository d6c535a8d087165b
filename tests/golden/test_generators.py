"""How each generator of static loads is started: exactly what its file shows.

A file holds `generator`, settings of the arm (`arm`), of the load (`load`), and paths; a line of dashes; the command
line, a word in each line, the environment and the files that are put beside it. To add one, write the settings and run
`pytest tests/golden --update-golden`.
"""

from pathlib import Path

import pytest
import yaml

from lanelab.driver.trial.server_load.registry import GENERATORS
from tests.kit.loads import target
from tests.kit.server_arms import DASHES, compare

FOLDER = Path(__file__).parent / "generators"
FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_command_line(file: Path, update_golden: bool) -> None:
    head, _, expected = file.read_text().partition(DASHES)
    wanted = yaml.safe_load(head)
    generator = GENERATORS[wanted["generator"]]
    paths = wanted.get("paths", ["/a.bin"])
    asked = target(generator, wanted.get("arm"), paths, [10_240] * len(paths), **wanted.get("load", {}))
    generator.check(asked.settings, asked.arm)
    made = generator.invocation(asked)
    lines = [*made.argv, *(f"environment {name}={value}" for name, value in made.environment.items())]
    files = [f"file {name}\n{data.decode()}" for name, data in made.files.items()]
    compare(file, head, expected, "\n".join([*lines, *files]).rstrip() + "\n", update=update_golden)


def test_each_generator_of_this_kind_has_a_file() -> None:
    named = {yaml.safe_load(file.read_text().partition(DASHES)[0])["generator"] for file in FILES}
    assert named == {name for name in GENERATORS if name != "k6"}
