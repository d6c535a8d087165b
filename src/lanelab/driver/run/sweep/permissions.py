"""What of an experiment lets its author run code, or as good as that, on the machine of whoever lends a bed. Pure.

Everything else in an experiment file is a choice among what lanelab does.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment

DIRECTIVES, FLAGS, SCRIPTS = "directives", "flags", "scripts"
KINDS = (DIRECTIVES, FLAGS, SCRIPTS)
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that an experiment asks for, and where it is written."""

    kind: str
    where: str


def asks_of(experiment: Experiment) -> list[Ask]:
    """Return all of them, in the order of KINDS."""
    return sorted(dict.fromkeys(_asks(experiment)), key=lambda ask: KINDS.index(ask.kind))


def asked_of(experiment: Experiment) -> tuple[str, ...]:
    """Return the kinds alone."""
    return tuple(dict.fromkeys(ask.kind for ask in asks_of(experiment)))


def _asks(experiment: Experiment) -> Iterator[Ask]:
    for arm in experiment.arms:
        for line in arm.server_directives:
            yield Ask(DIRECTIVES, f"server_directives of the arm {arm.name}: {line}")
        for flag in arm.browser_flags:
            yield Ask(FLAGS, f"browser_flags of the arm {arm.name}: {flag}")
    for cell in experiment.cells:
        if cell.link.load and cell.link.load.script_text:
            yield Ask(SCRIPTS, f"the script {cell.link.load.script}")
    if experiment.script:
        yield Ask(SCRIPTS, f"the script {experiment.script.name}")


def require_allowed(
    experiment: Experiment, allowed: Collection[str], machine: str, command: str = "lanelab worker …"
) -> None:
    """Raises InputError for what the machine's owner does not allow, who would with this command."""
    refused = [ask for ask in asks_of(experiment) if ask.kind not in allowed]
    if not refused:
        return
    kinds = ",".join(dict.fromkeys(ask.kind for ask in refused))
    more = f" and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
    what = f"the experiment runs code of its author, which the owner of {machine} does not allow"
    where = "; ".join(ask.where for ask in refused[:SHOWN])
    raise InputError(f"{what}: {where}{more}", f"The owner allows it with: {command} --allow {kinds}")
