"""What of an experiment runs code of its author, and who has to allow it."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.run.sweep.permissions import asked_of, asks_of, require_allowed
from tests.kit.experiments import read

PLAIN = "sites: dummy\nlinks: {rtt: 20ms}\narms: {http: {}, h2: {protocol: h2, tls: 1.3}}\n"
OWN = """
sites: dummy
links: {rtt: 20ms}
arms:
  plain: {}
  slow: {server_directives: [Timeout 10, LimitRequestBody 0]}
  quiet: {browser_flags: [--mute-audio]}
"""


def of_a_load(folder: Path, script: str) -> Experiment:
    (folder / "users.js").write_text("export default function () {}\n")
    path = folder / "load.yaml"
    path.write_text(
        "sites: dummy\nlinks: {rtt: 20ms}\narms: {http: {}}\n"
        f"workload: {{kind: load, script: {script}, users: 2, duration: 5s}}\n"
    )
    return read_experiment(path)


def test_choices_among_what_lanelab_does_need_nobodys_word() -> None:
    assert asked_of(read(PLAIN)) == ()
    require_allowed(read(PLAIN), (), "lent")


def test_lines_for_servers_and_flags_for_browsers_are_told_with_their_place() -> None:
    experiment = read(OWN)
    assert asked_of(experiment) == ("directives", "flags")
    assert [ask.where for ask in asks_of(experiment)] == [
        "server_directives of the arm slow: Timeout 10",
        "server_directives of the arm slow: LimitRequestBody 0",
        "browser_flags of the arm quiet: --mute-audio",
    ]


@pytest.mark.parametrize(
    ("allowed", "lacks"), [((), "directives,flags"), (("flags",), "directives"), (("scripts", "directives"), "flags")]
)
def test_what_the_owner_does_not_allow_is_refused(allowed: tuple[str, ...], lacks: str) -> None:
    with pytest.raises(InputError, match=f"the owner of lent does not allow.*--allow {lacks}$"):
        require_allowed(read(OWN), allowed, "lent")


def test_what_the_owner_allows_is_not() -> None:
    require_allowed(read(OWN), ("directives", "flags"), "lent")


def test_a_users_script_is_code_and_lanelabs_own_is_not(tmp_path: Path) -> None:
    own = of_a_load(tmp_path, "users.js")
    assert [(ask.kind, ask.where) for ask in asks_of(own)] == [("scripts", "the script users.js")]
    assert asked_of(of_a_load(tmp_path, "page")) == ()


def test_the_script_of_a_journey_is_code(tmp_path: Path) -> None:
    (tmp_path / "go.py").write_text("step('home')\n")
    path = tmp_path / "journey.yaml"
    path.write_text("sites: dummy\nlinks: {rtt: 20ms}\narms: {http: {}}\nscript: go.py\n")
    own = read_experiment(path)
    assert [(ask.kind, ask.where) for ask in asks_of(own)] == [("scripts", "the script go.py")]
    with pytest.raises(InputError, match=r"--allow scripts$"):
        require_allowed(own, ("flags",), "lent")
