"""Sites that are verified by real loads: a faithful one, one whose page is not what its manifest says, and pictures."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.paths import PROJECT
from lanelab.driver.site.manifest import read_manifest
from tests.kit.handles import LanelabCommand

from .runs import share_programs

SITES = PROJECT / "tests" / "data" / "sites"


@dataclass(frozen=True)
class Archive:
    """A copy of the sites of tests, and the lanelab that verifies them."""

    folder: Path
    lanelab: LanelabCommand

    def verify(self, name: str, *options: str) -> dict[str, Any]:
        """The fidelity that is found."""
        words = ["site", "verify", name, "--json", *options]
        done = self.lanelab.run(*words, env={"LANELAB_SITES": str(self.folder)})
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)["fidelity"]
        return found


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    shutil.copytree(SITES, tmp_path / "archive")
    return Archive(tmp_path / "archive", lanelab)


def test_a_faithful_site_has_100_percent_and_keeps_that(archive: Archive, tmp_path: Path) -> None:
    site = archive.folder / "two-origins"
    before = (site / "site.yaml").read_text()
    first = archive.verify(
        "two-origins", "--protocols", "http/1.1", "--loads", "1", "--no-store", "--out", str(tmp_path / "first")
    )
    assert first["score"] == 100.0
    assert (site / "site.yaml").read_text() == before
    (picture,) = (tmp_path / "first" / "run" / "trials").glob("*/screenshot.png")
    shutil.copy(picture, site / "screenshot.png")  # as a recorder leaves it
    found = archive.verify("two-origins", "--protocols", "http/1.1", "--loads", "2", "--out", str(tmp_path / "out"))
    (protocol,) = found["protocols"]
    assert (protocol["exact"], protocol["missing"], protocol["extra"], protocol["bytes_off"]) == (8, 0, 0, 0)
    assert (protocol["pixels_differ"], found["score"]) == (0.0, 100.0)
    manifest = read_manifest(site / "site.yaml")
    assert manifest.fidelity is not None
    assert manifest.fidelity.to_json() == found
    page = (tmp_path / "out" / "fidelity.html").read_text()
    assert page.count("<img ") == 3
    assert "Score: 100.0%" in page


@pytest.mark.long
def test_every_protocol_is_counted(archive: Archive) -> None:
    found = archive.verify("two-origins")
    assert [(each["protocol"], each["score"]) for each in found["protocols"]] == [
        ("http/1.1", 100.0),
        ("h2", 100.0),
        ("spdy/3.1", 100.0),
    ]
    unfaithful = archive.verify("unfaithful", "--protocols", "h2", "--loads", "2")
    (protocol,) = unfaithful["protocols"]
    assert (protocol["exact"], protocol["missing"], protocol["extra"]) == (4, 2, 4)
    assert unfaithful["score"] == 40.0
    nginx = archive.verify("two-origins", "--server", "nginx")
    assert [(each["protocol"], each["score"]) for each in nginx["protocols"]] == [("http/1.1", 100.0), ("h2", 100.0)]
