"""Whether a run folder holds what was stored there: lanelab.verify."""

from pathlib import Path

from lanelab.analysis.results.study.runs import run_folders
from lanelab.analysis.results.verification import SITES_UNKNOWN, Verification
from lanelab.analysis.results.verification import verify as verify_folder
from lanelab.driver.base.extras import extra_with
from lanelab.driver.run.folder.format import LATEST


def verify(name: str | Path = LATEST) -> list[Verification]:
    """Compare a run with what was stored there: records, measures, verdicts, self-tests, files, experiment. Of a
    study's run, that of each figure. `wrong` says what is not so."""
    return [_verification(folder) for folder in run_folders(str(name))]


def _verification(folder: Path) -> Verification:
    verification = verify_folder(folder)
    try:
        from lanelab.driver.api.sites_now import sites_now  # noqa: PLC0415 - it is all that takes more than base

        verification.sites += sites_now(folder)
    except ModuleNotFoundError as error:
        if (extra := extra_with(error.name)) is None:
            raise
        verification.sites += [f"{SITES_UNKNOWN}: it takes {error.name}, which is in lanelab[{extra}]"]
    return verification
