"""What is known of a site without making it: for lists, and for reports of runs."""

from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.composition import Composition, composition_of
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.fidelity import sentence_of
from lanelab.driver.site.load import load_site, read_site_manifest
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.own_sites import IN_PLACE, is_in_place_of_shipped
from lanelab.driver.site.site import Site, site_of
from lanelab.driver.site.site_notes import AboutSite


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
    origins: tuple[str, ...]  # the entry's first
    all_origins: bool  # else only the entry's, since the manifest lists no objects
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
    """Return the facts by the manifest alone: where it lists no objects, by its composition."""
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
        all_origins=bool(manifest.objects),
        composition=composition or {},
        fidelity=sentence_of(manifest.fidelity, _known_digest(manifest), manifest.sha256),
        score=manifest.fidelity.score if manifest.fidelity else None,
    )


def _known_digest(manifest: Manifest) -> str | None:
    """What the manifest says of its objects; a recording's are known only when it is read."""
    return manifest.digest or (digest_of(manifest.objects) if manifest.objects else None)


def about(site: Site) -> AboutSite:
    """Return what a run notes of a site of the archive."""
    name = site_of(site.name)
    manifest, digest = read_site_manifest(name), digest_of(site.objects)
    facts = facts_of(name, manifest)
    whole = digest_of(load_site(name).objects) if manifest.pages else digest  # a site is verified as a whole
    current = manifest.fidelity is not None and manifest.fidelity.digest == whole
    return AboutSite(
        title=manifest.title,
        source=f"{manifest.source} ({IN_PLACE})" if is_in_place_of_shipped(name) else manifest.source,
        kind=facts.kind,
        synthetic=facts.synthetic,
        date=manifest.date,
        objects=len(site.objects),
        bytes=site.total_bytes,
        origins=len(site.hosts),
        composition=composition_of(site.objects),
        digest=digest,
        fidelity=sentence_of(manifest.fidelity, whole),
        score=facts.score if current else None,
        scripts_seed=site.scripts_seed,
    )
