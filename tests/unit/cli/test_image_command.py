"""lanelab image: the fewest flags, and files that give a container what beds and Chromium's sandbox call."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.version import RELEASE
from lanelab.driver.cli.image.commands import image
from lanelab.driver.cli.image.how import APPARMOR, SECCOMP, files

CALLS = {"unshare", "clone", "clone3", "setns", "mount", "umount2", "pivot_root", "sethostname", "chroot"}
OF_PODMAN = Path("/usr/share/containers/seccomp.json")


def always_allowed(text: str) -> set[str]:
    """Return the calls that a filter lets through whatever a container's capabilities."""
    rules = json.loads(text)["syscalls"]
    free = [rule for rule in rules if not rule.get("args") and not rule.get("includes", {}).get("caps")]
    return {name for rule in free if rule["action"] == "SCMP_ACT_ALLOW" for name in rule["names"]}


def test_the_filter_lets_through_what_a_bed_calls_and_denies_the_rest() -> None:
    text = files(userns_rule=True)[SECCOMP]
    allowed = always_allowed(text)
    assert allowed >= CALLS
    assert not {"bpf", "init_module", "kexec_load", "swapon", "userfaultfd", "open_by_handle_at"} & allowed
    assert json.loads(text)["defaultAction"] == "SCMP_ACT_ERRNO"
    denied = {
        name for rule in json.loads(text)["syscalls"] if rule["action"] == "SCMP_ACT_ERRNO" for name in rule["names"]
    }
    assert not CALLS & denied


@pytest.mark.skipif(not OF_PODMAN.is_file(), reason="Podman's own filter is not here")
def test_beside_that_it_is_podmans_own() -> None:
    rules = json.loads(files(userns_rule=True)[SECCOMP])["syscalls"]
    assert always_allowed(json.dumps({"syscalls": rules})) - CALLS <= always_allowed(OF_PODMAN.read_text())


def test_the_rule_for_namespaces_is_there_where_the_kernel_knows_it() -> None:
    assert "\n  userns,\n" in files(userns_rule=True)[APPARMOR]
    assert "userns" not in files(userns_rule=False)[APPARMOR]


@pytest.mark.skipif(shutil.which("apparmor_parser") is None, reason="apparmor_parser is missing")
def test_the_profile_parses(tmp_path: Path) -> None:
    profile = tmp_path / APPARMOR
    profile.write_text(files(userns_rule=False)[APPARMOR])
    subprocess.run(["apparmor_parser", "--skip-kernel-load", "--skip-cache", profile], check=True)


def test_it_shows_and_writes(tmp_path: Path) -> None:
    done = CliRunner().invoke(image, ["--how", "--write", str(tmp_path / "new")])
    assert done.exit_code == 0
    assert f"podman run --rm lanelab:{RELEASE}-deb12 doctor" in done.stdout
    assert {file.name for file in (tmp_path / "new").iterdir()} == {SECCOMP, APPARMOR}
    assert all(name in done.stdout for name in (SECCOMP, APPARMOR))


def test_it_wants_to_know_what() -> None:
    assert isinstance(CliRunner().invoke(image, []).exception, InputError)
