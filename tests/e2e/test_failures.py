"""Trials that must not count, each provoked with the real thing: they fail by name, and stay visible."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base import paths
from lanelab.driver.bed.substrate import BedSettings
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.link import Link
from lanelab.driver.record.reasons import Reason
from lanelab.driver.run.built_programs import of_servers
from lanelab.driver.run.channel.client import Bed
from lanelab.driver.site.load import load_site
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.spec import TrialSpec
from lanelab.driver.trial.workload import TrialContext
from tests.kit.handles import LanelabCommand
from tools.bench.leftovers import carriers_of

from .runs import ACCEPT_LINKS, Played, play, share_programs

WRONG = """\
sites: [dummy]
links: {rtt: 40ms}
defaults: {start: fresh-context}
arms:
  fallback: {protocol: h2, tls: "1.3", browser_flags: [--disable-http2]}
  older-tls:
    tls: "1.3"
    server_directives: [SSLOpenSSLConfCmd MinProtocol TLSv1.2, SSLOpenSSLConfCmd MaxProtocol TLSv1.2]
  closing:
    server_directives: ["LoadModule env_module ${MODULES}/mod_env.so", SetEnv nokeepalive 1]
  gone: {server_directives: ['RedirectMatch 404 "03[.]png$"']}
  moved: {server_directives: ['Redirect 302 /style/base.css http://elsewhere.test/base.css']}
  loud: {server_directives: [<Location /images/03.png>, Require all denied, </Location>]}
  unpacked: {compression: gzip, server_directives: ["LoadModule env_module ${MODULES}/mod_env.so", SetEnv no-gzip 1]}
  sound: {}
trials: 1
retries: 0
seed: 2
"""


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("wrong")
    return play(LanelabCommand(folder / "build"), folder, WRONG)


@pytest.mark.parametrize(("arm", "reason"), [
    ("fallback", "protocol-fallback"),
    ("older-tls", "tls-fallback"),
    ("closing", "keepalive-ignored"),
    ("gone", "failed-object"),
    ("moved", "outside-request"),
    ("loud", "server-error-log"),
    ("unpacked", "compression-ignored"),
])  # fmt: skip
def test_what_was_not_asked_for_does_not_count(wrong: Played, arm: str, reason: str) -> None:
    assert wrong.statuses(arm) == ["failed"]
    assert reason in wrong.reasons(arm)


def test_what_was_asked_for_counts_beside_it(wrong: Played) -> None:
    assert wrong.statuses("sound") == ["ok"], wrong.reasons("sound")
    assert wrong.done.returncode == 3  # cells without a trial that counts
    assert "protocol-fallback" in wrong.done.stdout + wrong.done.stderr


def test_a_page_that_takes_too_long_is_a_time_out_and_the_next_trial_is_sound(
    lanelab: LanelabCommand, tmp_path: Path
) -> None:
    text = """\
sites: [dummy]
links: {rtt: 10ms}
cells:
  - {site: dummy, link: {rtt: 800ms}, arm: slow}
  - {site: dummy, link: {rtt: 10ms}, arm: sound}
arms: {slow: {start: fresh-context}, sound: {start: fresh-context, keepalive_timeout: 6s}}
trials: 1
retries: 0
timeout: 2s
order: sequential
"""
    played = play(lanelab, tmp_path, text.replace("links: {rtt: 10ms}\n", ""))
    assert "timeout" in played.reasons("slow")
    assert played.statuses("sound") == ["ok"], played.reasons("sound")


# What is killed in the first load of each arm, by the kernel's name for it, and what its trial fails of.
VICTIMS = {
    "browser": ("chromium", "browser-crashed"),
    "driver": ("chromedriver", "browser-failed"),
    "router": ("linux.uml", "bed-lost"),
    "gateway": ("lanelab-gateway", "gateway-failed"),
}
KILLED = """\
sites: [dummy]
links: {rtt: 300ms}
arms:
  browser: {}
  driver: {keepalive_timeout: 6s}
  router: {keepalive_timeout: 7s}
  gateway: {protocol: h2, via: gateway}
