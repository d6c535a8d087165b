"""lighttpd, Caddy and h2o under load, and page loads from lighttpd and h2o."""

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

SERVERS = ("lighttpd", "caddy", "h2o")
absent = [name for name in (*SERVERS, "wrk", "h2load") if not find(name)]
pytestmark = [needs_namespaces, pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} is not installed here")]

BY_WRK = """\
workload: {kind: load, generator: wrk, connections: [4], duration: 1s}
sites: icons-50/*
links: {rtt: 5ms}
arms:
  lighttpd: {server: lighttpd, keepalive_requests: 65535, lighttpd_workers: 2}
  lighttpd TLS: {server: lighttpd, keepalive_requests: 65535, tls: "1.2"}
  caddy: {server: caddy, caddy_processors: 1}
  caddy TLS: {server: caddy, tls: "1.3", tls_resumption: false}
  h2o: {server: h2o, h2o_threads: 1}
  h2o TLS: {server: h2o, tls: "1.3"}
trials: 1
retries: 0
seed: 4
"""
BY_H2LOAD = """\
workload: {kind: load, generator: h2load, connections: [2], streams: 4, requests: 400}
sites: icons-50/*
links: {rtt: 5ms}
defaults: {protocol: h2}
arms:
  lighttpd: {server: lighttpd, tls: "1.3"}
  lighttpd clear: {server: lighttpd}
  caddy: {server: caddy, tls: "1.3"}
  caddy clear: {server: caddy}
  h2o: {server: h2o, tls: "1.3"}
  h2o clear: {server: h2o}
trials: 1
retries: 0
seed: 4
"""


def played(tmp_path_factory: pytest.TempPathFactory, experiment: str) -> Played:
    folder = tmp_path_factory.mktemp("servers")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, experiment)


@pytest.mark.long
@pytest.mark.parametrize("experiment", [BY_WRK, BY_H2LOAD], ids=["wrk", "h2load"])
def test_they_answer_under_load(tmp_path_factory: pytest.TempPathFactory, experiment: str) -> None:
    run = played(tmp_path_factory, experiment)
    titles = {"lighttpd": "lighttpd/1.4", "caddy": "Caddy", "h2o": "h2o/2"}
    for name, title in titles.items():
        for arm in (name, f"{name} {'TLS' if experiment is BY_WRK else 'clear'}"):
            assert run.statuses(arm) == ["ok"], run.reasons(arm)
            (record,) = run.records(arm)
            server, report = record["evidence"]["server"], record["evidence"]["generator"]
            assert server["program"].startswith(title)
            assert server["error_lines"] == []
            well = {"200", "2xx", "below 400"}  # as each generator calls them
            assert not any(count for status, count in report["statuses"].items() if status not in well), report
            assert report["requests"]["failed"] == 0
            assert report["requests"]["ended"] >= 100  # of some hundreds on a busy machine
            if experiment is BY_H2LOAD:
                assert report["protocol"] == "h2"


PAGES = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {start: fresh-context, tls: "1.3", tls_resumption: false}
arms:
  lighttpd: {server: lighttpd}
  lighttpd h2: {server: lighttpd, protocol: h2}
  h2o: {server: h2o}
  h2o h2: {server: h2o, protocol: h2}
trials: 1
seed: 4
"""
SPOKEN = {"": "HTTP/1.1", "h2": "HTTP/2.0"}


def test_page_loads_from_them_count(tmp_path_factory: pytest.TempPathFactory) -> None:
    run = played(tmp_path_factory, PAGES)
    for arm in ("lighttpd", "lighttpd h2", "h2o", "h2o h2"):
        name, _, protocol = arm.partition(" ")
        assert "ok" in run.statuses(arm), (run.reasons(arm), run.done.stderr)
        record = next(each for each in run.records(arm) if not each["failures"])
        server = record["evidence"]["server"]
        assert server["program"].startswith(f"{name}/")
        assert server["error_lines"] == []
        assert {each["protocol"] for each in server["requests"]} == {SPOKEN[protocol]}
        offers_h1_alone = arm == "h2o"  # since it would take HTTP/2
        assert ("--disable-http2" in record["evidence"]["browser"]["facts"]["flags"]) is offers_h1_alone


def test_page_loads_are_refused_where_nobody_could_judge_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("refused")
    lanelab = LanelabCommand(folder / "build")
    file = folder / "page.yaml"
    text = "sites: [dummy]\nlinks: {rtt: 20ms}\ncapture: off\narms: {one: {server: lighttpd, tls: '1.3'}}\ntrials: 1\n"
    file.write_text(text)
    done = lanelab.run("plan", str(file))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "judged by a capture" in done.stderr, done.stderr
