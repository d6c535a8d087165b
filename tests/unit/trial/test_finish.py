"""The steps from what the bed recorded to a judged record: what each needs comes before it, and nothing else decides
their order."""

import random
from pathlib import Path

import pytest

from lanelab.driver.arm.arm import Arm
from lanelab.driver.link import Link
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.trial.page_load import finish as finishing
from lanelab.driver.trial.page_load.finish import STEPS, Step
from lanelab.driver.trial.workload import TrialContext
from tests.kit.asked_trials import EXPERIMENT, LINK
from tests.kit.frames import Recorder, Talk
from tests.kit.gateway_records import Exchange, Plan
from tests.kit.records import BEGAN_US, SITE, Data

SPDY = Arm.parse("spdy", {"via": "gateway", "protocol": "spdy/3.1"})


def test_every_step_comes_after_those_that_it_needs() -> None:
    done: set[str] = set()
    for step in STEPS:
        assert set(step.needs) <= done, step.name
        assert step.name not in done
        done.add(step.name)


def captured() -> bytes:
    """A connection that carries 20 kB."""
    recorder = Recorder(now_us=BEGAN_US)
    talk = Talk(recorder, port=40001)
    talk.open()
    talk.say("up", b"GET / HTTP/1.1\r\n\r\n")
    for _ in range(20):
        talk.say("down", bytes(1000))
    return recorder.pcap()


def recorded() -> Data:
    exchanges = [Exchange(each.url, 1, 45 + n, 160 + n) for n, each in enumerate(SITE.objects)]
    data = Plan(SPDY, exchanges).told().trial().to_json()
    data["evidence"]["capture"] = {"client": {**data["evidence"]["capture"]["client"], "file": "client.pcap"}}
    data["evidence"]["packets"] = {}
    return data


def finished(folder: Path, link: Link = LINK) -> TrialRecord:
    folder.mkdir()
    (folder / "client.pcap").write_bytes(captured())
    return finishing.finish(recorded(), TrialContext(SPDY, SITE, link, EXPERIMENT, folder))


def other_order(rng: random.Random) -> tuple[Step, ...]:
    """Any that has what each needs before it."""
    waiting, done = list(STEPS), list[Step]()
    while waiting:
        names = {step.name for step in done}
        step = rng.choice([each for each in waiting if set(each.needs) <= names])
        waiting.remove(step)
        done.append(step)
    return tuple(done)


def test_in_every_order_that_the_needs_allow_the_record_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = finished(tmp_path / "as it is")
    evidence = before.page_load
    assert evidence
    assert evidence.packets["client"].packets > 20
    assert evidence.link
    assert evidence.witnesses
    assert "bound_ms" in before.measures
    rng, orders = random.Random(1), set[tuple[str, ...]]()
    for number in range(12):
        order = other_order(rng)
        orders.add(tuple(step.name for step in order))
        monkeypatch.setattr(finishing, "STEPS", order)
        assert finished(tmp_path / str(number)) == before, [step.name for step in order]
    assert len(orders) > 6
