"""A study's run becomes an artifact, and the artifact is run in another folder with its own sites."""

from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.studies import texts, write_study

from .runs import ACCEPT_LINKS, Played


@pytest.mark.long
def test_an_artifact_is_run_elsewhere_and_compared(lanelab: LanelabCommand, tmp_path: Path) -> None:
    study, there, archive = write_study(tmp_path, texts()), tmp_path / "run", tmp_path / "a.tar.gz"
    asked = ("--figure", "1", "--trials", "1", ACCEPT_LINKS)
    ran = lanelab.run("study", "run", str(study), *asked, "--out", str(there))
    assert ran.returncode == 0, ran.stderr
    packed = lanelab.run("study", "artifact", str(there), "--output", str(archive))
    assert packed.returncode == 0, packed.stderr
    # What runs there is the archive's own study, and not the folder that it was made from.
    for path in study.iterdir():
        path.unlink()

    folder = tmp_path / "check"
    checked = lanelab.run("study", "check", str(archive), *asked, "--out", str(folder))
    assert checked.returncode == 3, checked.stderr  # one trial gives no verdict, which agrees with nothing
    assert "site dummy: the one that is here" in checked.stderr
    sites = "SELECT site, status FROM trials JOIN cells USING (cell)"
    here = Played(folder / "run" / "figure-1", checked).rows(sites)
    assert here == Played(there / "figure-1", ran).rows(sites)
    assert "not tested" in (folder / "check.md").read_text()

    again = lanelab.run("study", "check", str(archive), *asked, "--out", str(folder))
    assert "every figure is finished" in again.stderr, again.stderr
    assert len(Played(folder / "run" / "figure-1", again).rows(sites)) == len(here)
