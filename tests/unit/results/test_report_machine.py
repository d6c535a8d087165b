"""What report, terminal and exports say of the machines on which a run was made."""

from pathlib import Path

from rich.console import Console

from lanelab.analysis.results import export, machine, trial_table
from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.report.page import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.driver.run.folder.trial_records import read_record
from tests.kit.made_run import Made, make_run

USE = {"cpu_client_s": 0.71, "cpu_router_s": 0.08, "cpu_other_s": 1.5, "cpu_busy": 0.9, "pressure_cpu_some": 0.625}
CONTENDED = ("processors-contended", "other programs took the time of 1.5 processors")
WAITED = ("router-waited", "the router waited for a processor for 40% of the load's time")
WATCHED = Made(machine=USE, flags={1: [CONTENDED, WAITED], 2: [CONTENDED]})


def words(*parts: object) -> str:
    console = Console(width=250)
    with console.capture() as capture:
        console.print(*parts)
    return capture.get()


def test_a_run_without_the_recorder_says_nothing_of_the_machine(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run"))
    assert machine.rows(run) == []
    assert machine.sentence(run) is None
    assert 'id="machine"' not in page(run)
    assert "flagged" not in words(results_on_terminal(run))


def test_each_cell_has_its_medians_and_its_flagged_trials(tmp_path: Path) -> None:
    rows = machine.rows(read_run(make_run(tmp_path / "run", WATCHED)))
    assert len(rows) == 8
    assert all(row.medians == USE for row in rows)
    assert [row.flagged for row in rows] == [1, 1, 0, 0, 0, 0, 0, 0]
    assert {row.trials for row in rows} == {5}


def test_the_report_has_a_section_with_the_flags(tmp_path: Path) -> None:
    html = page(read_run(make_run(tmp_path / "run", WATCHED)))
    section = html.partition('<section id="machine">')[2].partition("</section>")[0]
    assert "2 of 40 page loads that count are flagged: processors-contended 2, router-waited 1" in section
    assert "trial 1, router-waited" in section
    assert "40% of the load&#x27;s time" in section
    assert ">0.71<" in section
    assert ">62.5%<" in section
    assert ">1 of 5<" in section
    assert "stolen</th>" not in section, "what no trial has has no column"
    assert '<a href="#machine">Machine</a>' in html


def test_a_quiet_machine_is_shown_without_flags(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", Made(machine=USE)))
    assert "No trial that counts is flagged." in page(run)
    assert "flagged" not in words(results_on_terminal(run))


def test_the_terminal_says_how_many_are_flagged_and_each_trial_says_why(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", WATCHED)
    run = read_run(folder)
    assert "2 of 40 page loads that count are flagged: processors-contended 2" in words(results_on_terminal(run))
    shown = words(on_terminal([trial_table.trial_section(run.trials[0], read_record(folder, 1), [])]))
    assert f"flagged: {WAITED[0]}: {WAITED[1]}" in shown
    assert "0.710" in shown


def test_a_flag_of_a_trial_that_failed_does_not_count(tmp_path: Path) -> None:
    made = Made(machine=USE, flags={7: [CONTENDED]})
    run = read_run(make_run(tmp_path / "run", made))
    assert not run.trials[6].ok
    assert machine.flag_counts(run) == {}


def test_exports_have_the_flags_and_the_measures(tmp_path: Path) -> None:
    run = read_run(make_run(tmp_path / "run", WATCHED))
    rows = list(export.trial_rows(run))
    assert rows[0]["flags"] == "processors-contended;router-waited"
    assert rows[2]["flags"] == ""
    assert rows[0]["cpu_client_s"] == 0.71
    assert export.results(run)["flags"] == {"processors-contended": 2, "router-waited": 1}
