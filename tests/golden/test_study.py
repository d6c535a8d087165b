"""The Markdown of a made study is exactly what its file shows.

After a change that is meant, `pytest tests/golden --update-golden` writes it again: read the difference before you
commit it.
"""

from pathlib import Path

from lanelab.analysis.results.study.claim_verdicts import judged_study
from lanelab.analysis.results.study.markdown import markdown
from lanelab.analysis.results.study.run import read_study_run
from tests.kit.made_study import judged, make_study_run, study

FILE = Path(__file__).parent / "study" / "report.md"


def test_the_markdown_of_a_study(tmp_path: Path, *, update_golden: bool) -> None:
    read = read_study_run(make_study_run(tmp_path / "run", about=study(2), begun=[1]))
    found = {number: [judged(claim) for claim in run.claims] for number, run in read.runs.items() if run}
    verdicts = judged_study(read.about.study, found)
    made = markdown(read, verdicts, ["figure-1.svg"])
    if update_golden:
        FILE.write_text(made)
    assert made == FILE.read_text()
