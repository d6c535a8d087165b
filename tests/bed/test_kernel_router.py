"""The router that is a namespace of the machine's own kernel.

Few machines of ours have sch_netem, but every UML kernel does: the whole of lanelab runs inside one and makes its bed
there, as root of a machine with another kernel.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from lanelab.driver.base.paths import PROJECT, SOURCES
from lanelab.driver.bed.routers import uml
from tests.kit.handles import LanelabCommand


def open_to_others(path: Path) -> bool:
    """In that kernel the bed's user owns none of the host's files: it sees what anybody may see."""
    return all(os.stat(folder).st_mode & 0o005 == 0o005 for folder in (path, *path.parents))  # noqa: PTH116


def usable_python() -> str:
    """This Python, or the system's where this one lies in a folder of its owner's; "" where neither will do."""
    for name in (sys.executable, "/usr/bin/python3"):
        path = Path(name).resolve()
        if not path.is_file() or not open_to_others(path):
            continue
        asked = [name, "-c", "import sys; print(sys.version_info[:2])"]
        if subprocess.run(asked, capture_output=True, text=True, check=False).stdout == f"{sys.version_info[:2]}\n":
            return name
    return ""


PYTHON, PACKAGES = usable_python(), Path(sysconfig.get_path("purelib"))
pytestmark = [
    pytest.mark.skipif(uml.installed() is not None, reason=f"no kernel to run it in: {uml.installed()}"),
    pytest.mark.skipif(
        not (PYTHON and open_to_others(PROJECT) and open_to_others(PACKAGES)),
        reason="Python or this checkout lies in a folder that only its owner may enter",
    ),
]

INSIDE = (
    f'node router env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="{SOURCES}:{PACKAGES}" LANELAB_NO_INSTALL=1 '
    f'LANELAB_BUILD=/run/build "{PYTHON}" -P -m lanelab.driver.cli '
)


def inside(lanelab: LanelabCommand, words: str) -> str:
    done = lanelab.run("bed", "run", "--", "sh", "-c", INSIDE + words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.measures
def test_its_link_is_what_was_asked_for(lanelab: LanelabCommand) -> None:
    done = lanelab.run(
        "bed", "run", "--", "sh", "-c", INSIDE + "link test --router kernel --rtt 60ms --rate 2mbit --queue 64kB --json"
    )
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["router"] == "kernel"
    assert re.match(r"\d+\.\d+", report["kernel"])
    found = {result["name"]: result for result in report["results"]}
    assert found["rtt"]["achieved"] == pytest.approx(60, abs=5)
    for way in ("down", "up"):
        assert found[f"rate {way}"]["achieved"] == pytest.approx(2, rel=0.1)
        assert found[f"queue {way}"]["achieved"] == pytest.approx(found[f"queue {way}"]["target"], rel=0.3)


def test_its_nodes_reach_each_other_by_name(lanelab: LanelabCommand) -> None:
    out = inside(lanelab, "bed exec router --router kernel -- ping -c 1 server")
    assert "1 received" in out


def test_where_there_is_no_netem_it_says_so(lanelab: LanelabCommand, tmp_path: Path) -> None:
    from lanelab.driver.bed import capabilities  # noqa: PLC0415

    if capabilities.kernel_router() is None:
        pytest.skip("this machine's kernel has netem")
    done = lanelab.run("bed", "exec", "client", "--router", "kernel", "--", "true", cwd=tmp_path)
    assert done.returncode == 1
    assert re.search(r"router 'kernel' cannot run here: .*netem.*doctor", done.stderr)
