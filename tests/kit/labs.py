"""The labs of docs/labs, and the commands that they print."""

import re
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import PROJECT

LABS = sorted((PROJECT / "docs" / "labs").glob("[1-9]-*.md"))
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ {4}((?:\./lanelab|python3|sed|experiments/labs/)\S*.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Lab:
    page: Path

    @property
    def name(self) -> str:
        return self.page.stem

    @property
    def experiment(self) -> Path:
        return PROJECT / "experiments" / "labs" / f"{self.name}.yaml"

    def commands(self) -> list[str]:
        """Every line that a student types, in order: indented, and not within output, which is fenced."""
        return COMMAND.findall(FENCED.sub("", self.page.read_text()))


def classroom(folder: Path) -> None:
    """Make the folder look like the checkout; runs and files of students stay in it."""
    for name in ("lanelab", "experiments", "docs", "sites-archive"):
        (folder / name).symlink_to(PROJECT / name)


def labs() -> list[Lab]:
    return [Lab(page) for page in LABS]
