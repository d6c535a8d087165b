"""The tables of docs/reference/lab.md are those that a description is read by."""

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.lab.description import LAB, PREDICTION
from tests.kit.reference_tables import write_tables

REFERENCE = PROJECT / "docs" / "reference" / "lab.md"
TABLES = {"lab": LAB.markdown(), "prediction": PREDICTION.markdown()}


def test_the_reference_shows_the_tables() -> None:
    text = REFERENCE.read_text()
    for name, table in TABLES.items():
        again = "PYTHONPATH=. build/env/bin/python tests/unit/lab/test_lab_reference.py writes it again"
        assert f"<!-- {name} -->\n{table}\n<!-- /{name} -->" in text, again


if __name__ == "__main__":
    write_tables(REFERENCE, TABLES)
