"""To add an impairment is to write one file and name its class in one list. A made-up one proves it, in a copy of the
project: its setting is read and refused, tc gets its words, and the self-test sends enough packets and judges them."""

import json
import os
import random
import shutil
import subprocess
import sys
from typing import Any

import pytest

from lanelab.driver.base.paths import PACKAGE
from lanelab.driver.link import Link
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.link.results import Result
from lanelab.driver.link.selftest.plan import CHANCE_EVENTS, chance_train
from tests.kit.machine import ROOT

MADE_UP = """
from dataclasses import dataclass
from typing import ClassVar

from lanelab.driver.base.errors import InputError
from lanelab.driver.link.impairments.impairment import Chance, Impairment, Words
from lanelab.driver.link.kinds import DIRECTIONS, PART
from lanelab.driver.link.results import chance
from lanelab.driver.base.settings.setting import Setting
from lanelab.driver.base.units import Ratio


@dataclass(frozen=True, slots=True)
class Corruption(Impairment):
    SETTINGS: ClassVar = (Setting("corrupt", PART, "0%", "packets with a wrong bit", "1%", sides=DIRECTIONS),)
    corrupt: Ratio

    def check(self, written, side, delay):
        if self.corrupt.percent > 50:
            raise InputError("that is more than half", "Write less", key=written.key("corrupt", side))

    def netem(self):
        return [Words(f"corrupt {self.corrupt}", f"changes a bit of {self.corrupt} of packets")] if self.corrupt else []

    @property
    def lost(self):  # the receiver's checksum refuses them
        return self.corrupt.fraction

    @property
    def chance(self):
        return Chance(self.corrupt.fraction) if self.corrupt else None

    def measure(self, way, name, trains):
        target, lost, sent = self.corrupt.fraction, sum(t.lost for t in trains), sum(t.sent for t in trains)
        return [chance(f"corrupt {name}", target, lost, sent)] if self.corrupt else []
"""
USE = """
import json
import random

from lanelab.driver.link.selftest import one_way
from lanelab.driver.link.selftest.retries import Attempts
from lanelab.driver.link.selftest.plan import chance_train
from lanelab.driver.link.shaping.shaping import explain, shape
from lanelab.driver.base.errors import InputError
from lanelab.driver.link import SETTINGS, Link
from lanelab.driver.link.arrivals import Arrivals
from lanelab.driver.base.units import Duration
from tools.experiment_schema import experiment_schema


def refusal(mapping):
    try:
        Link.parse(mapping)
    except InputError as error:
        return str(error)


def send(train, share):
    chance = random.Random(7)
    arrived = tuple((n, n * 1000, n * 1000 + 500) for n in range(train.count) if chance.random() >= share)
    return Arrivals(train.count, arrived, 0, 1.0, train.gap_us / 1e6)


def verdicts(link, share):
    scope = one_way.Scope(attempts=Attempts(1, lambda: 0, 0.0), thorough=False, slack=1.0)
    results = one_way.measure("up", link.up, link.mtu, lambda train: iter([send(train, share)]), scope)
    return {result.name: result.verdict for result in results}


link = Link.parse({"rtt": "20ms", "corrupt_up": "2%"})
print(json.dumps({
    "reads back": Link.parse(link.to_mapping()) == link,
    "mapping": link.to_mapping(),
    "refusals": [refusal({"corrupt_up": "60%"}), refusal({"corupt": "1%"}), refusal({"corrupt": 1})],
    "tc": shape(link, Duration(0)).router_tc,
    "words": [line.meaning for line in explain(link, Duration(0))],
    "packets": chance_train(link.up, thorough=False).count,
    "as asked": verdicts(link, 0.02),
    "none": verdicts(link, 0.0),
    "far too many": verdicts(link, 0.1),
    "reference": "| `corrupt`, `corrupt_down`, `corrupt_up` |" in SETTINGS.markdown(),
    "schema": "corrupt_down" in experiment_schema()["definitions"]["link"]["properties"],
}))
"""


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PACKAGE, folder / "lanelab", ignore=shutil.ignore_patterns("__pycache__"))
    room = folder / "lanelab" / "driver" / "link" / "impairments"
    (room / "corrupt.py").write_text(MADE_UP)
    registry = (room / "__init__.py").read_text()
    listed = registry.replace("    Reordering,\n)", "    Reordering,\n    Corruption,\n)")
    assert listed != registry
    imported = listed.replace("import Duplication\n", "import Duplication\nfrom .corrupt import Corruption\n")
    (room / "__init__.py").write_text(imported)
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", USE], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_its_settings_are_read_and_printed(made_up: Any) -> None:
    assert made_up["reads back"]
    assert (made_up["mapping"]["corrupt_down"], made_up["mapping"]["corrupt_up"]) == ("0%", "2%")
    assert made_up["reference"]
    assert made_up["schema"]
    too_much, near, no_unit = made_up["refusals"]
    assert too_much == "corrupt_up: that is more than half. Write less"
    assert near == "corupt: there is no such setting. Did you mean corrupt?"
    assert "1 has no unit" in no_unit


def test_tc_gets_its_words(made_up: Any) -> None:
    down, up = made_up["tc"]
    assert up.endswith("delay 10000us corrupt 2%")
    assert "corrupt" not in down
    assert any("changes a bit of 2% of packets" in words for words in made_up["words"])


def test_the_self_test_measures_it(made_up: Any) -> None:
    assert made_up["packets"] == CHANCE_EVENTS / 0.02
    assert made_up["as asked"] == {"loss up": "ok", "corrupt up": "ok"}
    assert made_up["none"] == {"loss up": "out", "corrupt up": "out"}
    assert made_up["far too many"] == {"loss up": "out", "corrupt up": "out"}


def verdicts(link: Link, arrived: Arrivals) -> dict[str, str]:
    results: list[Result] = [each for part in link.up.impairments for each in part.measure(link.up, "up", [arrived])]
    return {result.name: result.verdict for result in results}


def arrivals(link: Link, *, lost: float = 0, copied: float = 0, early: float = 0) -> Arrivals:
    """The train of small packets for that link, as a link with these shares passes it on."""
    train, chance = chance_train(link.up, thorough=False), random.Random(3)
    packets = []
    for number in range(train.count):
        sent = round(number * train.gap_us * 1000)
        delay = 0 if chance.random() < early else link.up.delay.ns
        packet = (number, sent, sent + delay)
        if chance.random() >= lost:
            packets += [packet, packet] if chance.random() < copied else [packet]
    return Arrivals(train.count, tuple(packets), 0, 1.0, train.gap_us / 1e6)


@pytest.mark.parametrize(
    ("settings", "name", "share"),
    [
        ({"loss": "2%"}, "loss up", {"lost": 0.02}),
        ({"duplicate": "2%"}, "duplicate up", {"copied": 0.02}),
        ({"reorder": "2%"}, "reorder up", {"early": 0.02}),
    ],
)
def test_each_impairment_tells_a_right_link_from_a_wrong_one(
    settings: dict[str, object], name: str, share: dict[str, float]
) -> None:
    link = Link.parse({"rtt": "200ms", **settings})
    assert verdicts(link, arrivals(link, **share))[name] == "ok"
    assert verdicts(link, arrivals(link))[name] == "out"
    assert verdicts(link, arrivals(link, **{key: value * 6 for key, value in share.items()}))[name] == "out"
    plain = Link.parse({"rtt": "200ms"})
    assert verdicts(plain, arrivals(plain)) == {"loss up": "ok"}
    assert verdicts(plain, arrivals(plain, **dict.fromkeys(share, 0.2)))[name] == "out"
