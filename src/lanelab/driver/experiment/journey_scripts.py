"""The key `script`: a user's own program that makes the journey of each trial. Its steps are those that it names."""

import ast
from collections.abc import Mapping

from lanelab.driver.base.settings.source import Written
from lanelab.driver.experiment.user_files import read_script
from lanelab.driver.record.metrics import PAGE_LOAD
from lanelab.driver.site.manifest import PAGE_NAME
from lanelab.driver.trial.journey import Script, Step

MOST_STEPS = 100
MARK = "step"


def read_journey_script(entries: Mapping[str, Written], workload: str) -> tuple[Script | None, tuple[Step, ...]]:
    """Return the script and its steps; None where the file has none. Raises InputError for what is no script, with its
    line; nothing of it is run."""
    if "script" not in entries:
        return None, ()
    written = entries["script"]
    if workload != PAGE_LOAD:
        what = f"with workload: {workload} it is a key of workload"
        raise written.error(what, "Write it there, or leave it out")
    for other in ("pages", "think"):
        if other in entries:
            what = f"there is {other} on line {entries[other].line} too: a script goes where it likes, when it likes"
            raise written.error(what, "Leave one of them out")
    name = written.text().strip()
    if not name.endswith(".py"):
        raise written.error(f"{name[:60]!r} is no Python file", "Write the path of a script, like journey.py")
    script = Script(name, read_script(written, name))
    return script, tuple(Step(step, "", False, 0) for step in _names(script, written))


def _names(script: Script, written: Written) -> list[str]:
    """Return the steps that it marks, in the order of its text: they are the metrics of the run, so they have to be
    known before it begins."""
    try:
        tree = ast.parse(script.text, script.name)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise written.error(f"{script.name}:{line}: {error.args[0]}", "Correct the script") from None
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _is_mark(each.func)]
    names: list[str] = []
    for call in sorted(calls, key=lambda each: (each.lineno, each.col_offset)):
        place = f"{script.name}:{call.lineno}"
        name = call.args[0].value if len(call.args) == 1 and isinstance(call.args[0], ast.Constant) else None
        if not isinstance(name, str):
            what = f"{place}: the name of a step is not written there as a text"
            raise written.error(what, 'Write step("article"): steps are metrics, which are known before the run')
        if not PAGE_NAME.fullmatch(name):
            what = f"{place}: {name[:40]!r} is no name of a step"
            raise written.error(what, "Write a to z, 0 to 9 and '-', like article-2")
        if name in names:
            raise written.error(f"{place}: the step {name} is there twice", "Give one of them another name")
        names.append(name)
    if not 0 < len(names) <= MOST_STEPS:
        what = f"{script.name} has {len(names)} steps, and a journey has 1 to {MOST_STEPS}"
        raise written.error(what, 'Mark what is measured: with step("article"):')
    return names


def _is_mark(called: ast.expr) -> bool:
    return isinstance(called, ast.Name) and called.id == MARK
