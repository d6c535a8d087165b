"""`lanelab check`: format, lint and types of every language in the tree, the same locally and in CI.

A language gets its step when it has files. Looks at the files that git tracks and at the user's own new ones.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.building import apache_module, go, load_generator
from lanelab.driver.base.programs.find_program import find
from lanelab.driver.base.programs.needs import PLAYBOOKS

SHELLS = ("sh", "bash", "dash")


@dataclass(frozen=True)
class Step:
    """One tool on all of its files; without files there is nothing to run."""

    name: str
    argv: Sequence[str]
    fix: Sequence[str] = ()  # what --fix runs before it
    folder: Path | None = None  # where, if not in the project's own
    environment: Mapping[str, str] | None = None  # if not that of all steps
    silent: bool = False  # whatever it prints is a complaint
    missing: str = ""  # what it would take that is not here


# The linter wants the packages on its path, and only its command knows the contracts in pyproject.toml.
LINT_WORDS = (
    f"import sys; sys.path.insert(0, {str(PROJECT)!r}); from tools.words import main; sys.exit(main(sys.argv[1:]))"
)
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def check(fix: bool = False) -> int:
    """Run every step, say in a line each how it went, show the output of those that failed. 1 if any did."""
    environment = _environment()
    failed, skipped = [], []
    for step in steps(tree_files()):
        if step.missing:
            print(f"skipped {step.name}: {step.missing}", flush=True)
            skipped.append(step.name)
            continue
        if fix and step.fix:
            _run(step, step.fix, environment)
        started = time.monotonic()
        passed, output = _run(step, step.argv, environment)
        print(f"{'ok    ' if passed else 'FAILED'}  {step.name}  ({time.monotonic() - started:.1f} s)", flush=True)
        if not passed:
            print(_indented(output), flush=True)
            failed.append(step.name)
    if failed:
        hint = "" if fix else "; ./lanelab check --fix mends what can be mended by itself"
        print(f"check failed: {', '.join(failed)}{hint}")
    else:
        print("check passed" + (f", without: {', '.join(skipped)}" if skipped else ""))
    return 1 if failed else 0


def steps(files: Iterable[Path]) -> list[Step]:
    """Return what is run for these files."""
    files = list(files)
    python = [str(file) for file in files if file.suffix == ".py"]
    shell = [str(file) for file in files if is_shell(PROJECT / file)]
    plays = [str(file) for file in files if file.suffix == ".yml" and (PROJECT / file).parent == PLAYBOOKS]
    gophers = [str(file) for file in files if file.suffix == ".go"]
    c = [str(file) for file in files if file.suffix in (".c", ".h")]
    every = [
        (python, _python_steps),
        (gophers, _go_steps),
        (c, _c_steps),
        (shell, _shell_steps),
        (plays, _ansible_steps),
    ]
    return [step for files_of_kind, make in every if files_of_kind for step in make(files_of_kind)]


def _python_steps(files: list[str]) -> list[Step]:
    ruff = [sys.executable, "-I", "-m", "ruff"]
    layers = Step("python layers (import-linter)", [sys.executable, "-I", "-c", LINT_IMPORTS])
    say_words = [sys.executable, "-I", "-c", LINT_WORDS]
    words = Step("python words (tools/words.py)", say_words, fix=[*say_words, "--lower"])
    # A notebook has bare cells, awaits outside functions, and marimo's are without types; the script of a journey has
    # names that no import brings. Tests execute both.
    untyped = [file for file in files if Path(file).is_relative_to("docs/notebooks") or file.endswith("-journey.py")]
    typed = [file for file in files if file not in untyped]
    return [
        Step("python format (ruff)", [*ruff, "format", "--check", *files], fix=[*ruff, "format", *files]),
        Step(
            "python lint (ruff)",
            [*ruff, "check", "--output-format=concise", *files],
            fix=[*ruff, "check", "--fix", *files],
        ),
        Step("python types (mypy)", [sys.executable, "-I", "-m", "mypy", "--strict", *typed]),
        *([layers] if (PROJECT / "pyproject.toml").is_file() else []),  # which has the contracts
        *([words] if (PROJECT / "tools" / "words.txt").is_file() else []),
    ]


def _shell_steps(files: list[str]) -> list[Step]:
    return [Step("shell lint (shellcheck)", [str(find("shellcheck") or "shellcheck"), *files])]


def _ansible_steps(plays: list[str]) -> list[Step]:
    # --offline: it would otherwise ask the world for newer rules and for collections, and fail where it cannot.
    lint = [sys.executable, "-I", "-m", "ansiblelint", "--offline", "--nocolor", "-q", "--profile", "production"]
    syntax = [sys.executable, "-I", "-m", "ansible", "playbook", "--syntax-check"]
    return [
        Step("playbooks lint (ansible-lint)", [*lint, str(PLAYBOOKS.relative_to(PROJECT))]),
        Step("playbooks syntax (ansible-playbook)", [*syntax, *plays]),
    ]


def _go_steps(files: list[str]) -> list[Step]:
    name = "go format (gofmt)"
    try:
        tools = go.toolchain()
    except LanelabError as error:  # no network, no space: told like a fault of the tree
        return [Step(name, ["sh", "-c", 'echo "$1"; exit 1', "sh", str(error)])]
    gofmt, environment = str(tools.gofmt), tools.environment()
    vet = [str(tools.program), "vet", "./..."]
    # What k6 takes is large to download: whoever has not built it has not changed it, and the tests vet it too.
    missing = "" if load_generator.was_built() else "what it depends on is downloaded when it is first built"
    return [
        Step(name, [gofmt, "-l", *files], fix=[gofmt, "-w", *files], silent=True),
        Step("go lint (go vet)", vet, folder=go.GATEWAY, environment=environment),
        Step("go lint of the load generator (go vet)", vet, folder=go.LOAD, environment=environment, missing=missing),
    ]


def _c_steps(_files: list[str]) -> list[Step]:
    """Return the compiler's warnings: of each module's core, of its tests, and of the module for this machine's
    Apache."""
    names = ", ".join(program.name for program in needs.missing(needs.programs("module")))
    missing = f"{names} missing" if names else ""
    apxs = needs.program("apxs").path() or "apxs"
    steps = []
    for name in apache_module.MODULES:
        out = build_folder().absolute() / "check" / "native" / name
        out.mkdir(parents=True, exist_ok=True)
        make = ["make", "-sk", f"-j{len(os.sched_getaffinity(0))}", "-C", str(apache_module.sources(name))]
        argv = [*make, f"OUT={out}", f"APXS={apxs}", "check-build"]
        environment = apache_module.environment()
        steps.append(Step(f"c warnings of {name} (gcc)", argv, environment=environment, missing=missing))
    return steps


def tree_files() -> list[Path]:
    """Return files of the project, relative to its root: tracked ones and new ones, without what git ignores."""
    # safe.directory: the checkout may belong to someone else than who runs the check (CI is root).
    listing = ["git", "-c", f"safe.directory={PROJECT}", "ls-files", "-z", "-co", "--exclude-standard", "--deduplicate"]
    result = subprocess.run(listing, cwd=PROJECT, capture_output=True, text=True, check=True)
    return [Path(name) for name in result.stdout.split("\0") if name and (PROJECT / name).is_file()]


def is_shell(file: Path) -> bool:
    """Return whether a file is a shell script, by its name or by its first line."""
    if file.suffix == ".sh":
        return True
    with file.open("rb") as content:
        first = content.readline(200)
    if not first.startswith(b"#!"):
        return False
    names = [Path(word).name for word in first[2:].decode(errors="replace").split() if not word.startswith("-")]
    interpreter = names[1:2] if names[:1] == ["env"] else names[:1]
    return interpreter[0] in SHELLS if interpreter else False


def _run(step: Step, argv: Sequence[str], environment: Mapping[str, str]) -> tuple[bool, str]:
    try:
        result = subprocess.run(
            argv, cwd=step.folder or PROJECT, env=step.environment or environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError):  # the latter too where a folder in PATH cannot be read
        return False, f"{argv[0]} is not installed"
    return result.returncode == 0 and not (step.silent and result.stdout.strip()), result.stdout


def _environment() -> dict[str, str]:
    """Caches go with what can be made again; ansible-lint finds the Ansible of this environment first."""
    build = build_folder()
    return {
        **os.environ,
        **ansible_settings(),
        "RUFF_CACHE_DIR": str(build / "ruff_cache"),
        "MYPY_CACHE_DIR": str(build / "mypy_cache"),
        "PATH": f"{Path(sys.prefix) / 'bin'}:{os.environ.get('PATH', '')}",
        "NO_COLOR": "1",
    }


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines())
