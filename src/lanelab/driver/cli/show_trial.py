"""lanelab show --trial: everything about one trial."""

from pathlib import Path

from lanelab.analysis.results.layout.terminal import on_terminal
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.trial_table import trial_section
from lanelab.driver.cli.output import console, note, print_json
from lanelab.driver.run.folder.trial_content import artifact_path, read_artifacts
from lanelab.driver.run.folder.trial_records import read_record


def show_trial(folder: Path, number: int, *, as_json: bool) -> None:
    record = read_record(folder, number)
    if as_json:
        print_json(record.to_json())
        return

    trial = next(one for one in read_run(folder).trials if one.number == number)
    artifacts = [
        (file, length if artifact_path(folder, number, file).exists() else None)
        for file, length, _ in read_artifacts(folder, number)
    ]
    section = trial_section(trial, record, artifacts)
    note(section.title)
    console().print(on_terminal([section]))
