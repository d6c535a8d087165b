"""The tables of docs/reference/site.md follow those of the manifest."""

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.schemas import with_tables
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.site.manifest import OBJECT, SITE

REFERENCE = PROJECT / "docs" / "reference" / "site.md"


def shown(table: Table) -> str:
    return "\n".join(["| key | meaning | example |", "| --- | --- | --- |", *map(row, table.settings)])


def row(setting: Setting) -> str:
    needed = "**needed**; " if setting.required else ""
    return f"| `{setting.name}` | {needed}{setting.help} | `{setting.example}` |"


TABLES = {"site": shown(SITE), "object": shown(OBJECT)}


def test_the_reference_shows_the_tables() -> None:
    again = "PYTHONPATH=. build/env/bin/python tests/unit/site/test_site_reference.py writes it again"
    assert with_tables(REFERENCE.read_text(), TABLES) == REFERENCE.read_text(), again


if __name__ == "__main__":
    REFERENCE.write_text(with_tables(REFERENCE.read_text(), TABLES))
