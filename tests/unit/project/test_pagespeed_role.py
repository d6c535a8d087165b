"""The role that takes mod_pagespeed's module out of a package, run with a package made here: never with a real one."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lanelab.driver.base.programs.ansible import ansible_settings
from lanelab.driver.base.programs.needs import PLAYBOOKS

pytestmark = [pytest.mark.long, pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="missing: dpkg-deb")]
MODULE = "usr/lib/apache2/modules/mod_pagespeed_ap24.so"
CONTROL = (
    "Package: mod-pagespeed-stable\nVersion: 0\nArchitecture: all\nMaintainer: nobody\nDescription: made for a test\n"
)


def _package(folder: Path, file: str) -> Path:
    tree = folder / "tree"
    (tree / "DEBIAN").mkdir(parents=True)
    (tree / "DEBIAN" / "control").write_text(CONTROL)
    (tree / file).parent.mkdir(parents=True)
    (tree / file).write_bytes(b"a module")
    package = folder / "package.deb"
    subprocess.run(
        ["dpkg-deb", "--build", "--root-owner-group", str(tree), str(package)], check=True, capture_output=True
    )
    return package


def _play(package: Path, sha256: str, folder: Path) -> subprocess.CompletedProcess[str]:
    words = {"pagespeed_deb": str(package), "pagespeed_sha256": sha256, "pagespeed_folder": str(folder)}
    argv = [
        *(str(Path(sys.executable).parent / "ansible-playbook"), "pagespeed.yml"),
        *("--inventory", "inventory/localhost.yml", "--extra-vars", json.dumps(words)),
    ]
    environment = {**os.environ, **ansible_settings()}
    return subprocess.run(
        argv, cwd=PLAYBOOKS, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_the_module_alone_is_taken(tmp_path: Path) -> None:
    package, folder = _package(tmp_path, MODULE), tmp_path / "lib"
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    done = _play(package, digest, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [(each.name, each.read_bytes()) for each in folder.iterdir()] == [("mod_pagespeed.so", b"a module")]


@pytest.mark.parametrize(
    ("file", "sha256", "says"),
    [
        (MODULE, "0" * 64, "another sha256"),
        (MODULE, "", "Name the package and its sha256"),
        ("usr/lib/apache2/modules/mod_pagespeed.so", None, "has no mod_pagespeed_ap24.so"),
    ],
)
def test_another_package_is_refused(tmp_path: Path, file: str, sha256: str | None, says: str) -> None:
    package = _package(tmp_path, file)
    digest = hashlib.sha256(package.read_bytes()).hexdigest() if sha256 is None else sha256
    done = _play(package, digest, tmp_path / "lib")
    assert done.returncode != 0
    assert says in done.stdout + done.stderr
    assert not (tmp_path / "lib" / "mod_pagespeed.so").exists()
