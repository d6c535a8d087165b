"""Writes an image as one file that `podman load` and `docker load` read: OCI's layout with a single layer, and beside
it the list by which Docker before version 25 finds the parts."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

CHUNK = 1 << 20
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


class Layer:
    """The file system, compressed into a file. `content` is that of the tar, `digest` that of the file."""

    def __init__(self, tar: IO[bytes], file: Path) -> None:
        content = hashlib.sha256()
        self.size = 0  # of the tar
        with file.open("wb") as target, gzip.GzipFile("", "wb", 5, target, 0) as packed:
            while chunk := tar.read(CHUNK):
                content.update(chunk)
                packed.write(chunk)
                self.size += len(chunk)
        self.file, self.content = file, content.hexdigest()
        with file.open("rb") as written:
            self.digest = hashlib.file_digest(written, "sha256").hexdigest()


def write_archive(
    target: Path, name: str, architecture: str, layer: Layer, config: Mapping[str, object], time_s: int
) -> None:
    """Write the image of that name (lanelab:1.0). `architecture`: Debian's and OCI's name of it, as amd64."""
    created = datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    about = _json(
        {
            "created": created,
            "architecture": architecture,
            "os": "linux",
            "config": config,
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.content}"]},
            "history": [{"created": created, "created_by": "lanelab build-image"}],
        }
    )
    layer_size = layer.file.stat().st_size
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": _descriptor(CONFIG, about),
            "layers": [{"mediaType": LAYER, "digest": f"sha256:{layer.digest}", "size": layer_size}],
        }
    )
    names = {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": f"docker.io/library/{name}"}
    index = {"schemaVersion": 2, "manifests": [{**_descriptor(MANIFEST, manifest), "annotations": names}]}
    for_docker = [{"Config": _place(_digest(about)), "RepoTags": [name], "Layers": [_place(layer.digest)]}]
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        _add(archive, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}), time_s)
        _add(archive, "index.json", _json(index), time_s)
        _add(archive, "manifest.json", _json(for_docker), time_s)
        for blob in (about, manifest):
            _add(archive, _place(_digest(blob)), blob, time_s)
        with layer.file.open("rb") as content:
            archive.addfile(_entry(_place(layer.digest), layer_size, time_s), content)


def _descriptor(kind: str, blob: bytes) -> dict[str, object]:
    return {"mediaType": kind, "digest": f"sha256:{_digest(blob)}", "size": len(blob)}


def _digest(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()


def _place(digest: str) -> str:
    return f"blobs/sha256/{digest}"


def _json(data: object) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


def _add(archive: tarfile.TarFile, name: str, content: bytes, time_s: int) -> None:
    archive.addfile(_entry(name, len(content), time_s), io.BytesIO(content))


def _entry(name: str, size: int, time_s: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = size, time_s, 0o644
    return entry
