"""Page loads over links that move: what the router's player did is in each record, and a page waits for its radio."""

from pathlib import Path

from tests.kit.handles import LanelabCommand

from .runs import play

# On a starved machine steps come late: then a trial fails, as it has to, and has the same evidence.
MAY_FAIL = {"link-trace", "link-rate", "link-rtt"}
TRACE = "seconds,mbit\n0,8\n0.3,2\n0.6,6\n1,end\n"
TEXT = """
sites: dummy
links:
  - {rtt: 20ms, rate: {trace: steps.csv}}
  - {rtt: 20ms, rate: 8mbit, radio: {promotion: 2s, resume: 1s, inactive: 5s, release: 5s}}
capture: [client, server]
arms: {http: {}}
trials: 1
"""
OUTAGES = """
sites: dummy
links:
  - {rtt: 20ms, rate: 1mbit, outage: {for: 500ms, every: 2s}}
  - {rtt: 20ms, rate: 1mbit, duplicate: 2%, outage: {for: 500ms, every: 2s}}
capture: [client, server]
arms: {http: {}}
trials: 1
"""


def test_links_move_while_a_page_loads(lanelab: LanelabCommand, tmp_path: Path) -> None:
    (tmp_path / "steps.csv").write_text(TRACE)
    played = play(lanelab, tmp_path, TEXT, "--allow-missing")
    assert played.reasons("http") <= MAY_FAIL, played.done.stderr
    radios, traces = 0, 0
    for record in played.records("http"):
        moving = record["evidence"]["moving"]
        if moving["played"]["radio"]:
            radios += 1
            assert [state for _, state in moving["played"]["radio"][:3]] == ["idle", "waiting", "connected"]
            assert record["evidence"]["browser"]["times"]["plt_ms"] > 2000, "its first packet waited for the radio"
        else:
            traces += 1
            due = [at for at, _ in moving["played"]["steps"]]
            steps = [0, 300_000, 600_000]
            expected = [at + 1_000_000 * number for number in range(100) for at in steps for _ in range(2)]
            assert due, "a load of one second or more meets a step"
            assert due == expected[: len(due)]
        assert len(moving["down"]["points"]) > 10
        assert len(moving["up"]["points"]) > 10
    assert radios
    assert traces


def test_a_load_that_meets_an_outage_is_judged_by_the_link_that_was_asked_for(
    lanelab: LanelabCommand, tmp_path: Path
) -> None:
    """The player closes the gate and opens it again; what `tc` shows afterwards is what it showed before."""
    played = play(lanelab, tmp_path, OUTAGES, "--allow-missing")
    assert played.reasons("http") <= MAY_FAIL, played.done.stderr
    records = played.records("http")
    assert records
    for record in records:
        due = [at for at, _ in record["evidence"]["moving"]["played"]["steps"]]
        assert {1_500_000, 2_000_000} <= set(due), "an outage began and ended while the page loaded"
