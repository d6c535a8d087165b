"""Who could say what was on the link of trials that went through the gateway, where not all of them could.

docs/reference/verdicts.md says who the witnesses are. A trial stores in `evidence.witnesses` those its verdict used.
"""

from __future__ import annotations

from collections.abc import Sequence

from analysis.model import Run, Trial
from analysis.run_folder import each_witnesses
from model.metrics import PAGE_LOAD

WHO = {"server": "the server's log", "capture": "the capture"}
TOLD = {"protocol": "the protocol", "tls": "the version of TLS", "connections": "the connections"}
MOST_ARMS = 3


def sentences(run: Run) -> list[str]:
    """About the trials that count. Empty where none went through the gateway; one sentence where all agree."""
    trials = _trials(run)
    if not trials:
        return []
    alike = f"In {_of(trials, trials)} gateway, server's log and capture told alike what was on the link."
    return silences(run) or [alike]


def _trials(run: Run) -> list[Trial]:
    if run.workload != PAGE_LOAD:
        return []
    return [trial for trial in run.ok if trial.cell.arm.settings.get("via") == "gateway"]


def silences(run: Run) -> list[str]:
    """The sentences about parties that could not speak, or were not noted. Empty where all is as it should be."""
    trials = _trials(run)
    if not trials:
        return []
    known = dict(each_witnesses(run.folder))
    silent_in: dict[tuple[str, tuple[str, ...]], list[Trial]] = {}
    unnoted = []
    for trial in trials:
        parties = known.get(trial.number)
        if parties is None:
            unnoted.append(trial)
            continue
        for who in WHO:
            silent = tuple(what for what in TOLD if who not in parties.get(what, ()))
            if silent:
                silent_in.setdefault((who, silent), []).append(trial)
    sentences = [
        f"In {_of(some, trials)} {WHO[who]} could not tell {_and([TOLD[what] for what in silent])}: the others were "
        "heard alone."
        for (who, silent), some in silent_in.items()
    ]
    if unnoted:
        sentences.append(f"In {_of(unnoted, trials)} it was not noted who could tell what was on the link.")
    return sentences


def _of(some: Sequence[Trial], trials: Sequence[Trial]) -> str:
    arms = list(dict.fromkeys(trial.cell.arm.name for trial in some))
    more = f" and {len(arms) - MOST_ARMS} more" if len(arms) > MOST_ARMS else ""
    count = f"all {len(trials)}" if len(some) == len(trials) else f"{len(some)} of {len(trials)}"
    return f"{count} trials through the gateway ({', '.join(arms[:MOST_ARMS])}{more})"


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
