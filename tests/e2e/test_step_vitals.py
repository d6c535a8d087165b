"""Vitals of a journey's steps in a real browser, of pages whose numbers are known, and an application of one page whose
soft navigation Chromium reports."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import SiteObject, SitePage
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .runs import Played, play, share_programs

pytestmark = needs_namespaces

HOST = "steps.test"
HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">'
BUSY = "const busy = (ms) => { const until = performance.now() + ms; while (performance.now() < until); };"
# A notice of 100 px pushes a block of 1000x300 px down, in a view of 1366x768; then a task keeps the thread for 200 ms.
HOME = f"""{HEAD}<title>Home</title>
<style>body {{ margin: 0 }} #notice {{ height: 0; width: 1000px; overflow: hidden }}
#story {{ height: 300px; width: 1000px; background: #dde4ee }}</style>
<div id="notice">Late</div><div id="story">Story</div>
<script>{BUSY}
addEventListener("load", () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => {{
  document.getElementById("notice").style.height = "100px";
  setTimeout(() => busy(200), 50);
}}, 100))));</script>
"""
STILL = f"{HEAD}<title>Still</title><p>Nothing moves here.</p>\n"
APP = f"""{HEAD}<title>App</title><h1>App</h1><a id="to-room" href="/room">To the room</a><main></main>
<script>{BUSY}
document.getElementById("to-room").addEventListener("click", async (event) => {{
  event.preventDefault();
  busy(120);
  history.pushState({{}}, "", "/room");
  const words = await (await fetch("/room.txt")).text();
  document.querySelector("main").innerHTML = `<p class="room">${{words}}</p>`;
}});</script>
"""
FILES = {
    "index.html": (HOME, "text/html"),
    "still.html": (STILL, "text/html"),
    "app.html": (APP, "text/html"),
    "room.txt": ("The room is large, and has much to read. " * 100, "text/plain"),
}
PAGES = {"home": "index.html", "still": "still.html", "app": "app.html"}
SCRIPT = """\
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

with step("app"):
    driver.get(pages["app"])
with step("room"):
    driver.find_element(By.ID, "to-room").click()
    WebDriverWait(driver, 10, 0.02).until(lambda _: driver.find_elements(By.CSS_SELECTOR, ".room"))
with step("tap"):
    driver.find_element(By.TAG_NAME, "h1").click()
    driver.find_element(By.TAG_NAME, "h1").click()
with step("rest"):
    driver.execute_script("document.querySelector('h1').textContent = 'Rest'")
"""
RUN = """\
sites: steps
links: {rate: 20mbit, rtt: 20ms}
arms: {one: {}}
trials: 1
retries: 4
timeout: 30s
"""
SHIFT = 1000 * 400 / (1366 * 768) * 100 / 1366


def archive_in(folder: Path) -> Path:
    """An archive with the site."""
    site, listed = folder / "sites" / "steps", []
    for name, (text, mime) in FILES.items():
        path = site / "content" / HOST / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        listed.append(SiteObject(HOST, f"/{name}", len(text.encode()), mime, digest))
    pages = tuple(SitePage(name, f"{HOST}/{file}", (f"{HOST}/{file}",)) for name, file in PAGES.items())
    manifest = Manifest("Steps", "a test", f"{HOST}/index.html", tuple(listed), pages=pages, late=(f"{HOST}/room.txt",))
    (site / "site.yaml").write_text(manifest.to_yaml())
    return site.parent


@pytest.fixture(scope="module")
def lanelab(tmp_path_factory: pytest.TempPathFactory) -> LanelabCommand:
    command = LanelabCommand(tmp_path_factory.mktemp("step-vitals") / "build")
    share_programs(command)
    return command


def told(played: Played) -> tuple[dict[str, float], dict[str, Any]]:
    """The measures of the trial that counts, and what its steps told by their names."""
    assert "ok" in played.statuses("one"), (played.rows("SELECT * FROM failures"), played.done.stderr)
    record = played.records("one")[played.statuses("one").index("ok")]
    (measures,) = played.measures("one")
    return measures, {each["step"]: each for each in record["recordings"]["step_vitals"]["steps"]}


def test_pages_of_a_journey_have_their_own_vitals(lanelab: LanelabCommand, tmp_path: Path) -> None:
    text = f"{RUN}pages: [home, still, {{back: true}}]\nthink: 2s\nvitals: {{after: 1s}}\n"
    played = play(lanelab, tmp_path, text, env={"LANELAB_SITES": str(archive_in(tmp_path))})
    measures, steps = told(played)
    assert measures["cls@home"] == pytest.approx(SHIFT, rel=0.01)
    assert measures["long_task_ms@home"] >= 200
    assert [shift["moved"] for shift in steps["home"]["vitals"]["shifts"]] == [["div#story"]]
    assert measures["cls@still"] == 0
    assert measures["long_task_ms@still"] < 200
    assert steps["still"]["vitals"]["paints"][-1]["tag"] == "p"
    assert not {name for name in measures if name.startswith(("inp_ms", "soft_"))}
    restored = steps["back"]["since_ms"] > 0
    assert restored == ("lcp_settled_ms@back" not in measures)
    assert restored == ("lcp_settled_ms" in steps["back"]["vitals"]["absent"])
    assert measures["cls@back"] == (0 if restored else pytest.approx(SHIFT, rel=0.01))


def test_a_soft_navigation_is_the_steps_in_which_it_is_made(lanelab: LanelabCommand, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SCRIPT)
    played = play(
        lanelab, tmp_path, f"{RUN}script: app.py\nvitals: true\n", env={"LANELAB_SITES": str(archive_in(tmp_path))}
    )
    measures, steps = told(played)
    (soft,) = steps["room"]["soft_navigations"]
    assert soft["url"].endswith(f"{HOST}/room")
    assert soft["paints"][-1]["element"] == "p.room"
    assert 120 <= measures["soft_fcp_ms@room"] <= measures["soft_lcp_ms@room"] < measures["plt_ms@room"] + 500
    assert 0 <= measures["soft_navigation_ms@room"] < measures["plt_ms@room"]
    assert measures["inp_ms@room"] >= 120
    assert measures["long_task_ms@room"] >= 120
    assert [each["element"] for each in steps["room"]["interactions"]] == ["a#to-room"]
    assert (steps["room"]["inputs"], measures["inp_censored@room"]) == (1, 0)
    # Nothing answers these clicks: they are mostly too quick to be told, and are counted all the same.
    assert steps["tap"]["inputs"] == 2
    assert measures["inp_ms@tap"] >= 16
    slowest = max((each["latency_ms"] for each in steps["tap"]["interactions"]), default=0)
    assert measures["inp_censored@tap"] == (slowest < 16)
    assert steps["rest"]["inputs"] == 0
    assert steps["app"]["loaded_ms"] + 500 == pytest.approx(steps["app"]["vitals"]["until_ms"], abs=0.01)
    for step in ("app", "rest"):
        assert steps[step]["soft_navigations"] == []
        assert not {f"soft_lcp_ms@{step}", f"inp_ms@{step}"} & measures.keys()
        assert "no soft navigation" in steps[step]["vitals"]["absent"]["soft_lcp_ms"]
    assert measures["lcp_settled_ms@app"] > 0
    assert "lcp_settled_ms@rest" not in measures
    shown = lanelab.run("show", str(played.folder))
    assert "soft LCP ms" in shown.stdout, shown.stdout
    told_of_it = lanelab.run("export", str(played.folder), "--format", "json")
    assert json.dumps("soft_lcp_ms@room") in told_of_it.stdout
