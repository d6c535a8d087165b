"""Writes the report of a study's run: judges its claims, and makes the page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lanelab.analysis.results.claims.stored_claims import judge_as_kept
from lanelab.analysis.results.claims.verdict import Judged
from lanelab.analysis.results.report.atomic_files import write_whole
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy, judged_study
from lanelab.analysis.results.study.page import study_page
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.run.study.study import STUDY_REPORT

Now = Mapping[int, Sequence[Claim]]  # by figure: its claims as the experiment file has them now


def write_study_report(folder: Path, output: Path | None = None, now: Now | None = None) -> Path:
    """Write the report of the study's run in this folder; returns where it is."""
    read = read_study_run(folder)
    return write_page(read, judge_study(read, now), output)


def write_page(read: ReadStudyRun, judged: JudgedStudy, output: Path | None = None) -> Path:
    """Write the page of a run that was read and judged; returns where it is."""
    target = output or read.folder / STUDY_REPORT
    write_whole(target, study_page(read, judged).encode())
    return target


def judge_study(read: ReadStudyRun, now: Now | None = None) -> JudgedStudy:
    """Return the verdicts of all figures that have begun, by the claims that they began with."""
    found: dict[int, Sequence[Judged]] = {
        number: judge_as_kept(run, None if now is None else now.get(number, ()))
        for number, run in read.runs.items()
        if run
    }
    return judged_study(read.about.study, found)
