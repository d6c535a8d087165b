"""The appendix of a made study's artifact is exactly what its file shows."""

from pathlib import Path

from lanelab.analysis.results.study.appendix import Appendix, SiteFacts, appendix
from lanelab.analysis.results.study.claim_verdicts import judged_study
from lanelab.analysis.results.study.run import read_study_run
from tests.kit.made_study import judged, make_study_run, study

FILE = Path(__file__).parent / "study" / "ARTIFACT.md"
SITES = (
    SiteFacts("dummy", "The dummy page", "made by a program", "", "program"),
    SiteFacts("iana", "A recorded page", "recorded from www.iana.org", "CC0", "archive"),
)


def test_the_appendix_of_an_artifact(tmp_path: Path, *, update_golden: bool) -> None:
    read = read_study_run(make_study_run(tmp_path / "run", about=study(2), begun=[1]))
    found = {number: [judged(claim) for claim in run.claims] for number, run in read.runs.items() if run}
    verdicts = judged_study(read.about.study, found)
    made = appendix(
        Appendix(
            read, verdicts, SITES, "made-study-artifact.tar.gz", 1_234_567, captures=False, captures_bytes=7_654_321
        )
    )
    if update_golden:
        FILE.write_text(made)
    assert made == FILE.read_text()
