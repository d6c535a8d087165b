"""Experiments that lanelab brings are known by name, and a file of the user's goes first."""

from pathlib import Path

import pytest

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.read import read_experiment
from lanelab.driver.experiment.shipped import EXPERIMENTS, experiment_file, shipped_names


def test_a_name_means_what_lanelab_brings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert experiment_file(Path("quickstart")) == EXPERIMENTS / "quickstart.yaml"
    assert read_experiment(Path("labs/1-slow-start")).name == "1-slow-start"


@pytest.mark.parametrize("named", ["quickstart.yaml", "./quickstart.yml", "experiments/quickstart.yaml"])
def test_a_file_that_is_not_there_is_not_one_of_lanelabs_own(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^\S+: there is no such file. Did you mean lanelab's own, quickstart\?"):
        read_experiment(Path(named))


def test_those_in_folders_have_the_folder_in_their_name() -> None:
    names = shipped_names()
    assert {"labs/1-slow-start", "spdy-vs-http-2012/figure-4"} <= set(names)
    assert not [name for name in names if name.endswith("study")]


OF_CELLULAR = [name for name in shipped_names() if name.startswith("h2-lossy-cellular-2017/")]


@pytest.mark.parametrize("name", OF_CELLULAR)
def test_a_link_in_clusters_loses_the_share_that_its_label_names(name: str) -> None:
    links = {cell.link.label: cell.link.link for cell in read_experiment(EXPERIMENTS / f"{name}.yaml").cells}
    assert any("in clusters" in label for label in links)
    for label, link in links.items():
        share = 0.0 if label.startswith("no loss") else float(label.partition("%")[0]) / 100
        assert [way.loss.mean_loss for way in (link.down, link.up)] == pytest.approx([share, share], rel=0.001), label


@pytest.mark.parametrize("name", OF_CELLULAR)
def test_no_server_ends_a_connection_on_which_an_answer_waits_for_the_end_of_a_cluster(name: str) -> None:
    """It waits for the next request since it has sent the answer, which may come after the usual five seconds only."""
    cells = read_experiment(EXPERIMENTS / f"{name}.yaml").cells
    assert {cell.arm.keepalive_timeout for cell in cells} == {Duration.parse("60s")}


def test_pages_compare_what_http_3_gains_with_what_congestion_control_does() -> None:
    """HTTP/3 is held against HTTP/2 with BBR, on each of the three pages."""
    experiment = read_experiment(EXPERIMENTS / "production-quic-2021/pages.yaml")
    claim = next(each for each in experiment.claims if each.name == "4-less-than-the-controller")
    cells = {cell.id: cell for cell in experiment.cells}
    pairs = [(cells[point.cell], cells[str(point.base)]) for place in claim.places for point in place.points]
    assert len(pairs) == len({one.site for one, _ in pairs}) == 3
    assert {(one.arm.protocol, base.arm.protocol) for one, base in pairs} == {("h3", "h2")}
    assert {cell.link.link.server.congestion_control for pair in pairs for cell in pair} == {"bbr"}


def test_a_file_of_the_user_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("quickstart").write_text("mine")
    assert experiment_file(Path("quickstart")) == Path("quickstart")


def test_another_name_is_refused_with_the_nearest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^quickstrat: there is no such file, .* lanelab's own, quickstart\?"):
        read_experiment(Path("quickstrat"))
