"""A study's run as an artifact: everything that another lab needs to run the same, in one archive."""

import csv
import io
import json
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path

from lanelab.analysis.results.study.appendix import Appendix, SiteFacts, appendix
from lanelab.analysis.results.study.claim_verdicts import JudgedStudy
from lanelab.analysis.results.study.data import claim_rows
from lanelab.analysis.results.study.page import judge_study, write_page
from lanelab.analysis.results.study.run import ReadStudyRun, read_study_run
from lanelab.analysis.results.verification import verify
from lanelab.driver.base.errors import StoreError
from lanelab.driver.run.folder.trial_content import read_artifacts
from lanelab.driver.run.study.archive import Content, write_archive
from lanelab.driver.run.study.artifact import (
    ABOUT,
    APPENDIX,
    ARTIFACT_FORMAT,
    CLAIMS,
    RUN,
    ArtifactAbout,
    digests_of_sites,
    files_below,
    lock_files,
    private_in,
    site_files,
    stage_run,
)
from lanelab.driver.site.load import read_site_manifest
from lanelab.driver.site.site import site_of


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive that was written."""

    file: Path
    files: int  # in it
    bytes: int


def write_artifact(read: ReadStudyRun, output: Path | None = None, *, captures: bool = False) -> Packed:
    """Pack it. Raises StoreError where the run goes on, ChangedError where it is not what was stored."""
    going_on = [number for number, run in read.runs.items() if run and run.state == "running"]
    if going_on:
        what = f"the run in {read.folder} goes on with figure {going_on[0]}"
        raise StoreError(what, "Wait until it has ended, or stop it")
    _require_unchanged(read, captures=captures)
    words = "-".join(filter(None, (read.about.study.name, read.about.variant, "artifact")))
    target = output or Path(f"{words}.tar.gz")
    with tempfile.TemporaryDirectory(prefix="lanelab-artifact-") as scratch:
        files = _files(read, Path(scratch) / RUN, target.name, captures=captures)
        write_archive(target, files)
    return Packed(target, len(files) + 1, target.stat().st_size)


def _require_unchanged(read: ReadStudyRun, *, captures: bool) -> None:
    """Raises ChangedError where what would be packed is not what was stored."""
    without = ", or pack without --captures where only files of trials differ" if captures else ""
    for run in filter(None, read.runs.values()):
        remedy = (
            f"lanelab verify {run.folder} lists all that differs. Copy the run again from where it was made{without}"
        )
        verify(run.folder, files=captures).require(remedy)


def _files(read: ReadStudyRun, staged: Path, archive: str, *, captures: bool) -> dict[str, Content]:
    """Return every file of the artifact but the list of their digests."""
    about = read.about
    digests = digests_of_sites(read.folder, about)
    private = private_in(read.folder, about, (socket.gethostname(),))
    stage_run(read.folder, about, staged, private, captures=captures)
    copied = read_study_run(staged)
    judged = judge_study(copied)
    write_page(copied, judged)
    names = sorted({site_of(target) for target in digests})
    sites = {inside: path for name in names for inside, path in site_files(name).items()}
    facts = ArtifactAbout(ARTIFACT_FORMAT, about.study.name, about.variant, about.lanelab, digests, captures)
    files: dict[str, Content] = {
        ABOUT: (json.dumps(facts.to_json(), indent=1, sort_keys=True) + "\n").encode(),
        CLAIMS: _claims(judged, copied),
        **files_below(staged, RUN),
        **sites,
        **lock_files(),
    }
    size = sum(len(each) if isinstance(each, bytes) else each.stat().st_size for each in files.values())
    large = _captures_bytes(read)
    text = appendix(Appendix(copied, judged, [_site(name) for name in names], archive, size, captures, large))
    return {**files, APPENDIX: text.encode()}


def _claims(judged: JudgedStudy, read: ReadStudyRun) -> bytes:
    rows = list(claim_rows(judged, read))
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue().encode()


def _captures_bytes(read: ReadStudyRun) -> int:
    begun = [run for run in read.runs.values() if run]
    return sum(size for run in begun for trial in run.trials for _, size, _ in read_artifacts(run.folder, trial.number))


def _site(name: str) -> SiteFacts:
    manifest = read_site_manifest(name)
    facts = (
        ("recipe", manifest.recipe),
        ("archive", manifest.archive),
        ("package", manifest.fetch),
        ("program", manifest.generate),
    )
    made_by = next((words for words, value in facts if value), "files")
    return SiteFacts(name, manifest.title, manifest.source, manifest.licence or "", made_by)
