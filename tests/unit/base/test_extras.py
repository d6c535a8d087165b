"""What an installed lanelab may lack: commands that read runs need none of it, and others say what to install."""

import ast
import json
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from lanelab.driver.api.sample import unpacked
from lanelab.driver.base.extras import EXTRAS, extra_with, require
from lanelab.driver.base.paths import CHECKOUT, PACKAGE

OPTIONAL = {module for modules in EXTRAS.values() for module in modules}
# Starts the command where the modules of the first argument are missing, and, as on macOS, the names of the second.
START = """
import json, os, select, signal, socket, sys
missing, absent = json.loads(sys.argv.pop(1)), json.loads(sys.argv.pop(1))
sys.modules.update(dict.fromkeys(missing))
for name in absent:
    module, _, attribute = name.partition(".")
    vars(sys.modules[module]).pop(attribute, None)
if absent:
    sys.platform = "darwin"
from lanelab.driver.cli.main import main
sys.exit(main())
"""
BROUGHT = {"dask", "urllib3"}  # by distributed and selenium
NOT_ON_MACOS = (
    "os.sched_getaffinity", "os.sched_setaffinity", "os.setns", "os.unshare", "os.pidfd_open", "os.memfd_create",
    "os.eventfd", "os.splice", "os.getrandom", "os.O_TMPFILE", "os.O_PATH", "os.copy_file_range", "os.getxattr",
    "select.epoll", "signal.pidfd_send_signal", "socket.AF_PACKET", "socket.AF_NETLINK", "socket.SOCK_CLOEXEC",
)  # fmt: skip


def started(*words: str, absent: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-I", "-c", START, json.dumps(sorted(OPTIONAL)), json.dumps(absent), *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("absent", [(), NOT_ON_MACOS], ids=["Linux", "macOS"])
@pytest.mark.parametrize(
    "words", [["show", "RUN"], ["explain", "RUN"], ["claims", "RUN"], ["report", "RUN", "--output", "OUT"],
              ["verify", "RUN"], ["export", "RUN", "--format", "csv", "--output", "OUT"], ["compare", "--help"]],
    ids=lambda words: words[0],
)  # fmt: skip
def test_runs_are_read_without_any_of_it(words: list[str], absent: tuple[str, ...], tmp_path: Path) -> None:
    places = {"RUN": str(unpacked()), "OUT": str(tmp_path / "out")}
    done = started(*(places.get(word, word) for word in words), absent=absent)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"), [(["run", "quickstart"], "run"), (["plan", "quickstart"], "run"), (["site", "list"], "run")]
)
def test_other_commands_name_the_extra_in_one_line(words: list[str], extra: str) -> None:
    done = started(*words)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"lanelab: lanelab {words[0]} needs ")
    assert line.endswith(
        f"which is not installed. Install the wheel that lanelab came from with its extra: 'lanelab-….whl[{extra}]'"
    )


def test_what_verifying_cannot_compare_is_said_with_the_extra() -> None:
    done = started("verify", str(unpacked()))
    assert "cannot be said: it takes " in done.stdout
    assert "which is in lanelab[run]" in done.stdout


def test_a_table_of_a_run_names_the_extra(tmp_path: Path) -> None:
    done = started("export", str(unpacked()), "--format", "parquet", "--output", str(tmp_path / "out"))
    assert "'lanelab-….whl[tables]'" in done.stderr


def test_modules_of_the_package_and_of_nobody_are_in_no_extra() -> None:
    assert [extra_with(name) for name in ("lanelab.driver", "json", "click", None)] == [None] * 4
    assert extra_with("selenium.webdriver.common") == "run"


def test_what_a_child_process_imports_is_asked_for_before_it_starts() -> None:
    require("json")
    with pytest.raises(ModuleNotFoundError) as error:
        require("no_such_module")
    assert error.value.name == "no_such_module"


@pytest.mark.skipif(CHECKOUT is None, reason="compares with pyproject.toml")
def test_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(str(CHECKOUT)) / "pyproject.toml").read_text())["project"]
    distributions = packages_distributions()
    for extra, modules in EXTRAS.items():
        named = {name for module in modules for name in distributions[module]} - BROUGHT
        assert named == {name for name in project["optional-dependencies"][extra] if not name.startswith("lanelab[")}
    needed = {name for module in imported() - OPTIONAL for name in distributions.get(module, ())} - {"lanelab"}
    assert {name.lower() for name in needed} == set(project["dependencies"])


@cache
def imported() -> set[str]:
    """Return the top of every module that any file of the package imports."""
    tops: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            tops.update(name.partition(".")[0] for name in names)
    return tops
