"""Archived websites: their manifests and their verified files. docs/reference/site.md describes the format."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.errors import InputError
from model.paths import sites_folder
from model.site.content import content_of
from model.site.manifest import MANIFEST, OBJECT, Manifest, SiteObject, hosts_of, read_manifest

__all__ = ["Site", "SiteObject", "load_site", "read_site_manifest", "site_names"]


@dataclass(frozen=True, slots=True)
class Site:
    """A website that can be served: its files are there, and they are what the manifest says."""

    name: str
    title: str
    entry_host: str
    entry_path: str
    objects: tuple[SiteObject, ...]
    content: Path  # content/HOST/path

    @property
    def hosts(self) -> tuple[str, ...]:
        """The entry's first, then in order of appearance."""
        return hosts_of(self.entry_host, self.objects)

    @property
    def total_bytes(self) -> int:
        return sum(each.size for each in self.objects)

    def url(self, scheme: str) -> str:
        return f"{scheme}://{self.entry_host}{self.entry_path}"

    def file(self, each: SiteObject) -> Path:
        return self.content / each.file

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "entry_host": self.entry_host,
            "entry_path": self.entry_path,
            "objects": [each.to_json() for each in self.objects],
            "content": str(self.content),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Site:
        return cls(
            name=data["name"],
            title=data["title"],
            entry_host=data["entry_host"],
            entry_path=data["entry_path"],
            objects=tuple(SiteObject(**{key: each[key] for key in OBJECT.by_name}) for each in data["objects"]),
            content=Path(data["content"]),
        )


def site_names(archive: Path | None = None) -> list[str]:
    """Every folder with a manifest."""
    archive = archive or sites_folder()
    try:
        return sorted(folder.name for folder in archive.iterdir() if (folder / MANIFEST).is_file())
    except OSError as error:
        raise InputError(f"cannot read the archive of sites {archive}: {error.strerror}", "Bring it back") from error


def read_site_manifest(name: str, archive: Path | None = None) -> Manifest:
    """What a site consists of, without its files."""
    archive = archive or sites_folder()
    names = site_names(archive)
    if name not in names:
        near = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f"Did you mean {near[0]}? " if near else ""
        raise InputError(f"there is no site {name!r}", f"{hint}Sites are {', '.join(names) or 'none'}", key="sites")
    return read_manifest(archive / name / MANIFEST)


def load_site(name: str, archive: Path | None = None) -> Site:
    """The site, ready to be served. Makes its files where it is a recipe; refuses files that are not the manifest's."""
    archive = archive or sites_folder()
    manifest = read_site_manifest(name, archive)
    host, slash, path = manifest.entry.partition("/")
    return Site(
        name=name,
        title=manifest.title,
        entry_host=host,
        entry_path=slash + path,
        objects=manifest.objects,
        content=content_of(name, archive / name, manifest),
    )
