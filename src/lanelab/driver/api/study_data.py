"""What a study is and what its figures take, and how far a run of it is, as JSON."""

from collections.abc import Mapping
from dataclasses import asdict

from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.run import ReadStudyRun
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.estimate import Estimate
from lanelab.driver.run.built_programs import still_to_build
from lanelab.driver.run.study.read import StudyFolder
from lanelab.driver.run.study.sources import published_number


def checked_by(experiments: Mapping[int, Experiment]) -> dict[int, list[str]]:
    """Return for each published claim the claims of the experiments."""
    checks: dict[int, list[str]] = {}
    for number, experiment in experiments.items():
        for claim in experiment.claims:
            published = published_number(claim.source)
            if published is not None:
                checks.setdefault(published, []).append(f"{number}: {claim.name}")
    return checks


def study_json(
    read: StudyFolder, variant: str, experiments: Mapping[int, Experiment], made: Mapping[int, Estimate]
) -> dict[str, object]:
    data = read.study.to_json()
    figures = []
    for figure in read.study.figures:
        cost = made[figure.number]
        figures.append(
            {
                **figure.to_json(),
                "cells": len(experiments[figure.number].cells),
                "trials": {"least": cost.trials, "most": cost.most_trials},
                "beds": {"least": cost.beds, "most": cost.most_beds},
                "seconds": {"least": round(cost.seconds, 1), "most": round(cost.most_seconds, 1)},
                "disk_bytes": {"least": cost.disk_bytes, "most": cost.most_disk_bytes},
                "claims": [claim.to_json() for claim in experiments[figure.number].claims],
            }
        )
    first = asdict(still_to_build(experiments.values()))
    return {**data, "variant": variant, "first_build": first, "figures": figures}


def standing_json(read: ReadStudyRun, judged: JudgedStudy) -> dict[str, object]:
    """Return how far each figure is, and the verdicts so far."""
    figures = [
        {
            "figure": number,
            "folder": str(read.folder / f"figure-{number}"),
            "state": run.state if run else "not begun",
            "trials": len(run.ok) if run else 0,
            "failures": len(run.failed) if run else 0,
        }
        for number, run in read.runs.items()
    ]
    given = [
        {
            "figure": one.figure,
            "claim": one.judged.claim.name,
            "source": one.judged.claim.source,
            "verdict": str(one.judged.verdict),
            "detail": one.judged.detail,
            "p": one.judged.p,
            "adjusted_p": one.adjusted_p,
            "changed": one.judged.changed,
            "why": one.judged.why,
        }
        for one in judged.all
    ]
    return {**read.about.to_json(), "folder": str(read.folder), "figures": figures, "verdicts": given}
