"""Addresses that are blocked, asked for by a page and its workers, in the real Chromium."""

from pathlib import Path

import pytest

from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import play, share_programs

pytestmark = needs_namespaces

FILES = {
    "index.html": '<!doctype html><link rel="icon" href="data:,"><script src="/ad.js"></script><script>\n'
    'new Worker("/worker.js"); new SharedWorker("/shared.js");\n</script><img src="/picture.png">\n',
    "worker.js": 'fetch("/ad/pixel.txt").catch(function () {}).then(function () { fetch("/kept.txt"); });\n',
    "shared.js": 'fetch("/ad/shared.txt").catch(function () {});\n',
    "ad.js": "1;\n",
    "ad/shared.txt": "pixel\n",
    "ad/pixel.txt": "pixel\n",
    "kept.txt": "kept\n",
    "picture.png": "no picture\n",
}
RUN = """\
sites: worker
links: {rtt: 20ms}
defaults: {start: fresh-context, answer_delay: {worker.test/picture.png: 500ms}}  # workers have time to ask
trials: 1
retries: 0
missing: 404
arms:
  all: {}
  blocked: {block: [worker.test/ad.js, "worker.test/ad/*"]}
"""


@pytest.mark.parametrize("date", ["2020-05-01T00:00:00Z", ""])
def test_a_worker_asks_for_nothing_that_is_blocked(tmp_path: Path, date: str) -> None:
    """Also where it has a script of lanelab's own, since the site has a date."""
    folder, archive = tmp_path / "files", tmp_path / "archive"
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    lanelab = LanelabCommand(tmp_path / "build")
    share_programs(lanelab)
    env = {"LANELAB_SITES": str(archive)}
    done = lanelab.run("site", "import", str(folder), "--name", "worker", env=env)
    assert done.returncode == 0, done.stderr
    manifest = archive / "worker" / "site.yaml"
    lines = [line for line in manifest.read_text().splitlines() if not line.startswith("date:")]
    manifest.write_text("\n".join([*lines, *([f"date: {date}"] if date else [])]) + "\n")
    run = play(lanelab, tmp_path, RUN, env=env)
    asked = {arm: {line["path"] for line in run.evidence(arm)[-1]["server"]["requests"]} for arm in ("all", "blocked")}
    assert {"/ad.js", "/ad/pixel.txt", "/ad/shared.txt", "/worker.js", "/shared.js"} <= asked["all"]
    assert {"/worker.js", "/shared.js"} <= asked["blocked"]
    assert not {"/ad.js", "/ad/pixel.txt", "/ad/shared.txt"} & asked["blocked"]
    assert run.statuses("blocked") == ["ok"], (run.reasons("blocked"), run.done.stderr)
