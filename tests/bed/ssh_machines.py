"""The machines of ssh_lab.py as tests hold them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lanelab.driver.base.paths import PROJECT, SOURCES
from lanelab.driver.base.programs.find_program import search_path
from lanelab.driver.bed.ssh.hosts import Hosts, hosts_of
from tests.kit.wait import left_after

from .ssh_lab import MACHINES, SSHD, USER, address_of

PYTHON = sys.executable
SNAPSHOT = Path(__file__).with_name("ssh_snapshot.py")


SHELLS = {
    "client": ("bash", ".bashrc"),
    "router": ("tcsh", ".tcshrc"),
    "server": ("fish", ".config/fish/config.fish"),
}


def why_not() -> str:
    return "" if os.access(SSHD, os.X_OK) else "sshd is not installed (package openssh-server)"


class Machines:
    """Three machines with an sshd each, until closed."""

    def __init__(self, folder: Path, also: Mapping[str, str] | None = None) -> None:
        """`also`: second addresses of machines, under which nobody knows them."""
        self.folder = folder
        for name in MACHINES:
            self._give_shell(name)
            (folder / f"addresses-{name}").write_text(" ".join([address_of(name), (also or {}).get(name, "")]))
        for name in ("user", *(f"host-{machine}" for machine in MACHINES)):
            argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
            subprocess.run(argv, check=True, stdin=subprocess.DEVNULL)
        hosts = [f"{address_of(name)} {(folder / f'host-{name}.pub').read_text()}" for name in MACHINES]
        (folder / "known_hosts").write_text("".join(hosts))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tests.bed.ssh_lab", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environment,
            cwd=PROJECT,
        )
        assert self._process.stdout
        said = self._process.stdout.readline()
        if not said:
            self.close()
            logs = "".join(path.read_text() for path in folder.glob("sshd-*.log"))
            raise RuntimeError(f"the machines did not start: {logs}")
        self.pids: dict[str, int] = json.loads(said)  # as the lab counts
        self.pid = _child_of(_child_of(self._process.pid))

    def _give_shell(self, name: str) -> None:
        """Each another one that says something whenever it starts; sh where it is not installed (a test tells)."""
        program, file = SHELLS[name]
        shell = shutil.which(program) or "/bin/sh"
        (self.folder / f"shell-{name}").write_text(shell)
        start = self.folder / f"home-{name}" / file
        start.parent.mkdir(parents=True)
        start.write_text("echo Welcome. Today is a \\'fine\\' day: 7\necho and quiet\n")

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    # --- commands

    def inside(self, *words: str) -> list[str]:
        """The argv that runs a command on the controller's side of them."""
        return [sys.executable, "-P", "-m", "tests.bed.ssh_lab", "enter", str(self.pid), *words]

    def on(self, name: str, *words: str) -> list[str]:
        """The argv that runs a command on a machine."""
        return [*self.inside(), sys.executable, "-P", "-m", "tests.bed.ssh_lab", "enter", str(self.pids[name]), *words]

    def run(self, argv: Sequence[str], *, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(argv, env=self.environment, cwd=PROJECT, capture_output=True, text=True, check=check)

    @property
    def environment(self) -> dict[str, str]:
        """With the folder of ip and ethtool, which an ordinary user's PATH lacks."""
        return {**os.environ, "PYTHONPATH": f"{SOURCES}:{PROJECT}", "PATH": search_path()}

    def snapshot(self, name: str) -> dict[str, Any]:
        """Everything on a machine that a bed could have changed."""
        found: dict[str, Any] = json.loads(self.run(self.on(name, sys.executable, str(SNAPSHOT))).stdout)
        return found

    def restored(self, before: Mapping[str, Mapping[str, Any]], within_s: float) -> dict[str, Any]:
        """What is not as before on these machines; waited for so long."""

        def differences() -> dict[str, Any]:
            found: dict[str, Any] = {}
            for name, then in before.items():
                now = self.snapshot(name)
                changed = {key: (then[key], now[key]) for key in then if now[key] != then[key]}
                found |= {f"{name}: {key}": value for key, value in changed.items()}
            return found

        return left_after(differences, within_s)

    # --- inventories

    def variables(self, name: str) -> dict[str, Any]:
        """Of a host, as an inventory has them."""
        options = f"-F none -o StrictHostKeyChecking=yes -o UserKnownHostsFile={self.folder}/known_hosts"
        return {
            "ansible_host": address_of(name),
            "ansible_user": USER,
            "ansible_ssh_private_key_file": str(self.folder / "user"),
            "ansible_ssh_common_args": options,
            "ansible_python_interpreter": PYTHON,
        }

    def hosts(self, **changes: Mapping[str, Any]) -> Hosts:
        """With some variables of some hosts changed."""
        return hosts_of(self._listed(changes), "inventory")

    def inventory(self) -> Path:
        """A file that names them."""
        groups = {name: {"hosts": {f"{name}1": self.variables(name)}} for name in MACHINES}
        path = self.folder / "inventory.yml"
        path.write_text(json.dumps({"all": {"children": groups}}))
        return path

    def _listed(self, changes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        variables = {f"{name}1": {**self.variables(name), **changes.get(name, {})} for name in MACHINES}
        groups = {name: {"hosts": [f"{name}1"]} for name in MACHINES}
        return {"_meta": {"hostvars": variables}, **groups}


def _child_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
