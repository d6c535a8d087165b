"""Writes tables of the reference again."""

from collections.abc import Mapping
from pathlib import Path


def write_tables(file: Path, tables: Mapping[str, str]) -> None:
    text = file.read_text()
    for name, table in tables.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        text = before + begin + table + "\n" + rest[rest.index(f"<!-- /{name} -->") :]
    file.write_text(text)
