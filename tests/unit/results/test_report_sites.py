"""What reports say of the sites that a run has loaded."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.doubts import about_sites, fidelity_sentences
from lanelab.analysis.results.sections.of_run import results_on_terminal as results
from lanelab.driver.base.errors import RecordError
from lanelab.driver.collect.fidelity.manifest_notes import keep
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.run import start
from lanelab.driver.run.folder.format import ABOUT_SITES
from lanelab.driver.site.composition import Part
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.facts import about
from lanelab.driver.site.load import load_site
from lanelab.driver.site.site import Site
from lanelab.driver.site.site_notes import AboutSite
from tests.kit.fidelities import FOUND
from tests.kit.machine import ROOT
from tests.kit.made_run import Made, make_run

SITES = ROOT / "tests" / "data" / "sites"
PARTS = {"html": Part(1, 500), "image": Part(20, 9500)}
ABOUT = AboutSite(
    "A <b>page", "recorded for a test", "recorded", False, "2026-05-03T10:00:00Z", 21, 10_000, 3, PARTS, "1" * 64,
    "98.7%", 98.7, 7,
)  # fmt: skip


def report(folder: Path, about: AboutSite | None) -> tuple[str, str]:
    """The page, and what a terminal shows."""
    run = read_run(make_run(folder / "run", Made(about={"dummy": about} if about else {})))
    console = Console(width=160, record=True, file=(folder / "shown").open("w"))
    console.print(results(run))
    return page(run), console.export_text()


def test_a_report_shows_where_a_site_is_from_and_its_fidelity(tmp_path: Path) -> None:
    html, text = report(tmp_path, ABOUT)
    section = html.partition('<section id="sites">')[2].partition("</section>")[0]
    for words in ("A &lt;b&gt;page", "recorded on 2026-05-03: recorded for a test", "10,000", "html 1, image 20"):
        assert words in section
    assert "<td>98.7%</td>" in section
    assert "site dummy: recorded on 2026-05-03, fidelity 98.7%" in text


@pytest.mark.parametrize(("fidelity", "score"), [("not verified", None), ("94.9%", 94.9), ("100.0% (stale: …)", None)])
def test_what_is_to_be_doubted_is_marked(tmp_path: Path, fidelity: str, score: float | None) -> None:
    html, _ = report(tmp_path, replace(ABOUT, fidelity=fidelity, score=score))
    assert f'<td class="warn">{fidelity}</td>' in html


def test_a_run_of_an_earlier_version_has_no_such_section(tmp_path: Path) -> None:
    html, text = report(tmp_path, None)
    assert 'id="sites"' not in html
    assert "fidelity" not in text


def test_a_synthetic_site_says_so(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(about={"dummy": replace(ABOUT, kind="generated", synthetic=True)})))
    assert fidelity_sentences(run) == ["site dummy: generated, synthetic, fidelity 98.7%"]


def test_a_damaged_note_is_an_error_that_names_the_key(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(about={"dummy": ABOUT})))
    data = {"dummy": {key: value for key, value in ABOUT.to_json().items() if key != "fidelity"}}
    with pytest.raises(RecordError, match=r"about_sites\.dummy\.fidelity is missing"):
        about_sites(replace(run, meta={**run.meta, ABOUT_SITES: json.dumps(data)}))


def test_a_run_notes_what_its_sites_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANELAB_SITES", str(SITES))
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    text = "sites: [two-origins]\nlinks: {}\narms: {http: {}}\n"
    begun = start.begin(parse_experiment(text, "one.yaml", ["two-origins"]), "0.1.0", tmp_path / "run", 1, {})
    begun.store.close()
    noted = about_sites(read_run(tmp_path / "run"))["two-origins"]
    assert noted == about(load_site("two-origins"))
    assert (noted.fidelity, noted.score, noted.objects, noted.origins) == ("not verified", None, 4, 2)


def test_a_fidelity_of_other_content_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    shutil.copytree(SITES / "two-origins", tmp_path / "sites" / "two-origins")
    monkeypatch.setenv("LANELAB_SITES", str(tmp_path / "sites"))
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    site: Site = load_site("two-origins")
    keep(tmp_path / "sites" / "two-origins", replace(FOUND, digest=digest_of(site.objects)))
    assert (about(site).fidelity, about(site).score) == ("100.0%", 100.0)
    keep(tmp_path / "sites" / "two-origins", FOUND)
    assert (about(site).fidelity, about(site).score) == ("100.0% (stale: the site has changed since)", None)