trials: 1
"""
INTO_THE_LOAD_S = 0.5  # its moment is what is tried; over this link it takes three times as long


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("killed")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    file, out = folder / "experiment.yaml", folder / "run"
    file.write_text(KILLED)
    run = lanelab.start("run", str(file), "--out", str(out), "--json", ACCEPT_LINKS)
    waiting = {arm: victim for arm, (victim, _) in VICTIMS.items()}
    assert run.stdout
    for line in run.stdout:
        event = json.loads(line)
        if event["event"] == "trial-started" and event["arm"] in waiting:
            time.sleep(INTO_THE_LOAD_S)
            _kill(lanelab, waiting.pop(event["arm"]))
    said = run.communicate()[1].decode()
    return Played(out, subprocess.CompletedProcess(run.args, run.returncode, stderr=said))


def _kill(lanelab: LanelabCommand, victim: str) -> None:
    """Every process of the bed with such a name."""
    parts = [part for bed in (lanelab.build / "beds").iterdir() for part in carriers_of(bed.name)]
    found = [part for part in parts if part.name.startswith(victim)]
    assert found, victim
    for part in found:
        with contextlib.suppress(ProcessLookupError):
            os.kill(part.pid, signal.SIGKILL)


@pytest.mark.parametrize("arm", VICTIMS)
def test_what_a_load_needs_may_die_and_the_run_goes_on(killed: Played, arm: str) -> None:
    """One trial fails by that name, and the next counts, or was made by a machine that was starved."""
    assert killed.done.returncode == 0, killed.done.stderr
    failures = killed.rows("SELECT name, reason, detail FROM failures JOIN arms_of_trials USING (trial)")
    own = [(reason, detail) for name, reason, detail in failures if name == arm]
    starved = [reason for reason, detail in own if "the machine was starved" in detail]
    reasons = {reason for reason, detail in own if "the machine was starved" not in detail}
    expected = VICTIMS[arm][1]
    assert reasons == {expected} if arm == "browser" else expected in reasons, own
    assert killed.statuses(arm).count("ok") == 1, own
    assert killed.statuses(arm).count("failed") <= 1 + len(starved), own


def test_a_load_that_is_faster_than_its_link_allows_is_refused(tmp_path: Path) -> None:
    """A real load over a link, judged as one over a slower link: what a bed that lies would look like."""
    experiment = parse_experiment(
        "sites: [dummy]\nlinks: {rate: 500kbit, rtt: 100ms}\narms: {one: {}}\ntrials: 1\n", "made.yaml", ["dummy"]
    )
    site, arm = load_site("dummy"), Arm.parse("one", {})
    spec = TrialSpec(
        site, arm, 30, experiment.recorders, tmp_path / "trial", tmp_path / "authority",
        built=of_servers([arm]),
    )  # fmt: skip
    spec.folder.mkdir()
    with paths.bed_folder() as folder, Bed(BedSettings(folder=folder)) as bed:
        bed.set_link(Link.parse({"rate": "50mbit", "rtt": "10ms"}))
        bed.prepare_trial(spec)
        data = bed.run_trial(spec.timeout_s)
    context = TrialContext(arm, site, experiment.cells[0].link.link, experiment, spec.folder)
    record = finish(data, context)
    assert Reason.BELOW_BOUND in {failure.reason for failure in record.failures}


def test_a_directive_that_apache_does_not_know_ends_the_run_with_its_name(
    lanelab: LanelabCommand, tmp_path: Path
) -> None:
    text = "sites: [dummy]\nlinks: {rtt: 10ms}\narms: {one: {server_directives: ['KeepAlife Off']}}\ntrials: 3\n"
    played = play(lanelab, tmp_path, text)
    assert played.done.returncode == 2
    assert "KeepAlife" in played.done.stderr
    assert "Traceback" not in played.done.stderr


def test_a_link_that_is_not_what_was_asked_for_refuses_its_trials(lanelab: LanelabCommand, tmp_path: Path) -> None:
    """What no router can carry here: its rate is found out by the self-test, not believed."""
    file, out = tmp_path / "experiment.yaml", tmp_path / "run"
    file.write_text(
        "sites: [dummy]\nlinks: {rate: 500mbit, rtt: 1ms}\narms: {one: {start: fresh-context}}\ntrials: 1\nretries: 0\n"
    )
    played = Played(out, lanelab.run("run", str(file), "--out", str(out)))
    database = sqlite3.connect(played.folder / "run.sqlite")
    passed = [row[0] for row in database.execute("SELECT passed FROM self_tests")]
    if 1 in passed:
        pytest.skip("this machine's router carries 500 Mbit/s")
    assert played.reasons("one") == {"link-out-of-tolerance"}
