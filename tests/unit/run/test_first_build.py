"""What has to be built before a first trial counts in what is foretold of a run."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.base.programs.building import gateway, single_build
from lanelab.driver.base.programs.building.go import GATEWAY, Go
from lanelab.driver.cli.main import lanelab
from lanelab.driver.run.built_programs import still_to_build
from tests.kit.experiments import read
from tests.kit.studies import write_study

NATIVE = "sites: dummy\nlinks: {rtt: 20ms}\narms: {a: {server: nginx}}\n"
THROUGH = "sites: dummy\nlinks: {rtt: 20ms}\narms: {a: {server: nginx, via: gateway}}\n"


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build folder in which nothing is."""
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path / "build"))
    return tmp_path / "build"


def go_is(found: Go | None, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lanelab.driver.base.programs.building.gateway", "lanelab.driver.base.programs.building.go"):
        monkeypatch.setattr(f"{name}.toolchain_here", lambda: found)


def test_what_is_not_there_takes_its_time_and_builds_nothing(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_is(None, monkeypatch)
    first = still_to_build([read(THROUGH), read(THROUGH)])
    assert first.programs == ("Go", "gateway")
    assert first.seconds == 55
    assert not build.exists()


def test_what_is_there_takes_no_time(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Go(Path("/usr/bin/go"), "go9.9")
    go_is(own, monkeypatch)
    assert still_to_build([read(THROUGH)]).programs == ("gateway",)
    key = single_build.key_of(gateway.PROGRAM, own.version, *single_build.sources(GATEWAY, without=gateway.irrelevant))
    (build / "gateway" / gateway.PROGRAM / key).mkdir(parents=True)
    assert still_to_build([read(THROUGH)]).seconds == 0


def test_an_arm_without_programs_of_ours_needs_none(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_is(None, monkeypatch)
    assert still_to_build([read(NATIVE)]).programs == ()
    assert not build.exists()


def test_plan_and_study_show_count_it(build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_is(None, monkeypatch)
    file = tmp_path / "exp.yaml"
    file.write_text(THROUGH)
    shown = CliRunner().invoke(lanelab, ["plan", str(file)], catch_exceptions=False).stdout
    assert "and once 55 s to build Go, gateway, included" in shown
    planned = json.loads(CliRunner().invoke(lanelab, ["plan", str(file), "--json"], catch_exceptions=False).stdout)
    assert planned["first_build"] == {"programs": ["Go", "gateway"], "seconds": 55}
    study = CliRunner().invoke(lanelab, ["study", "show", str(write_study(tmp_path))], catch_exceptions=False).stdout
    assert "to build mod_replay" in " ".join(study.split()) or "to build Go" in " ".join(study.split())
    assert not {"gateway", "go", "mod_replay"} & {path.name for path in build.glob("*")}
