"""What the trials of a run are made with: browser, servers, kernels, tools, and lanelab's own code.

Some of it is known before there is a bed (`known_here`), the rest only by the bed (`versions_of`), whose nodes are
asked once. All of it is text by name; its digest is half of a trial's key (trial_keys.py).
"""

import importlib.metadata
import os
import platform
import re
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs.needs import Program
from lanelab.driver.bed.node import Command, Stdio
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.run.built_programs import Programs
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.run.channel.fact_operations import BedReport
from lanelab.driver.run.measuring_code import measuring_digest
from lanelab.driver.run.needs import needs_of
from lanelab.driver.run.trial_keys import digest_of

# Python packages that a trial's numbers go through.
LIBRARIES = ("selenium", "websocket-client", "cryptography", "hyperframe", "hpack", "brotlicffi", "zstandard")
NODES = ("client", "server")
# Of each program: its place, its size, and the first line of what it says. Arguments: name, option, places, ";" and so
# on. A file that is no program says nothing.
LOOK = """
while [ $# -gt 0 ]; do
  name=$1 option=$2; shift 2; path= words=
  while [ "$1" != ";" ]; do [ -n "$path" ] || path=$(command -v "$1" || { [ -e "$1" ] && echo "$1"; }); shift; done
  shift
  if [ -n "$path" ]; then
    size=$(stat -L -c %s "$path")
    if [ -f "$path" ] && [ -x "$path" ]; then words=$(timeout 30 "$path" $option 2>&1 </dev/null | head -n 1); fi
    echo "$name|$size|$words"
  fi
done
echo "libraries||$(openssl version 2>/dev/null | head -n 1) $(getconf GNU_LIBC_VERSION 2>/dev/null)"
"""
NOT_THERE = "not there"
LOOKED = re.compile(r"^(?P<name>[^|]+)\|(?P<size>\d*)\|(?P<words>.*)$")


def known_here(programs: Programs) -> dict[str, str]:
    """Return what this machine's lanelab has, before there is a bed."""
    return {
        "measuring code": measuring_digest(),
        "python": platform.python_version(),
        **{f"python {name}": _library(name) for name in LIBRARIES},
        **{f"built {name}": digest for name, digest in programs.digests().items()},
    }


def versions_of(experiment: Experiment, programs: Programs, bed: Bed, facts: BedReport) -> dict[str, str]:
    """Return all that a trial on this bed is made with. `facts`: the bed's own."""
    wanted = [each for each in sorted(needs_of(experiment), key=lambda program: program.name) if each.nodes]
    versions = {**known_here(programs), **of_facts(bed.settings.substrate, facts)}
    there = {node: [program for program in wanted if node in program.nodes] for node in NODES}
    with ThreadPoolExecutor(len(NODES), "versions") as pool:  # each asks a second's worth of programs
        answers = {node: pool.submit(_versions_on, bed, node, programs_there) for node, programs_there in there.items()}
    for node, answer in answers.items():
        versions |= {f"{node} {name}": words for name, words in answer.result().items()}
    return versions


def of_facts(substrate: str, facts: BedReport) -> dict[str, str]:
    """Read versions from what a bed says of itself. Pure."""
    router = facts["router"]
    versions = {
        "substrate": substrate,
        "router": router["kind"],
        "router kernel": router["kernel"],
        "router tc": router["programs"]["tc"],
    }
    for node, node_report in (("client", facts["client"]), ("server", facts["server"])):
        versions[f"{node} kernel"] = node_report["kernel"]
        versions[f"{node} network settings"] = digest_of(
            {"sysctls": node_report["sysctls"], "offloads": node_report["offloads"]}
        )
    return versions


def _versions_on(bed: Bed, node: str, wanted: Iterable[Program]) -> dict[str, str]:
    words = ["sh", "-c", LOOK, "sh"]
    names = []
    for program in wanted:
        names.append(program.name)
        chosen = os.environ.get(program.variable) if program.variable else None
        places = [chosen] if chosen else [*program.commands, *program.files]
        words += [program.name, program.version, *places, ";"]
    with tempfile.TemporaryFile() as file:
        status = bed.exec(node, Command(words), Stdio(stdout=file.fileno())).wait()
        file.seek(0)
        text = file.read().decode(errors="replace")
    if status != 0:
        raise BedError(f"the versions of the programs on {node} could not be read (status {status})", "Run: doctor")
    return {**dict.fromkeys(names, NOT_THERE), **looked(text)}


def looked(text: str) -> dict[str, str]:
    """Read versions from what LOOK writes. Pure."""
    versions = {}
    for line in text.splitlines():
        match = LOOKED.match(line)
        if match:
            size = f" ({match['size']} bytes)" if match["size"] else ""
            versions[match["name"]] = f"{match['words'].strip()}{size}".strip()
    return versions


def _library(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
