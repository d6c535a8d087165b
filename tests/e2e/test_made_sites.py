"""A generated site and its skeleton, loaded by the real browser: each object is found, in each way of asking for it."""

import pytest

from lanelab.driver.collect.skeleton import add_skeleton
from lanelab.driver.site.generate.new import add_generated
from lanelab.driver.site.load import load_site
from tests.kit.handles import LanelabCommand
from tests.kit.recipes import EVERYTHING

from .runs import Played, play, share_programs

RUN = """\
sites: [everything, skeleton]
links: {rtt: 10ms}
arms:
  h1: {}
  h2: {protocol: h2, tls: 1.3}
trials: 1
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("made")
    archive = folder / "archive"
    (folder / "recipe.yaml").write_text(EVERYTHING)
    add_generated("everything", folder / "recipe.yaml", archive=archive)
    add_skeleton(load_site("everything", archive), "skeleton", archive)
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, RUN, env={"LANELAB_SITES": str(archive)})


@pytest.mark.parametrize("arm", ["h1", "h2"])
def test_every_object_is_asked_for(played: Played, arm: str) -> None:
    assert played.statuses(arm) == ["ok", "ok"], played.reasons(arm)
