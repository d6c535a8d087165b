"""An image's file: every part is where its digest says, for Podman's way of looking and for Docker's."""

import gzip
import hashlib
import io
import json
import platform
import tarfile
from pathlib import Path
from typing import Any

import pytest

from lanelab.driver.base.errors import BuildError
from tools.image import build
from tools.image.archive import Layer, write_archive
from tools.image.targets import SYSTEMS, wheels_command

TAR = b"the content of a file system" * 1000
CONFIG = {"User": "1000", "Entrypoint": ["lanelab"]}


@pytest.fixture
def image(tmp_path: Path) -> tarfile.TarFile:
    layer = Layer(io.BytesIO(TAR), tmp_path / "layer")
    assert layer.size == len(TAR)
    write_archive(tmp_path / "image.tar", "lanelab:1.0", "arm64", layer, CONFIG, 1_700_000_000)
    return tarfile.open(tmp_path / "image.tar")


def content(image: tarfile.TarFile, name: str) -> bytes:
    member = image.extractfile(name)
    assert member is not None
    return member.read()


def blob(image: tarfile.TarFile, descriptor: dict[str, Any]) -> bytes:
    kind, _, digest = descriptor["digest"].partition(":")
    found = content(image, f"blobs/{kind}/{digest}")
    assert hashlib.sha256(found).hexdigest() == digest
    assert len(found) == descriptor["size"]
    return found


def test_by_the_index(image: tarfile.TarFile) -> None:
    assert json.loads(content(image, "oci-layout")) == {"imageLayoutVersion": "1.0.0"}
    [entry] = json.loads(content(image, "index.json"))["manifests"]
    assert entry["annotations"]["org.opencontainers.image.ref.name"] == "lanelab:1.0"
    manifest = json.loads(blob(image, entry))
    config = json.loads(blob(image, manifest["config"]))
    [layer] = manifest["layers"]
    assert gzip.decompress(blob(image, layer)) == TAR
    assert config["config"] == CONFIG
    assert config["architecture"] == "arm64"
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(TAR).hexdigest()}"]


def test_by_the_list_of_older_dockers(image: tarfile.TarFile) -> None:
    [entry] = json.loads(content(image, "manifest.json"))
    assert entry["RepoTags"] == ["lanelab:1.0"]
    assert json.loads(content(image, entry["Config"]))["config"] == CONFIG
    assert gzip.decompress(content(image, entry["Layers"][0])) == TAR


@pytest.mark.parametrize("machine", ["aarch64", "riscv64"])
def test_it_is_of_the_processor_that_makes_it(machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of it is; where there are no parts it is refused before anything is made."""
    argv = wheels_command("python", tmp_path, SYSTEMS["debian-12"], machine, tmp_path)
    assert all(word.endswith(f"_{machine}") for word in argv if word.startswith("--platform="))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(build, "find", lambda _name: "/usr/bin/mmdebstrap")
    seen: list[str] = []
    monkeypatch.setattr(build, "_gather", lambda *given: seen.append(given[2]))
    monkeypatch.setattr(build, "_file_system", lambda *_: Layer(io.BytesIO(TAR), tmp_path / "layer"))
    if machine == "aarch64":
        file, _ = build.build_image("lab", "debian-12", tmp_path)
        with tarfile.open(file) as opened:
            [entry] = json.loads(content(opened, "manifest.json"))
            assert json.loads(content(opened, entry["Config"]))["architecture"] == "arm64"
        assert seen == [machine]
    else:
        with pytest.raises(BuildError, match="there is no image for riscv64"):
            build.build_image("lab", "debian-12", tmp_path)


def test_the_same_content_gives_the_same_file(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        layer = Layer(io.BytesIO(TAR), tmp_path / f"{name}.layer")
        write_archive(tmp_path / name, "lanelab:1.0", "arm64", layer, CONFIG, 1_700_000_000)
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1
