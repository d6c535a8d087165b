"""Who could say what was on the link is stored with each trial, and the report says where not all could."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from lanelab.analysis.results import witnesses
from lanelab.analysis.results.model import Run
from lanelab.analysis.results.report import page
from lanelab.analysis.results.run_folder import read_run
from lanelab.analysis.results.sections.of_run import results_on_terminal
from lanelab.driver.arm.arm import Arm
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.page_load import PageLoadEvidence, WitnessNames
from lanelab.driver.trial.page_load.finish import finish
from lanelab.driver.trial.tolerances import Tolerances
from lanelab.driver.trial.workload import TrialContext
from tests.kit.changed_run import changing
from tests.kit.gateway_records import Exchange, Plan
from tests.kit.made_run import Made, make_run
from tests.kit.records import SITE, record

ALL, BLIND = ["gateway", "server", "capture"], ["gateway", "server"]
WHOLE = {"protocol": ALL, "tls": ALL, "connections": ALL}
SHORT = {"protocol": BLIND, "tls": BLIND, "connections": ALL}
NATIVE = {"protocol": "http/1.1", "tls": "off", "via": "browser"}
SPDY = {**NATIVE, "protocol": "spdy/3.1", "via": "gateway"}
ARM = Arm.parse("spdy", {"protocol": "spdy/3.1"})


def browsers(names: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The same of a trial in which the browser spoke to the server itself."""
    return {what: ["browser", *parties[1:]] for what, parties in names.items()}


def made(folder: Path, noted: Mapping[int, object]) -> Run:
    """Trials 2, 4 and 6 go through the gateway; `noted`: trial -> who was heard."""
    fails = lambda _trial, _attempt: False  # noqa: E731
    arms = {"native": NATIVE, "spdy": SPDY}
    make_run(folder, Made(arms=arms, rounds=3, links=({"rtt": "20ms"},), fails=fails))
    with changing(folder) as database:
        for trial, witnesses in {**dict.fromkeys((1, 3, 5), browsers(WHOLE)), **noted}.items():
            query = "UPDATE trials SET record = json_set(record, '$.evidence.witnesses', json(?)) WHERE trial = ?"
            database.execute(query, (json.dumps(witnesses), trial))
    return read_run(folder)


def shown(run: Run) -> str:
    out = Console(file=io.StringIO(), width=300)
    out.print(results_on_terminal(run))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize(
    ("noted", "says"),
    [
        (
            {2: WHOLE, 4: WHOLE, 6: SHORT},
            "In 1 of 3 trials through the gateway (spdy) the capture could not tell the protocol and the version of ",
        ),
        (
            dict.fromkeys((2, 4, 6), dict.fromkeys(WHOLE, BLIND)),
            "In all 3 trials through the gateway (spdy) the capture could not tell the protocol, the version of TLS",
        ),
        (
            {2: WHOLE, 4: WHOLE, 6: {**WHOLE, "tls": ["gateway", "capture"]}},
            "In 1 of 3 trials through the gateway (spdy) the server's log could not tell the version of TLS",
        ),
        (
            {2: WHOLE, 4: WHOLE},
            "In 1 of 3 trials through the gateway (spdy) it was not noted who could tell",
        ),
    ],
    ids=["short", "no capture", "no server", "not noted"],
)
def test_a_missing_witness_is_said(tmp_path: Path, noted: Mapping[int, object], says: str) -> None:
    run = made(tmp_path / "run", noted)
    (found,) = witnesses.sentences(run)[1]
    assert found.startswith(says)
    assert witnesses.sentences(run)[0][1:] == [found]
    assert found in " ".join(shown(run).split())
    assert found.replace("'", "&#x27;") in page(run) or found in page(run)


def test_where_all_were_heard_the_report_says_so_and_the_terminal_nothing(tmp_path: Path) -> None:
    run = made(tmp_path / "run", dict.fromkeys((2, 4, 6), WHOLE))
    assert witnesses.sentences(run)[1] == []
    native, said = witnesses.sentences(run)[0]
    assert native.startswith(
        "In all 3 trials by the browser itself (native) the records of browser, server's log and capture agree"
    )
    assert said.startswith(
        "In all 3 trials through the gateway (spdy) the records of gateway, server's log and capture agree"
    )
    assert "server's log and capture agree" in page(run).replace("&#x27;", "'").replace("&#39;", "'")
    assert "capture agree" not in shown(run)


def test_native_trials_have_witnesses_too(tmp_path: Path) -> None:
    run = made(tmp_path / "run", {1: browsers(SHORT), **dict.fromkeys((2, 4, 6), WHOLE)})
    silent, alike = witnesses.sentences(run)[0]
    assert silent.startswith("In 1 of 3 trials by the browser itself (native) the capture could not tell the protocol")
    assert alike.startswith(
        "In all 3 trials through the gateway (spdy) the records of gateway, server's log and capture agree"
    )
    assert witnesses.sentences(run)[1] == [silent]


def test_a_trial_stores_who_was_heard(tmp_path: Path) -> None:
    told = Plan(ARM, [Exchange(each.url, 1, 45 + n, 160 + n) for n, each in enumerate(SITE.objects)]).told()
    evidence = finished(told.record, ARM, tmp_path)
    assert evidence.witnesses == WitnessNames(*(tuple(BLIND) for _ in WHOLE))  # nothing was captured
    assert evidence.gateway
    assert [each.to_json() for each in evidence.gateway.connections] == told.connections
    native = Arm.parse("native", {})
    names = finished(record(native), native, tmp_path).witnesses
    assert names == WitnessNames(*(("browser", "server") for _ in WHOLE))


def finished(data: dict[str, Any], arm: Arm, folder: Path) -> PageLoadEvidence:
    """The evidence of a trial without captures, once it is judged."""
    experiment = cast(Experiment, SimpleNamespace(tolerances=Tolerances(), recorders={}))
    context = TrialContext(arm, SITE, Link.parse({"rtt": "40ms", "rate": "10mbit"}), experiment, folder)
    data["evidence"] |= {"capture": {}, "packets": {}}
    done = finish(data, context)
    assert done.ok, done.failures
    assert done.page_load
    return done.page_load
