"""What a run has to know of the loads of its experiment before anything starts."""

import re
import resource
from collections.abc import Callable
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.experiment.model import Cell, Experiment
from lanelab.driver.site.site import Site
from lanelab.driver.trial.load_settings import SLOW, LoadSettings
from lanelab.driver.trial.server_load.generator import Target
from lanelab.driver.trial.server_load.generators.k6 import files_and_ports_needed
from lanelab.driver.trial.server_load.registry import GENERATORS
from lanelab.driver.trial.server_load.targets import PATH, targets_of

BACK_ENDS = ("jetty", "tomcat")
MADE = "/lanelab/"
BEGINS_LATER = re.compile(r"\bstartTime['\"]?\s*:")  # what only k6 can read is looked for as text
PORT_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def check_loads(experiment: Experiment) -> None:
    """Raises InputError where a generator cannot do what an arm asks for."""
    for cell in experiment.cells:
        load = cell.link.load
        if load is None:
            continue
        try:
            GENERATORS[load.generator].check(load, cell.arm)
            _require_made_answers(load, cell.arm)
        except InputError as error:
            raise InputError(error.what, error.remedy, key=f"arms.{cell.arm.name}: {error.key}") from None


def check_objects(experiment: Experiment, site_of: Callable[[Cell], Site]) -> None:
    """Raises InputError where a generator cannot ask for the objects of a site, which only its manifest names."""
    for cell in experiment.cells:
        load = cell.link.load
        if load:
            paths_wanted = targets_of(site_of(cell), load, cell.arm.scheme)
            script = load.script_text.encode()
            target = Target(load, cell.arm, paths_wanted.urls, paths_wanted.body_sizes, "", 0, "", "", "", 0, script)
            GENERATORS[load.generator].invocation(target)  # which is pure


def _require_made_answers(load: LoadSettings, arm: Arm) -> None:
    """Answers that are made, and no objects of a site, come from back ends alone."""
    generated = load.script == SLOW or dict(load.parameters).get(PATH, "").startswith(MADE)
    if generated and arm.server not in BACK_ENDS:
        what = f"only {' and '.join(BACK_ENDS)} have answers below {MADE}, and the arm has server: {arm.server}"
        raise InputError(what, "Write server: jetty, or another script", key="script")


def limits_told(experiment: Experiment) -> list[str]:
    """Return a sentence for each load that needs more files or ports than an ordinary user of this machine has."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    low, high = map(int, PORT_RANGE.read_text().split())
    sentences = []
    for cell in experiment.cells:
        if cell.link.load is None:
            continue
        files, ports = files_and_ports_needed(cell.link.load, cell.arm)
        for needed, there, what in ((files, allowed, "open files"), (ports, high - low + 1, "ports")):
            if needed > there:
                sentences.append(f"{cell.label} may need {needed} {what}, and this machine allows {there}")
    return sentences


def scripts_told(experiment: Experiment) -> list[str]:
    """A sentence for each script of a user's that may have what is refused when its load begins."""
    loads = [cell.link.load for cell in experiment.cells if cell.link.load]
    names = dict.fromkeys(load.script for load in loads if BEGINS_LATER.search(load.script_text))
    return [
        f"the script {name} says startTime: if a scenario has it, trials fail, as all scenarios begin with the load"
        for name in names
    ]


def keep_scripts(experiment: Experiment, folder: Path) -> None:
    """Copy users' own scripts into the run folder, where they are read when the run goes on."""
    for name, text in scripts_of(experiment).items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            what = f"cannot keep the script {name} in {folder}: {error.strerror}"
            raise StoreError(what, "Give the script another name") from error


def scripts_of(experiment: Experiment) -> dict[str, str]:
    """Return the text of each of users' own scripts, by its path."""
    loads = {load.script: load.script_text for cell in experiment.cells if (load := cell.link.load)}
    scripts = {name: text for name, text in loads.items() if text}
    return {**scripts, experiment.script.name: experiment.script.text} if experiment.script else scripts
