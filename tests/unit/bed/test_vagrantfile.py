"""The Vagrantfiles, as Vagrant itself reads them. No machine is started."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.kit.machine import ROOT

pytestmark = pytest.mark.skipif(shutil.which("vagrant") is None, reason="vagrant is missing")

# Stands for ./lanelab: leaves a box where Vagrant keeps those that it knows.
MAKES_A_BOX = """#!/bin/sh
echo "$*" >>"$VAGRANT_HOME/asked"
box=$VAGRANT_HOME/boxes/lanelab-VAGRANTSLASH-debian-12/0/libvirt
mkdir -p "$box"
echo '{"provider": "libvirt", "format": "qcow2", "virtual_size": 6}' >"$box/metadata.json"
echo key >"$box/made-from"
"""
WITHOUT_LIBVIRT = "#!/bin/sh\necho no libvirt here >&2\nexit 1\n"


def program(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """Return an environment in which Vagrant knows no box, and virsh reaches nothing."""
    home = tmp_path / "vagrant"
    home.mkdir()
    program(tmp_path / "bin" / "virsh", WITHOUT_LIBVIRT)
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("LANELAB_", "VAGRANT_"))}
    return {**usual, "VAGRANT_HOME": str(home), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}


def test_the_classroom_is_valid(tmp_path: Path, environment: Mapping[str, str]) -> None:
    shutil.copy(ROOT / "docs" / "examples" / "classroom" / "Vagrantfile", tmp_path)
    argv = ["vagrant", "validate", "--ignore-provider"]
    done = subprocess.run(argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_vagrant_up_makes_the_box_once_for_all_machines(tmp_path: Path, environment: Mapping[str, str]) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    shutil.copy(ROOT / "Vagrantfile", checkout)
    for folder in ("driver", "src"):
        (checkout / folder).symlink_to(ROOT / folder)
    program(checkout / "lanelab", MAKES_A_BOX)
    done = subprocess.run(["vagrant", "up"], cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    if "vagrant-libvirt" in done.stderr and "plugin" in done.stderr:
        pytest.skip("Vagrant's plugin for libvirt is missing")
    assert (tmp_path / "vagrant" / "asked").read_text() == "vm box\n", done.stdout + done.stderr
    # It goes on with the box, as far as it can without a libvirtd.
    assert "no libvirt here" in done.stdout + done.stderr
