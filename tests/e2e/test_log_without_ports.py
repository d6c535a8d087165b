"""Page loads from webfs, whose log names neither ports nor hosts: the capture of the client tells them."""

import copy
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base import paths
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.site.load import load_site
from lanelab.driver.site.site import Site
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import TrialContext
from tests.kit.handles import LanelabCommand
from tests.kit.server_arms import is_here

from .runs import Played, play, share_programs

pytestmark = pytest.mark.skipif(not is_here("webfs"), reason="webfs is not installed here")
WAYS = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {server: webfs, start: fresh-context}
arms:
  plain: {}
  one by one: {connections_per_host: 1}
  gateway: {via: gateway}
  pipelined: {pipelining: 4, connections_per_host: 1}
  looked up: {dns: resolver, addresses: per-origin}
trials: 1
seed: 5
"""
HTTP = "HTTP/1.1"
LACKS = "the server's log lacks"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("webfs")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, WAYS)


@pytest.mark.parametrize("arm", ["plain", "one by one", "gateway", "pipelined", "looked up"])
def test_a_page_load_counts_and_each_request_has_its_connection(played: Played, arm: str) -> None:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    evidence = next(record["evidence"] for record in played.records(arm) if not record["failures"])
    server = evidence["server"]
    assert server["program"] == "webfs/1.21"
    assert (server["error_lines"], server["unplaced"]) == ([], [])
    assert len(server["requests"]) >= 24
    assert {(each["protocol"], each["host"], each["tls"]) for each in server["requests"]} == {
        (HTTP, "dummy.test", None)
    }
    captured = {each["client_port"] for each in evidence["packets"]["client"]["by_connection"]}
    ports = {int(each["remote"].rpartition(":")[2]) for each in server["requests"]}
    assert ports <= captured
    assert (len(ports) == 1) is (arm in ("one by one", "pipelined"))
    assert "server" not in evidence["witnesses"]["connections"]
    assert "server" in evidence["witnesses"]["protocol"]


# --- with evidence taken away or falsified


@dataclass(frozen=True)
class Loaded:
    """A real load, as the bed hands it over to be judged."""

    data: dict[str, Any]
    log: list[str]  # of the server's requests
    context: TrialContext

    def judged(self, log: list[str], folder: Path, **evidence: object) -> TrialRecord:
        """With another log, and other evidence."""
        shutil.copytree(self.context.folder, folder)
        data = copy.deepcopy(self.data)
        data["evidence"]["server"]["unplaced"] = [line.to_json() for line in SERVERS["webfs"].requests(log)]
        data["evidence"] |= evidence
        return finish(data, replace(self.context, folder=folder))


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("loaded")
    text = "sites: [bbc-2012]\nlinks: {rate: 20mbit, rtt: 20ms}\narms: {one: {server: webfs}}\ntrials: 1\n"
    experiment = parse_experiment(text, "made.yaml", ["bbc-2012"])
    site, arm = load_site("bbc-2012"), experiment.arms[0]
    return load(site, folder, TrialContext(arm, site, experiment.cells[0].link.link, experiment, folder / "trial"))


def load(site: Site, folder: Path, context: TrialContext) -> Loaded:
    recorders = context.experiment.recorders
    spec = TrialSpec(site, context.arm, 60, recorders, context.folder, folder / "authority")
    spec.folder.mkdir()
    with paths.bed_folder() as build, Bed(BedSettings(folder=build)) as bed:
        bed.set_link(context.link)
        bed.prepare_trial(spec)
        data = bed.run_trial(spec.timeout_s)
    assert isinstance(data, dict)
    return Loaded(data, (spec.folder / "access.log").read_text().splitlines(), context)


def reasons(record: TrialRecord) -> dict[str, str]:
    """Why it does not count, but for what a busy machine does to a bed that was not measured."""
    return {failure.reason: failure.detail for failure in record.failures}


PAGE = "/index.html"  # what its connection carries first, and not last


def place_of_page(log: list[str]) -> int:
    return next(number for number, line in enumerate(log) if f"GET {PAGE} HTTP" in line)


def without(log: list[str]) -> list[str]:
    return [line for line in log if f"GET {PAGE} HTTP" not in line]


def doubled(log: list[str]) -> list[str]:
    return [*log, log[place_of_page(log)]]


def elsewhere(log: list[str]) -> list[str]:
    return [line.replace(f"GET {PAGE} HTTP", "GET /other HTTP") for line in log]


def of_another_status(log: list[str]) -> list[str]:
    number = place_of_page(log)
    return [*log[:number], log[number].replace(" 200 ", " 304 "), *log[number + 1 :]]


def test_the_load_itself_counts(loaded: Loaded, tmp_path: Path) -> None:
    record = loaded.judged(loaded.log, tmp_path / "trial")
    assert reasons(record) == {}
    assert record.page_load
    assert record.page_load.server
    hosts = {each.host for each in record.page_load.server.requests}
    assert hosts == set(loaded.context.site.hosts)


@pytest.mark.parametrize(
    ("falsified", "said"),
    [
        (without, [LACKS]),
        (doubled, ["connection of 1 lines of", f"GET {PAGE} (200): it has 1 of these, and the log 2"]),
        (elsewhere, ["GET /other (200): it has no such request", LACKS]),
        (of_another_status, [f"GET {PAGE} (304): it has no such request", LACKS]),
    ],
)
def test_a_log_that_is_not_what_was_on_the_wire_fails_the_trial(
    loaded: Loaded, tmp_path: Path, falsified: Callable[[list[str]], list[str]], said: list[str]
) -> None:
    found = reasons(loaded.judged(falsified(loaded.log), tmp_path / "trial"))
    assert all(words in found["wire-mismatch"] for words in said), found


def test_without_the_capture_the_trial_lacks_its_evidence(loaded: Loaded, tmp_path: Path) -> None:
    found = reasons(loaded.judged(loaded.log, tmp_path / "trial", capture={}))
    assert "evidence.capture.client" in found["evidence-missing"], found
    assert "evidence.server.requests" in found["evidence-missing"], found


def test_a_capture_that_ends_in_mid_trial_fails_it(loaded: Loaded, tmp_path: Path) -> None:
    file = loaded.context.folder / "client.pcap"
    whole = file.read_bytes()
    try:
        file.write_bytes(whole[: len(whole) // 2])
        found = reasons(loaded.judged(loaded.log, tmp_path / "trial"))
    finally:
        file.write_bytes(whole)
    assert "capture-lost-packets" in found, found


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("capture: off", "are judged by a capture of the client"),
        ("capture: server", "are judged by a capture of the client"),
        ("capture: {nodes: client, snaplen: 96B}", "the log of webfs names no ports"),
        ("defaults: {tls: '1.3'}", "webfs does not speak TLS here"),
    ],
)
def test_what_nobody_could_judge_is_refused(tmp_path: Path, more: str, said: str) -> None:
    file = tmp_path / "page.yaml"
    file.write_text(f"sites: [dummy]\nlinks: {{rtt: 20ms}}\narms: {{one: {{server: webfs}}}}\ntrials: 1\n{more}\n")
    done = LanelabCommand(tmp_path / "build").run("plan", str(file))
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr, done.stderr
