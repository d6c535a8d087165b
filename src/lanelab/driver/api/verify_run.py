"""Whether a run folder holds what was stored there: lanelab.verify."""

from pathlib import Path

from lanelab.analysis.results.study.runs import run_folders
from lanelab.analysis.results.verification import Verification, sites_now
from lanelab.analysis.results.verification import verify as verify_folder
from lanelab.driver.run.folder.format import LATEST


def verify(name: str | Path = LATEST) -> list[Verification]:
    """Compare a run with what was stored there: records, measures, verdicts, self-tests, files, experiment. Of a
    study's run, that of each figure. `wrong` says what is not so."""
    return [_verification(folder) for folder in run_folders(str(name))]


def _verification(folder: Path) -> Verification:
    verification = verify_folder(folder)
    verification.sites += sites_now(folder)
    return verification
