"""What is known of a site without making it: for lists, and for reports of runs."""

from __future__ import annotations

from dataclasses import dataclass

from model.coded import Coded
from model.site.composition import Composition, composition_of
from model.site.fidelity import NOT_VERIFIED
from model.site.manifest import Manifest


@dataclass(frozen=True, slots=True)
class SiteFacts(Coded):
    """None: the manifest does not say."""

    name: str
    title: str
    source: str
    entry: str
    kind: str  # where the objects are from
    date: str | None
    synthetic: bool
    objects: int | None
    bytes: int | None
    origins: tuple[str, ...]  # the entry's first; of a recording, that one alone
    composition: Composition
    fidelity: str  # the score, for people
    score: float | None


def kind_of(manifest: Manifest) -> str:
    if manifest.archive:
        return "recorded"
    if manifest.fetch:
        return "fetched"
    return "generated" if manifest.recipe or manifest.generate else "files"


def facts_of(name: str, manifest: Manifest) -> SiteFacts:
    """By the manifest alone: where it lists no objects, by its composition."""
    composition = composition_of(manifest.objects) if manifest.objects else manifest.composition
    parts = None if composition is None else composition.values()
    return SiteFacts(
        name=name,
        title=manifest.title,
        source=manifest.source,
        entry=f"{manifest.entry_scheme}://{manifest.entry}",
        kind=kind_of(manifest),
        date=manifest.date,
        synthetic=manifest.synthetic or manifest.generate is not None,
        objects=None if parts is None else sum(part.objects for part in parts),
        bytes=None if parts is None else sum(part.bytes for part in parts),
        origins=manifest.hosts,
        composition=composition or {},
        fidelity=manifest.fidelity.words if manifest.fidelity else NOT_VERIFIED,
        score=manifest.fidelity.score if manifest.fidelity else None,
    )
