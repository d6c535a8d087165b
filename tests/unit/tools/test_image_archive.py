"""An image's file: every part is where its digest says, for Podman's way of looking and for Docker's."""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tools.image.archive import Layer, write_archive

TAR = b"the content of a file system" * 1000
CONFIG = {"User": "1000", "Entrypoint": ["lanelab"]}


@pytest.fixture
def image(tmp_path: Path) -> tarfile.TarFile:
    layer = Layer(io.BytesIO(TAR), tmp_path / "layer")
    assert layer.size == len(TAR)
    write_archive(tmp_path / "image.tar", "lanelab:1.0", layer, CONFIG, 1_700_000_000)
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
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(TAR).hexdigest()}"]


def test_by_the_list_of_older_dockers(image: tarfile.TarFile) -> None:
    [entry] = json.loads(content(image, "manifest.json"))
    assert entry["RepoTags"] == ["lanelab:1.0"]
    assert json.loads(content(image, entry["Config"]))["config"] == CONFIG
    assert gzip.decompress(content(image, entry["Layers"][0])) == TAR


def test_the_same_content_gives_the_same_file(tmp_path: Path) -> None:
    digests = set()
    for name in ("one", "two"):
        layer = Layer(io.BytesIO(TAR), tmp_path / f"{name}.layer")
        write_archive(tmp_path / name, "lanelab:1.0", layer, CONFIG, 1_700_000_000)
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1
