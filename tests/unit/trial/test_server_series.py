"""What the recorder `server_series` makes of samples: gaps, rates, what cannot be read. Samples are made up."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.errors import RecordError
from lanelab.driver.bed.remote import start_program
from lanelab.driver.bed.remote.server_sampler import BEFORE, Clock, Reader, Seldom
from lanelab.driver.record.load_series import SERIES
from lanelab.driver.record.metrics import LOAD, metrics_of
from lanelab.driver.record.reasons import FlagName, Reason
from lanelab.driver.record.record import RECORDINGS
from lanelab.driver.trial.recorders.server_series import PROGRAM, failures_of, watched_of
from lanelab.driver.trial.recorders.server_series_use import (
    Before,
    Connections,
    End,
    RoleUse,
    Sample,
    Watched,
    Workers,
    evidence_of,
    flags_of,
    measures_of,
    series_of,
)

BEGAN_S = 100.0


def sample(second: int, **changes: Any) -> Sample:
    """Each second half a processor, 1000 bytes in, 5000 out, and a worker more."""
    use = RoleUse(cpu_s=0.5 * second, processes=3, threads=60, files=10, memory=1000 + second, cgroup=None)
    made = Sample(
        second=second,
        at_s=BEGAN_S + second,
        took_s=0.004,
        total_s=2.0 * second,
        idle_s=1.5 * second,
        available=10**9,
        received=1000 * second,
        sent=5000 * second,
        overflows=0,
        time_wait=4,
        connections=Connections(established=second, closing=0, waiting=0, behind=0),
        workers=Workers(busy=second, idle=20 - second, keepalive=second, reading=0, writing=0),
        roles={"server": use},
    )
    return replace(made, **changes)


def watched(*samples: Sample, missed: int = 0, **changes: Any) -> Watched:
    end = End(ended_s=BEGAN_S + 10, cpu_s=0.05, missed=missed, absent={})
    made = Watched(Before(sample(0), most_workers=20, absent={}), BEGAN_S, samples, end)
    return replace(made, **changes)


def points(found: Watched, name: str) -> list[tuple[float, float]]:
    return list(series_of(found)[name].points)


def test_numbers_and_rates_have_the_time_at_which_they_were_read() -> None:
    found = watched(sample(0), sample(1), sample(2))
    assert points(found, "workers_busy") == [(0, 0), (1000, 1), (2000, 2)]
    assert points(found, "connections") == [(0, 0), (1000, 1), (2000, 2)]
    assert points(found, "server_cpu") == [(1000, 0.5), (2000, 0.5)]
    assert points(found, "bytes_in_per_s") == [(1000, 1000), (2000, 1000)]
    assert points(found, "bytes_out_per_s") == [(1000, 5000), (2000, 5000)]
    assert points(found, "cpu_idle") == [(1000, 0.75), (2000, 0.75)]
    assert points(found, "listen_overflows_per_s") == [(1000, 0), (2000, 0)]


def test_a_gap_is_a_gap() -> None:
    found = watched(sample(0), sample(1), sample(4), sample(5))
    assert [at for at, _ in points(found, "workers_busy")] == [0, 1000, 4000, 5000]
    for rate in ("server_cpu", "bytes_in_per_s", "cpu_idle", "listen_overflows_per_s"):
        assert [at for at, _ in points(found, rate)] == [1000, 5000], rate


def test_what_was_not_read_has_no_point_and_what_never_was_no_series() -> None:
    nothing = {"connections": None, "workers": None, "total_s": None, "received": None}
    found = watched(sample(0), sample(1, **nothing), sample(2))
    assert [at for at, _ in points(found, "connections")] == [0, 2000]
    assert [at for at, _ in points(found, "workers_busy")] == [0, 2000]
    assert {"cpu_idle", "bytes_in_per_s", "server_cgroup_bytes"}.isdisjoint(series_of(found))


def test_a_count_that_falls_is_no_rate() -> None:
    """Processor time of a process that ended and was waited for by nobody."""
    ended = {"server": replace(sample(2).roles["server"], cpu_s=0.2)}
    found = watched(
        sample(0), sample(1), sample(2, roles=ended), sample(3, roles={"server": sample(3).roles["server"]})
    )
    assert points(found, "server_cpu") == [(1000, 0.5), (3000, 1.3)]


def test_a_scoreboard_that_was_once_none_is_not_believed_at_all() -> None:
    end = End(ended_s=BEGAN_S + 3, cpu_s=0, missed=0, absent={"workers": "its limits are 9 and 9"})
    found = watched(sample(0), sample(1), end=end)
    assert not [name for name in series_of(found) if name.startswith("workers")]
    assert "workers_busy_most" not in measures_of(found, series_of(found))
    (failure,) = failures_of(found)
    assert failure.reason == Reason.RECORDER_FAILED
    assert "its limits are 9 and 9" in failure.detail


def test_the_measures() -> None:
    found = watched(sample(0), sample(1), sample(7), sample(3))
    measures = measures_of(found, series_of(found))
    assert measures == {"workers_busy_most": 7, "server_memory_used": 7}
    assert set(measures) <= {metric.name for metric in metrics_of(LOAD)}


def test_every_name_is_known() -> None:
    roles = {name: replace(sample(1).roles["server"], cgroup=5) for name in ("server", "proxy", "back_end")}
    before = replace(watched().before, before=sample(0, roles=roles))
    found = series_of(watched(sample(0, roles=roles), sample(1, roles=roles), before=before))
    generators = {name for name in SERIES if name.startswith(("generator_", "page", "request", "errors_", "users"))}
    others = {"bytes_per_s", "connections_opened_per_s"}
    assert set(found) == set(SERIES) - generators - others


@pytest.mark.parametrize(("missed", "flagged"), [(0, False), (1, False), (2, True)])
def test_too_many_gaps_are_flagged(missed: int, flagged: bool) -> None:
    evidence = evidence_of(watched(*map(sample, range(9)), missed=missed))
    assert evidence.samples_missed == missed
    assert [flag.name for flag in flags_of(evidence)] == [FlagName.SAMPLES_MISSED] * flagged


def test_the_evidence_is_read_back_and_nothing_may_be_missing() -> None:
    evidence = evidence_of(watched(sample(0), sample(1)))
    data = json.loads(json.dumps(evidence.to_json()))
    assert RECORDINGS["server_series"].from_json(data) == evidence
    for key in data:
        with pytest.raises(RecordError, match=key):
            RECORDINGS["server_series"].from_json({name: value for name, value in data.items() if name != key})


# --- what the sampler says


def said(found: Watched) -> list[bytes]:
    parts: list[Any] = [found.before.to_json(), {"began_s": found.began_s}, *(each.to_json() for each in found.samples)]
    return [json.dumps(part).encode() + b"\n" for part in (*parts, *([found.end.to_json()] if found.end else []))]


def test_what_it_says_is_read() -> None:
    found = watched(sample(0), sample(1))
    assert watched_of(said(found), "") == found
    assert failures_of(found) == ()


def test_one_that_broke_off_leaves_what_there_is_and_fails_the_trial() -> None:
    found = watched_of(said(watched(sample(0), sample(1)))[:-1], "Killed")
    assert points(found, "workers_busy") == [(0, 0), (1000, 1)]
    (failure,) = failures_of(found)
    assert failure.detail.endswith("Killed")
    assert evidence_of(found).stopped == "Killed"
    assert evidence_of(found).sampler_cpu_s is None


def test_nobody_looked() -> None:
    assert "nobody looked" in failures_of(watched())[0].detail


@pytest.mark.parametrize("line", [b"{\n", b"[]\n", b"{}\n", b'{"second": 1}\n'])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_torn_words_are_no_samples(line: bytes, place: int) -> None:
    lines = said(watched(sample(0), sample(1)))
    lines[place] = line
    with pytest.raises(RecordError):
        watched_of(lines, "")


def test_one_that_never_began() -> None:
    with pytest.raises(RecordError, match="did not begin: no memory"):
        watched_of(said(watched())[:1], "no memory")


# --- the clock


def test_a_late_sample_is_missed() -> None:
    clock = Clock(100.0)
    assert clock.wait_s(99.5) == 0.5
    assert clock.take(100.01) == 0
    assert clock.take(101.2) == 1
    assert clock.take(102.3) is None, "that is too late for 2"
    assert clock.missed == 1
    assert clock.take(103.0) == 3
    assert clock.take(107.6) is None, "4 to 7 have passed"
    assert clock.missed == 5
    assert clock.wait_s(107.6) == pytest.approx(0.4)
    assert clock.take(108.0) == 8


def test_what_costs_much_is_read_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    costs, now = iter([0.0, 0.025, 0.001]), [0.0]

    def read() -> str:
        now[0] += next(costs)
        return "read"

    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    reading = Seldom(read)
    assert reading.at(BEFORE) == "read"
    assert [reading.at(second) for second in range(4)] == ["read", None, None, "read"], "25 ms are those of 3 s"


# --- the program, as it is brought to other machines: its parts beside it, and nothing else of ours


def test_the_program_runs_with_nothing_but_its_parts(tmp_path: Path) -> None:
    for part in (*PROGRAM.parts, PROGRAM.module, start_program):
        shutil.copy(str(part.__file__), tmp_path)
    work = tmp_path / "server"
    work.mkdir()
    folders = {"server": str(work)}
    asked = json.dumps({"folders": folders, "ports": [80], "ports_behind": [], "network": "10.10.0.0/16"})
    argv = [sys.executable, "-I", "-S", str(tmp_path / "start_program.py"), "server_sampler", asked]
    with subprocess.Popen(["sleep", "60"], cwd=work) as serving:
        try:
            done = subprocess.run(argv, input=b"", capture_output=True, check=True, timeout=60)
        finally:
            serving.kill()
    before = Before.from_json(json.loads(done.stdout))
    assert before.before.roles["server"].processes == 1
    assert before.most_workers is None
    assert before.absent == {}


def test_it_samples_until_it_is_told_to_end(tmp_path: Path) -> None:
    asked = json.dumps(
        {"folders": {"server": str(tmp_path)}, "ports": [80], "ports_behind": [], "network": "10.10.0.0/16"}
    )
    argv = [sys.executable, "-I", "-S", start_program.__file__, "server_sampler", asked]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin
        assert process.stdout
        lines = [process.stdout.readline()]
        os.write(process.stdin.fileno(), b"begin\n")
        lines += [process.stdout.readline(), process.stdout.readline()]
        os.write(process.stdin.fileno(), b"end\n")
        lines += process.stdout.readlines()
    found = watched_of(lines, "")
    assert failures_of(found) == ()
    assert points(found, "server_processes")[0][1] == 0
    assert evidence_of(found).sampler_cpu_s is not None


def test_apache_that_tells_nonsense_is_named(tmp_path: Path) -> None:
    (tmp_path / "scoreboard").write_text("{")
    folders = {"server": str(tmp_path)}
    reader = Reader({"folders": folders, "ports": [80], "ports_behind": [], "network": "10.10.0.0/16"})
    assert "is no JSON" in reader.absent["workers"]
    assert reader.sample(0)["workers"] is None
