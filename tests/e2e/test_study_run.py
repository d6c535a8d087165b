"""A study's run on real beds: killed in the middle, stopped at the next figure, and brought to its end."""

import json
import signal
import subprocess
from pathlib import Path

from tests.kit.handles import LanelabCommand
from tests.kit.studies import texts, write_study

from .runs import ACCEPT_LINKS, Played

NAMES = ("figure-1", "figure-2")


def await_line(run: subprocess.Popen[bytes], *words: str) -> str:
    """Everything that is said until a line has all of these words."""
    said = ""
    assert run.stderr
    for line in run.stderr:
        said += line.decode()
        if all(word in line.decode() for word in words):
            return said
    raise AssertionError(f"it never said {words}: {said}")


def results(folder: Path) -> list[tuple[int, int]]:
    """The cell and the round of each trial that counts."""
    query = "SELECT cell, round FROM trials WHERE status = 'ok' ORDER BY cell, round"
    return Played(folder, None).rows(query)  # type: ignore[arg-type]


def endings(folder: Path) -> list[str]:
    rows = Played(folder, None).rows("SELECT ending FROM sessions ORDER BY session")  # type: ignore[arg-type]
    return [ending for (ending,) in rows]


def test_nothing_is_lost_or_doubled_by_a_kill_and_a_stop(lanelab: LanelabCommand, tmp_path: Path) -> None:
    files = texts(rtt=("20ms", "30ms"))
    study, folder = write_study(tmp_path, files), tmp_path / "run"
    options = ("--variant", "today", "--trials", "1", "--out", str(folder), ACCEPT_LINKS)
    first = lanelab.start("study", "run", str(study), *options)
    said = await_line(first, "1/2")
    first.kill()
    first.communicate()
    assert "2 figures, 4 trials, about" in said
    assert "figure 1 (1 of 2)" in said

    (study / "two.yaml").write_text(
        files["two.yaml"].replace("30ms", "60ms")
    )  # the run has begun with another, and keeps it
    second = lanelab.start("study", "run", "--resume", str(folder))
    await_line(second, "figure 2 (2 of 2)")
    await_line(second, "1/2")
    second.send_signal(signal.SIGINT)
    said = second.communicate()[1].decode()
    assert second.returncode == 130, said
    assert f"lanelab study run --resume {folder}" in said
    assert "Traceback" not in said
    assert len(results(folder / "figure-1")) == 2
    finished = (folder / "figure-1" / "run.sqlite").read_bytes()

    last = lanelab.run("study", "run", "--resume", str(folder))
    assert last.returncode == 0, last.stderr
    assert (folder / "figure-1" / "run.sqlite").read_bytes() == finished
    assert [endings(folder / name) for name in NAMES] == [["killed", "finished"], ["stopped", "finished"]]
    assert [results(folder / name) for name in NAMES] == [[(1, 1), (2, 1)]] * 2
    assert all((folder / name / "report.html").is_file() for name in ("", *NAMES))
    assert "faster-near" in last.stdout

    again = lanelab.run("study", "run", "--resume", str(folder), "--figure", "2")
    assert again.returncode == 0
    assert "every figure is finished" in again.stderr
    shown = json.loads(lanelab.run("study", "show", str(folder), "--json").stdout)
    assert [figure["state"] for figure in shown["figures"]] == ["finished", "finished"]
    assert {each["verdict"] for each in shown["verdicts"]} == {"not tested"}  # of one round
