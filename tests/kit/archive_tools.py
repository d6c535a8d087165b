"""Other people's tools for web archives and for pages, and their recordings, from public registries.

Everything is fetched on first use into build/peers, pinned with checksums, and is no part of what users get.
"""

import contextlib
import hashlib
import os
import socket
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanelab.driver.base.errors import BuildError
from lanelab.driver.base.paths import PROJECT, build_folder
from lanelab.driver.base.programs.building import single_build
from lanelab.driver.base.programs.find_program import find
from tests.kit.wait import wait_until
from tests.wire.peers import end_group

TOOLS = PROJECT / "requirements-archives.lock"
READER = PROJECT / "requirements-warc.lock"
STARTING_S = 60
NPM_PACKAGE = "json-caching-proxy@1.6.1"
AXE = "axe-core@4.14.1"
# Packages with recordings in them, or with a script that tests run, as they are published, and the sha256 of each.
PACKAGES = {
    "pywb==2.10.0": "5ae43c9b2a5321e39b9c8e16538bfbc0146eeb6fe26713232e45378b774a1a96",
    "warcat==2.2.5": "a3d7af6b4f1cbc6244833e19904932647c8f57d46a2b770fc499a1ec5ca8a8bd",
    "har2warc==1.0.4": "d795e48acbea083b7c731137f5ac0b3d145e5ed9d468b827957d73c1ebc3027c",
    AXE: "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
    NPM_PACKAGE: "904053b2cab841b59b575f114fe1c19d94d4b2be96d4fcf7094c72c1ecb3a436",
}


def tool(code: str, *args: str | Path, cwd: Path | None = None, lock: Path = TOOLS) -> subprocess.CompletedProcess[str]:
    """Run a tool of theirs. `code`: the Python that its command would run."""
    argv, environment = [sys.executable, "-c", code, *map(str, args)], _environment(lock)
    return subprocess.run(argv, env=environment, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)


WACZ = "import sys; sys.argv[0] = 'wacz'; from wacz.main import main; sys.exit(main())"
MANAGER = "import sys; sys.argv[0] = 'wb-manager'; from pywb.manager.manager import main_wrap_exc as m; sys.exit(m())"
# Of each record: its type, whether FastWARC takes it for HTTP, and whether its digests are right.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator
for file in sys.argv[1:]:
    digests = []
    for each in ArchiveIterator(open(file, "rb"), parse_http=False):
        digests.append(each.verify_block_digest())
    for each, right in zip(ArchiveIterator(open(file, "rb"), parse_http=True), digests, strict=True):
        print(each.headers["WARC-Type"], each.is_http, right)
"""
PYWB = "import sys; sys.argv[0] = 'wayback'; from pywb.apps.cli import wayback; wayback()"


@contextlib.contextmanager
def pywb(archive: Path, folder: Path) -> Iterator[str]:
    """The endpoint of a collection with that archive, on loopback, for as long as the block takes."""
    folder.mkdir(parents=True)
    for words in (("init", "all"), ("add", "all", str(archive))):
        done = tool(MANAGER, *words, cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = folder / "log"
    argv = ["setpriv", "--pdeathsig", "KILL", sys.executable, "-c", PYWB, "-b", "127.0.0.1", "-p", str(port)]
    environment = _environment(TOOLS)
    with log.open("wb") as out:
        process = subprocess.Popen(argv, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        _wait_until_it_answers(f"http://127.0.0.1:{port}/all/", process, log)
        yield f"http://127.0.0.1:{port}/all"
    finally:
        end_group(process)


def recording(package: str, member: str, folder: Path) -> Path:
    """A file of a source package, in that folder."""
    packed = _or_skip(package)
    file = folder / Path(member).name
    with tarfile.open(next(packed.iterdir())) as opened:
        inner = next(name for name in opened.getnames() if name.endswith(member))
        content = opened.extractfile(inner)
        assert content is not None
        file.write_bytes(content.read())
    return file


def _or_skip(package: str) -> Path:
    make = _download if "==" in package else _npm_pack

    def fetch(folder: Path, log: single_build.Log) -> None:
        make(package, folder, log)
        [file] = folder.iterdir()
        assert hashlib.sha256(file.read_bytes()).hexdigest() == PACKAGES[package], f"{package} is another one"

    try:
        return single_build.made_once(f"fetching {package}", _peers(package), PACKAGES[package][:16], fetch, about_s=10)
    except BuildError as error:
        pytest.skip(f"{package} cannot be had here: {error}")


def _download(package: str, folder: Path, log: single_build.Log) -> None:
    pip = [sys.executable, "-I", "-m", "pip", "download", "--no-input", "--disable-pip-version-check", "--quiet"]
    words = ["--no-deps", "--no-binary", ":all:", "--dest", str(folder), package]
    log.run([*pip, *words], environment=os.environ)


def _npm_pack(package: str, folder: Path, log: single_build.Log) -> None:
    npm = find("npm")
    if npm is None:
        raise BuildError(f"npm, which fetches {package}, is not installed")
    log.run([str(npm), "pack", "--ignore-scripts", package], environment=os.environ, folder=folder)


def _peers(package: str) -> Path:
    return build_folder() / "peers" / package.replace("==", "-").replace("@", "-")


def _environment(lock: Path) -> dict[str, str]:
    def make(folder: Path, log: single_build.Log) -> None:
        single_build.pip_install(lock, folder, log)

    try:
        place = build_folder() / "peers" / lock.stem.removeprefix("requirements-")
        folder = single_build.made_once(
            f"installing {lock.name}", place, single_build.key_of(lock.read_bytes()), make, about_s=60
        )
    except BuildError as error:
        pytest.skip(f"the packages of {lock.name} cannot be had here: {error}")
    return {**os.environ, "PYTHONPATH": str(folder)}


def _wait_until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        try:
            urllib.request.urlopen(url, timeout=STARTING_S).close()  # noqa: S310 - ours, on loopback
        except urllib.error.HTTPError:
            return True
        except OSError:
            assert process.poll() is None, f"pywb did not start:\n{log.read_text()}"
            return False
        return True

    wait_until(answers, STARTING_S, log.read_text)
