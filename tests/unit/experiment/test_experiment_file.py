"""Experiment files: what is written is what is meant, and what is wrong is refused with its line."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.base.settings.kinds import LARGEST_SEED
from lanelab.driver.base.units import Ratio
from lanelab.driver.experiment.model import Repeat
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.link import Link
from lanelab.driver.trial.recorders.machine import MachineOptions
from lanelab.driver.trial.recorders.tcpdump import CaptureOptions
from lanelab.driver.trial.tolerances import Tolerances
from tests.kit.experiments import ARMS, PATIENT, SMALL, read
from tests.kit.links import settings

SHIPPED = sorted((PROJECT / "experiments").glob("*.yaml"))


@pytest.mark.parametrize("file", SHIPPED, ids=[file.stem for file in SHIPPED])
def test_what_is_shipped_can_be_read(file: Path) -> None:
    experiment = read_experiment(file)
    assert experiment.name == file.stem
    assert experiment.description
    assert experiment.text == file.read_text()


def test_what_is_left_out_has_its_default() -> None:
    experiment = read(SMALL)
    assert (experiment.name, experiment.description, experiment.seed) == ("exp", "", None)
    assert experiment.repeat == Repeat(5, None, 5, 5)
    assert (experiment.order, experiment.retries, str(experiment.timeout)) == ("interleaved", 2, "60s")
    assert experiment.tolerances == Tolerances()
    assert experiment.recorders == {"capture": CaptureOptions(("client",), 0), "machine": MachineOptions()}


def test_everything_that_is_written_is_there() -> None:
    experiment = read(
        SMALL
        + "name: first\ndescription: |\n  two\n  lines\nuntil: {ci: 2.5%, max: 50, min: 7}\norder: random\nseed: 42\n"
        "tolerances: {missing: 1, outside: 3}\ncapture: {nodes: [server, client], snaplen: 96B}\nretries: 0\n"
        "timeout: 2s\nscreenshot: true\nnetlog: true\nmachine: off\n"
    )
    assert (experiment.name, experiment.description, experiment.seed) == ("first", "two\nlines", 42)
    assert experiment.repeat == Repeat(None, Ratio.parse("2.5%"), 7, 50)
    assert experiment.tolerances == Tolerances(missing=1, extra=0, outside=3)
    assert experiment.recorders["capture"] == CaptureOptions(("client", "server"), 96)
    assert (experiment.order, experiment.retries, experiment.timeout.seconds) == ("random", 0, 2)
    assert set(experiment.recorders) == {"capture", "screenshot", "netlog"}


@pytest.mark.parametrize(
    ("written", "nodes"),
    [("off", ()), ("client", ("client",)), ("[server, client]", ("client", "server")), ("{nodes: off}", ())],
)
def test_capture_can_be_short(written: str, nodes: tuple[str, ...]) -> None:
    capture = read(f"{SMALL}capture: {written}\n").recorders.get("capture")
    assert capture == (CaptureOptions(nodes) if nodes else None)


def test_every_seed_that_a_run_may_draw_can_be_written() -> None:
    assert read(f"{SMALL}seed: {LARGEST_SEED}\n").seed == LARGEST_SEED == 2**32 - 1


def test_yaml_makes_nothing_of_values() -> None:
    experiment = read("sites: dummy\nlinks: {}\narms:\n  on: {tls: off}\n  1.30: {tls: 1.3}\n  1:30: {tls: 1.2}\n")
    assert [(arm.name, arm.tls) for arm in experiment.arms] == [("on", "off"), ("1.30", "1.3"), ("1:30", "1.2")]


def test_anchors_and_aliases_are_just_values() -> None:
    experiment = read(
        "sites: dummy\nlinks: {rate_down: &r 1mbit, rate_up: *r}\narms: {a: &a {tls: 1.3}}\ndefaults: *a\n"
    )
    assert experiment.links[0].link == Link.parse({"rate": "1mbit"})


def test_the_order_in_which_things_are_written_does_not_change_a_cell() -> None:
    ids = [cell.id for cell in read(SMALL).cells]
    other = f"{ARMS}links: {{rtt: [0.02s, 0.1s], rate: 10Mbit/s}}\nsites: [dummy]\ntrials: 9\n"
    assert [cell.id for cell in read(other.replace("http:", "web:")).cells] == ids
    assert len(set(ids)) == len(ids) == 4
    assert all(len(number) == 16 and int(number, 16) for number in ids)


def test_a_cell_is_called_the_same_in_years_to_come() -> None:
    """Changes of this mean that old runs cannot be compared with new ones by cell: only on purpose."""
    assert read(SMALL).cells[0].id == "35353d95e97fa63a"


# 'text' is appended to a small experiment of five lines, unless it begins with !


@PATIENT
@given(st.text(max_size=200) | st.binary(max_size=100).map(lambda data: data.decode("latin-1")))
def test_any_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InputError) as error:
        read(text)
    assert str(error.value).startswith("exp.yaml")
    assert "\n" not in str(error.value)


@PATIENT
@given(st.text(alphabet="{}[]:,-&*!|>'\"\n\t a1%#?", max_size=60))
def test_any_yaml_in_an_experiment_is_taken_or_refused(text: str) -> None:
    assert refusal(f"{SMALL}capture: {text}").startswith(("exp.yaml:", "taken"))


def refusal(text: str) -> str:
    try:
        return f"taken: {read(text).name}"
    except InputError as error:
        return str(error)


def test_a_short_file_that_means_a_huge_one_is_refused() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(InputError, match="with its aliases the file has more than"):
        read("\n".join(lines))
    with pytest.raises(InputError, match="nested too deeply"):
        read("[" * 5000)


@PATIENT
@given(settings())
def test_any_link_can_be_written(mapping: dict[str, object]) -> None:
    lines = "".join(
        f"  {key}: {str(value).lower() if isinstance(value, bool) else value}\n" for key, value in mapping.items()
    )
    assert read(f"sites: dummy\nlinks:\n{lines}{ARMS}").links[0].link == Link.parse(mapping)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"description: caf\xe9\n")
    for file, message in (
        ("latin.yaml", "it is not UTF-8 text"),
        ("none.yaml", "cannot be read: No such file"),
        (".", "cannot be read"),
    ):
        with pytest.raises(InputError, match=message) as error:
            read_experiment(tmp_path / file)
        assert str(error.value).startswith(str(tmp_path))
