"""Settings of the whole program, and the time limits that one of them makes longer."""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base import configuration, timeouts
from lanelab.driver.base.configuration import (
    FACTOR_OF_EMULATED,
    PROJECT,
    SITES,
    TIMEOUTS,
    Configuration,
    require_trusted,
)
from lanelab.driver.base.errors import InputError
from lanelab.driver.cli.main import lanelab
from lanelab.driver.trial.operations import TrialOperations
from lanelab.driver.trial.spec import TrialSpec
from tests.kit.records import SITE
from tests.kit.skipping import needs_checkout


def test_each_variable_has_its_setting() -> None:
    given = {"LANELAB_BUILD": "/b", "LANELAB_SITES": "/s", TIMEOUTS: "2.5", "LANELAB_NO_INSTALL": "1"}
    assert Configuration.from_environment(given) == Configuration(Path("/b"), Path("/s"), 2.5, False, False)
    assert Configuration.from_environment({"LANELAB_DEBUG": "1"}).shows_traces


@needs_checkout
def test_what_is_not_set_or_empty_has_its_default() -> None:
    default = Configuration(PROJECT / "build", PROJECT / "sites-archive", None, True, False)
    assert Configuration.from_environment({}) == default
    assert Configuration.from_environment({"LANELAB_BUILD": "", "LANELAB_SITES": "", TIMEOUTS: ""}) == default


@pytest.mark.usefixtures("installed")
def test_installed_it_writes_to_the_users_folders_and_nowhere_else() -> None:
    given = {"HOME": "/h", "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"}
    read = Configuration.from_environment(given)
    assert (read.build, read.sites, read.shipped_sites) == (Path("/c/lanelab"), Path("/d/lanelab/sites"), SITES)
    relative = Configuration.from_environment({"XDG_CACHE_HOME": "c", "XDG_DATA_HOME": ""})  # which does not count
    assert relative.build == Path.home() / ".cache" / "lanelab"
    assert relative.sites == Path.home() / ".local" / "share" / "lanelab" / "sites"
    assert Configuration.from_environment({"LANELAB_SITES": "/s"}).shipped_sites is None


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("home", "words"), [("here", "'here' is no folder's whole path"), ("", "not set, and the system knows no home")]
)
def test_without_a_home_folder_nothing_is_written_anywhere(
    home: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)  # whom no list of users has
    with pytest.raises(InputError, match=f"^HOME: {words}.* Set it, or XDG_CACHE_HOME$"):
        Configuration.from_environment({"HOME": home})
    named = Configuration.from_environment({"HOME": home, "XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d"})
    assert named.build == Path("/c/lanelab")


@pytest.mark.parametrize(("mode", "refused"), [(0o777, True), (0o1777, True), (0o775, False), (0o755, False)])
def test_a_build_folder_of_somebody_else_that_everybody_may_write_to_is_refused(
    mode: int, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(mode)
    require_trusted(tmp_path)  # one's own
    require_trusted(tmp_path / "not there yet")
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    monkeypatch.setenv("LANELAB_BUILD", str(tmp_path))
    monkeypatch.setattr(configuration, "_held", None)
    with pytest.raises(InputError, match=r"^LANELAB_BUILD: .*everybody may write") if refused else nullcontext():
        configuration.load()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "CHECKOUT", None)


@pytest.mark.parametrize(("given", "limit_s"), [("", 10), ("1", 10), ("6", 60), ("2.5", 25), ("100", 1000)])
def test_limits_grow_by_the_factor(monkeypatch: pytest.MonkeyPatch, given: str, limit_s: float) -> None:
    monkeypatch.setenv(TIMEOUTS, given)
    assert timeouts.scaled(10) == limit_s


@pytest.mark.parametrize("given", ["0", "0.1", "-6", "101", "nan", "inf", "long"])
def test_what_is_no_such_factor_is_refused_before_anything_begins(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv(TIMEOUTS, given)
    with pytest.raises(InputError, match=rf"^LANELAB_PATIENCE: '{given}' .*from 1 to 100$"):
        CliRunner().invoke(lanelab, ["doctor"], catch_exceptions=False, standalone_mode=False)


def test_emulated_processors_get_longer_limits_unless_the_user_has_set_some() -> None:
    unset = Configuration.from_environment({}).for_emulated_processors()
    assert unset.timeout_factor == FACTOR_OF_EMULATED
    assert Configuration.from_environment(unset.environment()).timeout_factor == FACTOR_OF_EMULATED
    assert Configuration.from_environment({TIMEOUTS: "2"}).for_emulated_processors().timeout_factor == 2
    assert Configuration.from_environment({}).environment() == {}


def test_a_process_reads_its_environment_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # also what tests/conftest.py does
    monkeypatch.setattr(configuration, "_held", None)
    monkeypatch.setenv("LANELAB_BUILD", "/first")
    assert configuration.current().build == Path("/first")
    monkeypatch.setenv("LANELAB_BUILD", "/second")
    assert configuration.current().build == Path("/first")
    timeouts.expect_emulated()
    assert configuration.current().timeout_factor == FACTOR_OF_EMULATED


TRIAL = TrialSpec(SITE, Arm.parse("arm", {}), 20.0, {}, Path("/trial"), Path("/authority"))
ASKING: dict[str, list[Any]] = {"prepare_trial": [TRIAL], "check_arm": [TRIAL], "run_trial": [20.0], "end_trial": []}


@pytest.mark.parametrize("op", ASKING)
def test_who_asks_a_bed_waits_as_much_longer_as_the_bed_itself(monkeypatch: pytest.MonkeyPatch, op: str) -> None:
    """Else a slow browser counts as a lost bed, and three of those end a run."""

    class Asked(TrialOperations):
        def ask(self, _name: str, _arguments: Mapping[str, Any], within_s: float) -> object:
            limits.append(within_s)
            return []

    limits: list[float] = []
    for given in ("1", "6"):
        monkeypatch.setenv(TIMEOUTS, given)
        getattr(Asked(), op)(*ASKING[op])
    load_s = {"prepare_trial": 40.0, "run_trial": 20.0}.get(op, 0.0)  # the experiment's own, which nothing multiplies
    assert limits[1] - load_s == 6 * (limits[0] - load_s)
    assert limits[0] - load_s >= timeouts.ANSWER_WITHIN_S
