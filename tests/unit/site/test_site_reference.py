"""The tables of docs/reference/site.md follow those of the manifest."""

from collections.abc import Mapping

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.site.manifest import OBJECT, SITE

REFERENCE = PROJECT / "docs" / "reference" / "site.md"
TABLES: Mapping[str, Table] = {"site": SITE, "object": OBJECT}


def shown(table: Table) -> str:
    return "\n".join(["| key | meaning | example |", "| --- | --- | --- |", *map(row, table.settings)])


def row(setting: Setting) -> str:
    needed = "**needed**; " if setting.required else ""
    return f"| `{setting.name}` | {needed}{setting.help} | `{setting.example}` |"


def test_the_reference_shows_the_tables() -> None:
    text = REFERENCE.read_text()
    for name, table in TABLES.items():
        again = "PYTHONPATH=. build/env/bin/python tests/unit/site/test_site_reference.py writes it again"
        assert f"<!-- {name} -->\n{shown(table)}\n<!-- /{name} -->" in text, again


def write() -> None:
    text = REFERENCE.read_text()
    for name, table in TABLES.items():
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, _, after = rest.partition(f"<!-- /{name} -->")
        text = f"{before}<!-- {name} -->\n{shown(table)}\n<!-- /{name} -->{after}"
    REFERENCE.write_text(text)


if __name__ == "__main__":
    write()
