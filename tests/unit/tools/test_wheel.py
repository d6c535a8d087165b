"""The wheel, installed in an environment of its own, outside any checkout: it has all that it needs, finds it where it
is, and writes nothing there."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.api.sample import unpacked
from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.version import VERSION
from lanelab.driver.experiment.shipped import shipped_names
from lanelab.driver.site.load import site_names
from tools import man
from tools.wheel import build
from tools.wheel.build import build_wheel
from tools.wheel.installed import install_wheel
from tools.wheel.version import version_of

KEYS = """
import json
from lanelab.driver.base.programs.building import apache_module, back_ends, gateway, go, load_generator, single_build
from lanelab.driver.run.measuring_code import measuring_digest
from lanelab.driver.site.load import _archive_code
files = {
    "gateway": [*single_build.sources(go.GATEWAY, without=gateway.irrelevant)],
    "load": [*single_build.sources(go.LOAD, without=gateway.irrelevant)],
    "back ends": [*single_build.sources(back_ends.SOURCES, without=back_ends._irrelevant)],
    "shared": [*single_build.sources(apache_module.SHARED, without=apache_module._is_c)],
    **{name: [*single_build.sources(apache_module.sources(name), without=apache_module._irrelevant)]
       for name in apache_module.MODULES},
}
print(json.dumps([measuring_digest(), _archive_code().hex(), {k: single_build.key_of(*v) for k, v in files.items()}]))
"""


pytestmark = pytest.mark.skipif(not (PROJECT / ".git").exists(), reason="the wheel is built of what git tracks")


def git(*words: str) -> str:
    argv = ["git", "-c", "safe.directory=*", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(PROJECT, tmp_path_factory.mktemp("wheel"), with_pages=False)


class Installed:
    """The command, in an empty folder, with a home of its own."""

    def __init__(self, programs: Path, home: Path) -> None:
        self.programs, self.home = programs, home
        home.mkdir()

    def run(self, *words: str, program: str = "lanelab") -> subprocess.CompletedProcess[str]:
        ours = ("LANELAB_", "XDG_", "PYTHON")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return subprocess.run(
            [self.programs / program, *words], cwd=self.home, env={**environment, "HOME": str(self.home)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def printed(self, *words: str, program: str = "lanelab") -> str:
        done = self.run(*words, program=program)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("installed")
    programs = install_wheel(wheel, folder / "env")
    before = _files(folder / "env")
    yield Installed(programs, folder / "home")
    assert _files(folder / "env") == before, "it wrote into the installation"


def _files(folder: Path) -> dict[str, int]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return {str(path): path.stat().st_mtime_ns for path in files}


def test_it_says_its_version(installed: Installed) -> None:
    version = version_of(PROJECT, VERSION)
    assert installed.printed("--version") == f"lanelab {version}\n"
    assert f"(version {version})" in installed.printed("--cite")
    assert (
        installed.printed("-I", "-c", "import lanelab; print(lanelab.__version__)", program="python") == f"{version}\n"
    )


def test_it_knows_what_it_brings(installed: Installed) -> None:
    named = json.loads(installed.printed("site", "list", "--json"))
    assert [site["name"] for site in named] == site_names()
    assert "quickstart: 8 cells x 3 trials" in installed.printed("plan", "quickstart")
    listing = "from lanelab.driver.experiment.shipped import shipped_names; print(*shipped_names())"
    assert installed.printed("-I", "-c", listing, program="python").split() == shipped_names()
    assert "spdy-vs-http-2012" in installed.printed("study", "list")


def test_it_measures_and_builds_the_same_as_the_checkout(installed: Installed) -> None:
    """What is kept of either is good for the other."""
    here = subprocess.run([sys.executable, "-I", "-c", KEYS], capture_output=True, text=True, check=True).stdout
    assert json.loads(installed.printed("-I", "-c", KEYS, program="python")) == json.loads(here)


def test_its_man_pages_are_where_man_looks(installed: Installed) -> None:
    pages = {page.name: page for page in (installed.programs.parent / "share" / "man" / "man1").iterdir()}
    assert set(pages) == {f"{man.page_name(path)}.1" for path in man.commands()}
    assert f'"lanelab {version_of(PROJECT, VERSION)}"' in pages["lanelab-run.1"].read_text().partition("\n")[0]


def test_it_shows_a_run(installed: Installed) -> None:
    assert "of bound" in installed.printed("show", str(unpacked()))


def test_runs_have_the_commit_that_it_was_built_from(installed: Installed) -> None:
    facts = "import json; from lanelab.driver.run.provenance import host_facts; print(json.dumps(host_facts('1')))"
    read = json.loads(installed.printed("-I", "-c", facts, program="python"))["lanelab"]
    assert read["commit"] == git("-C", str(PROJECT), "rev-parse", "HEAD")
    assert read["changed_files"].isdecimal()


def test_it_writes_to_the_users_folders(installed: Installed) -> None:
    installed.printed("new", "mine.yaml")
    assert "trials" in installed.printed("plan", "mine.yaml")
    written = {path.relative_to(installed.home).parts[0] for path in installed.home.rglob("*") if path.is_file()}
    assert written <= {"mine.yaml", ".cache", ".local"}


@pytest.mark.parametrize("command", ["check", "test", "bench", "wheel"])
def test_what_needs_a_checkout_says_so(installed: Installed, command: str) -> None:
    done = installed.run(command)
    assert done.returncode == 2
    assert "Get a checkout of lanelab" in done.stderr


def test_what_is_only_tested_is_not_in_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert not [name for name in names if "/tests/" in name or name.endswith(("_test.go", ".pyc"))]
    assert {"lanelab/data/LICENSE", "lanelab/data/CITATION.cff", "lanelab/data/requirements.lock"} <= set(names)


def test_pages_are_made_of_what_git_tracks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(docs: Path) -> Path:
        raise BuildError(" ".join(sorted(file.name for file in docs.iterdir())), "")

    monkeypatch.setattr(build, "documentation", stop)
    (tmp_path / "docs").mkdir()
    for name in ("tracked.md", "stray.md"):
        (tmp_path / "docs" / name).write_text("words")
    git("init", "-q", str(tmp_path))
    git("-C", str(tmp_path), "add", "docs/tracked.md")
    with pytest.raises(BuildError, match=r"^tracked\.md"):
        build_wheel(tmp_path, tmp_path / "out", with_pages=True)


@pytest.mark.long
def test_two_builds_from_two_folders_are_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    git("clone", "-q", "--no-hardlinks", str(PROJECT), str(copy))
    once, again = (build_wheel(copy, tmp_path / name, with_pages=False) for name in ("once", "again"))
    assert once.read_bytes() == again.read_bytes()
    if not git("-C", str(PROJECT), "status", "--porcelain"):
        assert wheel.read_bytes() == once.read_bytes()
