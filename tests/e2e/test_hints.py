"""Early Hints, links that preload, and urgency: in the browser's own words. And texts in zstd."""

import json
from typing import Any

import pytest

from lanelab.driver.base.programs.find_program import find
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = [needs_namespaces, pytest.mark.skipif(not find("caddy"), reason="no Caddy here")]

HINTED = """\
sites: [dummy]
links: {rate: 20mbit, rtt: 20ms}
defaults: {start: fresh-context, protocol: h2, tls: "1.3", compression: zstd}
arms:
  apache: {early_hints: /style/*}
  caddy: {server: caddy, early_hints: /style/*}
  page: {preload: /style/*, fetchpriority: [first-image=high, images=low]}
trials: 1
seed: 6
"""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("hints")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    return play(lanelab, folder, HINTED)


def requests(played: Played, arm: str) -> list[dict[str, Any]]:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)
    query = "SELECT name, data FROM requests JOIN arms_of_trials a USING (trial) WHERE a.status = 'ok' ORDER BY number"
    return [json.loads(data) for name, data in played.rows(query) if name == arm]


@pytest.mark.parametrize("arm", ["apache", "caddy"])
def test_a_103_comes_ahead_of_the_page(played: Played, arm: str) -> None:
    page, *others = requests(played, arm)
    assert len(page["early_links"]) == 3
    assert all(each.endswith("; rel=preload; as=style") for each in page["early_links"])
    assert not any(each["early_links"] for each in others)


def test_the_page_names_what_it_needs_and_how_urgent_it_is(played: Played) -> None:
    page, *others = requests(played, "page")
    headers = {name.lower(): value for name, value in page["response_headers"]}
    assert headers["content-encoding"] == "zstd"
    assert dict(page["request_headers"])["priority"] == "u=0, i"
    assert sum(each["link_preload"] for each in others) == 3
    images = [each["priority"] for each in others if each["type"] == "Image"]
    assert images.count("High") == 1
    assert set(images) == {"High", "Low"}
