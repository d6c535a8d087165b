"""Files of a run's trials for other programs: HARs, captures with their key logs, traces."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from lanelab.analysis.results import tables
from lanelab.analysis.results.export_tables import writing
from lanelab.analysis.results.first_packets import as_pcapng, first_capture, unpacked
from lanelab.analysis.results.load_view import CAPTURE
from lanelab.analysis.results.model import Run, Trial
from lanelab.driver.record.metrics import LOAD
from lanelab.driver.run.folder.trial_content import unchanged_artifacts
from lanelab.driver.trial.packets.key_log import key_log

Kind: TypeAlias = Literal["har", "pcapng", "trace"]
HAR, TRACE = "page.har.gz", "trace.json.gz"
KEY_LOG = ".key_log.txt"  # beside the capture, by the name under which other tools look for it
NAMES: dict[Kind, tuple[str, str]] = {  # the file of a trial, and what its copy is called behind the trial's number
    "har": (HAR, ".har"),
    "pcapng": (CAPTURE, ".pcapng"),
    "trace": (TRACE, ".trace.json"),
}
FIRST_PACKETS = ".first.pcapng"  # of a load, which has no whole capture


@dataclass(frozen=True, slots=True)
class Exported:
    """The files that were written, and how many trials had none to give."""

    files: tuple[Path, ...]
    lacking: int


def write_files(run: Run, kind: Kind, folder: Path, *, median: bool = False) -> Exported:
    """Write a file of each trial that counts, or of each cell's median trial. A capture is decrypted by the keys within
    it; for programs that do not look there, its key log is written beside it. That of a load has its first packets."""
    of_load = run.workload == LOAD and kind == "pcapng"
    suffix = FIRST_PACKETS if of_load else NAMES[kind][1]
    files, lacking = list[Path](), 0
    for trial in _trials(run, median=median):
        path = first_capture(run.folder, trial.number) if of_load else _stored(run.folder, trial.number, NAMES[kind][0])
        if path is None:
            lacking += 1
            continue
        content = as_pcapng(unpacked(path)) if of_load else unpacked(path)
        target = folder / f"{trial.number:06d}{suffix}"
        files.append(_write(target, content))
        if kind == "pcapng" and (keys := key_log(content)):
            files.append(_write(target.with_suffix(KEY_LOG), keys.encode()))
    return Exported(tuple(files), lacking)


def _stored(folder: Path, trial: int, name: str) -> Path | None:
    path = unchanged_artifacts(folder, trial, (name,)) / name
    return path if path.is_file() else None


def _trials(run: Run, *, median: bool) -> Iterator[Trial]:
    if median:
        medians = (tables.median_trial(trials) for trials in run.by_cell().values())
        yield from (trial for trial in medians if trial)
    else:
        yield from run.ok


def _write(target: Path, content: bytes) -> Path:
    with writing(target) as part:
        part.write_bytes(content)
    return target
