"""What load times are made of, in runs with the real browser: the parts add up, and causes show in their own part."""

import base64
import gzip
import json
import statistics
from itertools import pairwise
from pathlib import Path

import pytest

from lanelab.driver.record.evidence.parts import Part
from tests.kit.handles import LanelabCommand

from .runs import Played, play, share_programs

CLOCKS_APART_MS = 20  # a picture is drawn, and its paint timed, by clocks of their own
TRACED = """\
sites: [dummy]
links: {rate: 10mbit, rtt: 40ms, queue: 1000p}
defaults: {start: fresh-context}
arms: {http: {}, h2: {protocol: h2, tls: 1.3}}
trace: filmstrip
trials: 1
seed: 3
"""
CAUSES = """\
sites: [dummy]
links:
  - {rate: 10mbit, rtt: 100ms, queue: 1000p}
  - {rate: 10mbit, rtt: 100ms, queue: 1000p, initial_window: 40}
  - {rate: 10mbit, rtt: 100ms, queue: 1000p, loss: 2%}
defaults: {start: fresh-context}
arms:
  plain: {}
  asked: {dns: resolver}
  slow:
    server_directives:
      - LoadModule ext_filter_module ${MODULES}/mod_ext_filter.so
      - ExtFilterDefine slow mode=output cmd="/bin/sh -c 'sleep 0.4; exec cat'"
      - <Location /index.html>
      - SetOutputFilter slow
      - </Location>
  pipelined: {via: gateway, pipelining: 4}
  spdy: {via: gateway, protocol: spdy/3.1, tls: 1.2}
trials: 3
seed: 4
"""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, LanelabCommand]:
    folder = tmp_path_factory.mktemp("traced")
    lanelab = LanelabCommand(folder / "build")
    return play(lanelab, folder, TRACED), lanelab


def adds_up(measures: dict[str, float]) -> bool:
    total = sum(measures[part.measure] for part in Part)
    return total == pytest.approx(measures["plt_ms"], rel=0.02)


@pytest.mark.parametrize("arm", ["http", "h2"])
def test_the_parts_add_up_and_say_what_the_link_did(traced: tuple[Played, LanelabCommand], arm: str) -> None:
    (measures,) = traced[0].measures(arm)
    assert adds_up(measures)
    carried = measures["bytes_down"] * 8 / 10_000
    assert carried * 0.96 <= measures["part_transmission_ms"] <= carried * 1.06
    assert measures["part_connect_ms"] >= 39
    assert (measures["part_tls_ms"] >= 39) == (arm == "h2")
    evidence = traced[0].evidence(arm)[-1]  # one that failed on a busy machine was made again
    stretches = evidence["parts"]["stretches"]
    assert all(one["to_ms"] == two["from_ms"] for one, two in pairwise(stretches))


def test_a_trace_has_the_main_thread_and_pictures(traced: tuple[Played, LanelabCommand]) -> None:
    played, _ = traced
    (record,), (measures,) = played.records("http"), played.measures("http")
    trace = record["recordings"]["trace"]
    assert 0 < sum(end - begin for begin, end in trace["main_thread"]) < measures["plt_ms"]
    frames = trace["frames"]
    assert len(frames) >= 2
    first_paint = measures["first_paint_ms"]
    assert (frames[0]["complete"], frames[-1]["complete"]) == (0, 1)
    first_shown = first_paint - CLOCKS_APART_MS
    assert 0 <= frames[0]["at_ms"] < first_shown < frames[1]["at_ms"], "nothing is to be seen before the first paint"
    assert first_shown <= measures["speed_index_ms"] <= measures["visually_complete_ms"]
    (folder,) = (path.parent for path in played.folder.glob("trials/*/filmstrip.json.gz") if has(path, frames))
    strip = json.loads(gzip.decompress((folder / "filmstrip.json.gz").read_bytes()))["frames"]
    assert [len(base64.b64decode(each["jpeg"])) for each in strip] == [each["bytes"] for each in frames]
    assert json.loads(gzip.decompress((folder / "trace.json.gz").read_bytes()))["traceEvents"]


def has(path: Path, frames: list[dict[str, float]]) -> bool:
    strip = json.loads(gzip.decompress(path.read_bytes()))["frames"]
    return [each["at_ms"] for each in strip] == [each["at_ms"] for each in frames]


def test_explain_says_it_in_sentences(traced: tuple[Played, LanelabCommand]) -> None:
    played, lanelab = traced
    told = lanelab.run("explain", str(played.folder), "http", "h2")
    assert told.returncode == 0, told.stderr
    assert "setting up TLS +" in told.stdout
    assert "h2 opens 1 connection, http 6" in " ".join(told.stdout.split())
    unknown = lanelab.run("explain", str(played.folder), "htpp")
    assert unknown.returncode == 2
    assert "Did you mean http" in unknown.stderr


@pytest.mark.long
def test_each_cause_shows_in_its_own_part(tmp_path: Path) -> None:
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    played = play(lanelab, tmp_path, CAUSES, "--allow-missing")
    every = [measures for arm in ("plain", "asked", "slow", "pipelined", "spdy") for measures in played.measures(arm)]
    assert len(every) >= 40
    assert all(adds_up(measures) for measures in every)
    query = "SELECT l.label, a.name, m.name, m.value FROM measures m JOIN trials USING (trial) JOIN cells USING (cell) "
    rows = played.rows(query + "JOIN links l USING (link) JOIN arms a USING (arm) WHERE status = 'ok'")
    links = list(dict.fromkeys(label for (label,) in played.rows("SELECT label FROM links ORDER BY link")))

    def middle(link: int, arm: str, part: Part) -> float:
        found = [value for label, name, metric, value in rows
                 if (label, name, metric) == (links[link], arm, part.measure)]  # fmt: skip
        return float(statistics.median(found))

    assert middle(0, "asked", Part.DNS) == pytest.approx(100, abs=40)
    assert middle(0, "plain", Part.DNS) == 0
    assert 300 <= middle(0, "slow", Part.WAIT) - middle(0, "plain", Part.WAIT) <= 700
    assert abs(middle(0, "slow", Part.TRANSMISSION) - middle(0, "plain", Part.TRANSMISSION)) < 30
    assert middle(1, "plain", Part.SLOW_START) < middle(0, "plain", Part.SLOW_START)
    assert middle(2, "plain", Part.RECOVERY) > middle(0, "plain", Part.RECOVERY) + 5
    assert middle(0, "spdy", Part.TLS) == pytest.approx(200, abs=60), "TLS 1.2 through the gateway: two round trips"
