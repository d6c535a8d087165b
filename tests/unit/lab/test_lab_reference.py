"""The tables of docs/reference/lab.md are those that a description is read by."""

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.schemas import with_tables
from lanelab.driver.lab.description import LAB, PREDICTION

REFERENCE = PROJECT / "docs" / "reference" / "lab.md"
TABLES = {"lab": LAB.markdown(), "prediction": PREDICTION.markdown()}


def test_the_reference_shows_the_tables() -> None:
    again = "PYTHONPATH=. build/env/bin/python tests/unit/lab/test_lab_reference.py writes it again"
    assert with_tables(REFERENCE.read_text(), TABLES) == REFERENCE.read_text(), again


if __name__ == "__main__":
    REFERENCE.write_text(with_tables(REFERENCE.read_text(), TABLES))
