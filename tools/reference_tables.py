"""The tables of the reference that come from the code, and the schemas of experiments and studies.

    python -m tools.reference_tables

writes all of them again. What stands outside a page's markers is written by hand.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from lanelab.driver.arm.browsers.devices import DEVICES
from lanelab.driver.arm.fields import ARM
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.setting import Setting, Table
from lanelab.driver.experiment.keys import CLAIM_SECTIONS, SECTIONS
from lanelab.driver.experiment.shipped import EXPERIMENT_SCHEMA, STUDY_SCHEMA
from lanelab.driver.lab.description import LAB, PREDICTION
from lanelab.driver.link import SETTINGS
from lanelab.driver.link.profiles import PROFILES
from lanelab.driver.run.study.keys import SECTIONS as STUDY_SECTIONS
from lanelab.driver.site.fetch.spec import FETCH, PACKAGE
from lanelab.driver.site.generate.tables import GROUP, RECIPE
from lanelab.driver.site.manifest import OBJECT, SITE
from tools.experiment_schema import experiment_schema
from tools.input_schemas import study_schema
from tools.schema_parts import schema_text

REFERENCE = PROJECT / "docs" / "reference"


def files() -> dict[Path, str]:
    """Return what each file should have."""
    return {
        EXPERIMENT_SCHEMA: schema_text(experiment_schema()),
        STUDY_SCHEMA: schema_text(study_schema()),
        **{page: with_tables(page.read_text(encoding="utf-8"), tables) for page, tables in _pages().items()},
    }


def with_tables(page: str, tables: Mapping[str, str]) -> str:
    """Return a page of the reference with each table between the markers that have its name."""
    for name, table in tables.items():
        before, begin, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->")
        if not end:
            raise ValueError(f"the page has no place for {name}: write <!-- {name} --> and <!-- /{name} -->")
        page = f"{before}{begin}{table}\n{end}{after}"
    return page


def _pages() -> dict[Path, dict[str, str]]:
    """Return every generated table by its page and its name."""
    of_experiments = {name: table for name, table in SECTIONS.items() if name != "step"}
    return {
        REFERENCE / "experiment.md": _written({"arm": ARM, **of_experiments}),
        REFERENCE / "journeys.md": _written({"step": SECTIONS["step"]}),
        REFERENCE / "claims.md": _written(CLAIM_SECTIONS),
        REFERENCE / "study.md": _written(STUDY_SECTIONS),
        REFERENCE / "lab.md": _written({"lab": LAB, "prediction": PREDICTION}),
        REFERENCE / "generate.md": _written({"recipe": RECIPE, "group": GROUP, "fetch": FETCH, "package": PACKAGE}),
        REFERENCE / "site.md": {"site": _keys(SITE), "object": _keys(OBJECT)},
        REFERENCE / "link.md": {"settings": SETTINGS.markdown(), "profiles": _profiles()},
        REFERENCE / "devices.md": {"devices": _devices()},
    }


def _written(tables: Mapping[str, Table]) -> dict[str, str]:
    return {name: table.markdown() for name, table in tables.items()}


def _keys(table: Table) -> str:
    return _table(("key", "meaning", "example"), map(_key, table.settings))


def _key(setting: Setting) -> tuple[str, ...]:
    needed = "**needed**; " if setting.required else ""
    return f"`{setting.name}`", f"{needed}{setting.help}", f"`{setting.example}`"


def _profiles() -> str:
    rows = (
        (f"`{each.name}`", ", ".join(f"`{key}: {value}`" for key, value in each.settings.items()), each.source)
        for each in PROFILES.values()
    )
    return _table(("profile", "settings", "source"), rows)


def _devices() -> str:
    rows = (
        (f"`{each.name}`", each.title, f"{each.viewport[0]}x{each.viewport[1]}", f"{each.pixel_ratio:g}",
         "yes" if each.touch else "", f"{each.cpu_slowdown:g}", each.why)
        for each in DEVICES
    )  # fmt: skip
    return _table(("name", "what", "view", "pixel ratio", "touch", "slowdown", "its source"), rows)


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (heads, ("---",) * len(heads), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")
