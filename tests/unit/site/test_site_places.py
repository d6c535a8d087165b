"""Where the sites of an installed lanelab are: those that it brings, and the user's own, which go first."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.api.archived_site import own_sites_told
from lanelab.driver.api.plans import plan
from lanelab.driver.base import configuration
from lanelab.driver.base.configuration import SITES
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.paths import sites_folder
from lanelab.driver.cli.site.list import list_sites
from lanelab.driver.site.facts import about
from lanelab.driver.site.generate.new import add_generated
from lanelab.driver.site.load import load_site, require_unused, site_folder, site_names
from lanelab.driver.site.manifest import MANIFEST
from lanelab.driver.site.remove import folders_of, remove

RECIPE = SITES / "bbc-2012" / "recipe.yaml"


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "CHECKOUT", None)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.delenv("LANELAB_SITES", raising=False)


def test_without_any_of_the_users_own_there_are_the_shipped_ones() -> None:
    assert site_names() == site_names(SITES)
    assert site_folder("dummy") == SITES / "dummy"


def test_a_new_site_goes_into_the_users_folder_and_is_there_beside_the_others() -> None:
    add_generated("shop", RECIPE)
    assert site_folder("shop") == sites_folder() / "shop"
    assert {"shop", "dummy"} <= set(site_names())
    assert load_site("shop").objects


def test_the_name_of_a_shipped_site_is_taken_unless_it_is_to_be_replaced() -> None:
    with pytest.raises(InputError, match="there is a site dummy already"):
        require_unused("dummy")
    add_generated("dummy", RECIPE, replace=True)
    assert site_folder("dummy") == sites_folder() / "dummy"
    assert (SITES / "dummy" / MANIFEST).is_file()
    assert site_names().count("dummy") == 1


def test_a_site_in_the_place_of_a_shipped_one_is_told_of_wherever_it_is_used() -> None:
    add_generated("dummy", RECIPE, replace=True)
    add_generated("shop", RECIPE)
    words = f"the site dummy is {sites_folder() / 'dummy'}, the user's own, in place of the one that lanelab brings"
    assert own_sites_told(["shop", "dummy/index.html", "dummy", "bbc-2012"]) == [words]
    assert words in plan("quickstart").warnings
    assert f"mind: {words}" in CliRunner().invoke(list_sites, []).stderr
    assert about(load_site("dummy")).source.endswith("(the user's own, in place of the one that lanelab brings)")
    assert about(load_site("shop")).source.endswith("lanelab brings)") is False


def test_a_copy_of_a_shipped_site_is_the_same_site() -> None:
    shutil.copytree(SITES / "dummy", sites_folder() / "dummy")
    assert own_sites_told(["dummy"]) == []


def test_only_sites_of_the_users_own_can_be_removed() -> None:
    with pytest.raises(InputError, match="the site dummy is part of the installation"):
        folders_of("dummy")
    shutil.copytree(SITES / "dummy", sites_folder() / "dummy")
    remove(folders_of("dummy")[:1])
    assert site_folder("dummy") == SITES / "dummy"
