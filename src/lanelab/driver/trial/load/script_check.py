"""Whether a user's script can be read: its generator reads it before the first trial. What only a run shows, such as a
threshold over a metric that there is not, fails the trials."""

import re

from lanelab.driver.base.errors import InputError
from lanelab.driver.bed.node import Node
from lanelab.driver.trial.load.generator import Generator, Target

SHOWN_CHARACTERS = 400
# Of what k6 says: where its own reading of the script failed, and paths of the folder it works in.
_AROUND = re.compile(r"^(?:Error: |could not initialize '[^']*': |could not load JS test '[^']*': )*")
_OF_SCRIPT = re.compile(r"script\.js:\d+:\d+")  # a line of what called what
_FOLDER = re.compile(r"file:///\S*/")


def check_script(node: Node, generator: Generator, target: Target) -> None:
    """Raises InputError with the generator's reason where it cannot run; BedError."""
    invocation = generator.invocation(target)
    if not invocation.script_check:
        return
    for name, data in invocation.files.items():
        node.write(f"{target.folder}/{name}", data)
    variables = [f"{name}={value}" for name, value in invocation.environment.items()]
    checked = node.run(["env", "-C", target.folder, *variables, *invocation.script_check], check=False)
    if checked.status != 0:
        what = f"{generator.name} cannot run {target.settings.script}: {problem(checked.stderr)}"
        raise InputError(what, "docs/reference/load-generator.md says what a script may do", key="workload.script")


def problem(stderr: str) -> str:
    """The generator's reason, in one line. Pure."""
    said, _, trace = stderr.strip().partition("\n\t")
    if not said:
        return "it says no reason"
    place = _OF_SCRIPT.search(trace)
    reason = _FOLDER.sub("", _AROUND.sub("", " ".join(said.split())))[:SHOWN_CHARACTERS]
    return f"{reason} ({place[0]})" if place else reason
