"""`lanelab check` on small trees of its own."""

import subprocess
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import go
from lanelab.driver.base.programs.building.go import Go
from lanelab.driver.base.programs.find_program import find
from tools import check as checking


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    monkeypatch.setattr(checking, "PROJECT", tmp_path)
    monkeypatch.setattr(checking, "PLAYBOOKS", tmp_path / "playbooks")
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    (tmp_path / ".gitignore").write_text("/build/\n")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.sh", "", True),
        ("a", "#!/bin/sh\n", True),
        ("a", "#!/usr/bin/env bash\n", True),
        ("a", "#!/usr/bin/env -S bash -e\n", True),
        ("a", "#! /bin/dash -e\n", True),
        ("a", "#!/usr/bin/env python3\n", False),
        ("a", "#!/usr/bin/python3 sh\n", False),
        ("a", "echo\n#!/bin/sh\n", False),
        ("a", "", False),
    ],
)
def test_knows_a_shell_script(tmp_path: Path, name: str, content: str, expected: bool) -> None:
    (tmp_path / name).write_text(content)
    assert checking.is_shell(tmp_path / name) is expected


def test_looks_at_new_files_but_not_at_ignored_or_deleted_ones(tree: Path) -> None:
    (tree / "build").mkdir()
    for name in ("build/ignored.py", "tracked file.py", "new.py", "gone.py"):
        (tree / name).touch()
    subprocess.run(["git", "-C", tree, "add", "tracked file.py", "gone.py"], check=True)
    (tree / "gone.py").unlink()
    assert set(checking.tree_files()) == {Path(".gitignore"), Path("new.py"), Path("tracked file.py")}


def test_a_language_without_files_has_no_step(tree: Path) -> None:
    assert checking.steps(checking.tree_files()) == []
    (tree / "script").write_text("#!/bin/sh\n")
    assert [step.name for step in checking.steps(checking.tree_files())] == ["shell lint (shellcheck)"]


def test_names_what_failed_shows_its_output_and_goes_on(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tree / "badly_formatted.py").write_text('"""Doc."""\n\n\n\nVALUE: int  =  "text"\n')
    assert checking.check() == 1
    said = capsys.readouterr().out
    assert "FAILED  python format (ruff)" in said
    assert "ok      python lint (ruff)" in said
    assert "FAILED  python types (mypy)" in said
    assert 'Incompatible types in assignment (expression has type "str"' in said
    assert said.splitlines()[-1].startswith("check failed: python format (ruff), python types (mypy)")


def test_fix_mends_the_format(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tree / "badly_formatted.py"
    file.write_text('"""Doc."""\nimport sys\nimport os\nVALUE: int  =  1\nprint(os, sys)\n')
    assert checking.check() == 1
    assert checking.check(fix=True) == 0
    assert "import os\nimport sys\n" in file.read_text()
    assert capsys.readouterr().out.splitlines()[-1] == "check passed"


def test_go_that_is_not_formatted_fails_and_can_be_mended(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = find("gofmt")
    if program is None:
        pytest.skip("no Go here, and one is not fetched for this")
    monkeypatch.setattr(go, "GATEWAY", tree)
    monkeypatch.setattr(go, "toolchain", lambda: Go(program.with_name("true-go"), "go9"))
    (tree / "true-go").write_text("#!/bin/sh\n")
    (tree / "main.go").write_text("package main\nfunc main() { }\n")
    monkeypatch.setattr(Go, "gofmt", program)
    assert checking.check() == 1
    said = capsys.readouterr().out
    assert "FAILED  go format (gofmt)" in said
    assert "    main.go" in said
    assert "FAILED  go lint (go vet)" in said
    checking.check(fix=True)
    assert (tree / "main.go").read_text() == "package main\n\nfunc main() {}\n"
    assert "ok      go format (gofmt)" in capsys.readouterr().out


def test_go_that_cannot_be_had_is_a_failure_with_its_reason(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> Go:
        raise BuildError("installing go failed", "Check the network")

    monkeypatch.setattr(go, "toolchain", refuse)
    (tree / "main.go").write_text("package main\n")
    assert checking.check() == 1
    assert "installing go failed. Check the network" in capsys.readouterr().out


def test_c_without_its_compiler_is_skipped_and_said_so(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(needs, "missing", lambda _wanted: [needs.Program("no-such-compiler", "gcc", ("module",))])
    (tree / "main.c").write_text("int main(void) { return 0; }\n")
    assert checking.check() == 0
    said = capsys.readouterr().out
    assert "skipped c warnings of mod_replay (gcc): no-such-compiler missing" in said
    assert said.splitlines()[-1] == (
        "check passed, without: c warnings of mod_replay (gcc), c warnings of mod_spdy (gcc)"
    )


def test_a_tool_that_nobody_may_execute_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "some-tool").write_text("not for everybody")
    step = checking.Step("tool", ["some-tool"])
    assert checking._run(step, step.argv, {"PATH": str(tmp_path)}) == (False, "some-tool is not installed")
