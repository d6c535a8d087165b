"""The house: the list of floors is complete, and the package needs nothing of the checkout around it to be imported."""

import ast
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

import lanelab as lanelab_package
from lanelab.driver import api
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PACKAGE, PROJECT, SOURCES
from lanelab.driver.cli import checkout_tools
from lanelab.driver.cli.main import lanelab


def floors() -> list[str]:
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers: list[str] = contracts[0]["layers"]
    return layers


def test_every_room_stands_on_a_floor() -> None:
    halves = [PACKAGE / "driver", PACKAGE / "analysis"]
    rooms = [path for half in halves for path in half.iterdir() if path.name not in ("__init__.py", "__pycache__")]
    names = {".".join(room.with_suffix("").relative_to(SOURCES).parts) for room in rooms}
    assert sorted(names | {"tools"}) == sorted(floors())


ENTRY = re.compile(r"(\w+)(?:\.py)?  +\S")  # of a map in a package's docstring: a name, and what it is


def test_maps_of_rooms_name_files_that_are_there() -> None:
    entries = [
        (package, entry[1])
        for package in sorted(PACKAGE.rglob("__init__.py"))
        for line in (ast.get_docstring(ast.parse(package.read_text())) or "").splitlines()
        if (entry := ENTRY.match(line))
    ]
    absent = [
        f"{package.parent.name}: {name}"
        for package, name in entries
        if not (package.with_name(name).is_dir() or package.with_name(f"{name}.py").is_file())
    ]
    assert absent == []
    assert len(entries) > 30


def test_the_links_at_the_top_lead_into_the_package() -> None:
    for name in ("driver", "analysis"):
        assert (PROJECT / name).is_symlink()
        assert (PROJECT / name).resolve() == PACKAGE / name


def test_the_package_itself_imports_nothing() -> None:
    program = "import sys; before = set(sys.modules); import lanelab; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(SOURCES)!r}); {program}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["lanelab"]


def test_the_package_has_the_names_of_its_library() -> None:
    assert {getattr(lanelab_package, name) for name in api.__all__} == {getattr(api, name) for name in api.__all__}
    with pytest.raises(AttributeError, match="lanelab has no 'nothing'"):
        _ = lanelab_package.nothing  # type: ignore[attr-defined] # who reads the code knows that


def test_a_name_of_the_library_stays_what_it_is_when_its_module_is_imported() -> None:
    """Importing a module puts it into its package, in the place of a function of the same name."""
    modules = {each.name for each in pkgutil.iter_modules(api.__path__)}
    assert [name for name in api.__all__ if name in modules and not inspect.ismodule(getattr(api, name))] == []


def test_the_command_line_starts_without_the_tools() -> None:
    program = (
        "import sys; import lanelab.driver.cli.main; print([name for name in sys.modules if name.startswith('tools')])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=SOURCES, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_a_checkout_a_tool_says_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkout_tools, "TOOLS", tmp_path / "tools")
    context = click.Context(lanelab)
    assert not {"check", "test", "bench"} & set(lanelab.list_commands(context))
    with pytest.raises(InputError, match="'check' looks at lanelab's own sources") as caught:
        lanelab.get_command(context, "check")
    assert "checkout" in caught.value.remedy
