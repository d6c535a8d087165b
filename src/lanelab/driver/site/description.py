"""Everything about a site that a person wants to know before it is used. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lanelab.driver.base.coded import Coded
from lanelab.driver.site.composition import Composition, composition_of
from lanelab.driver.site.facts import kind_of
from lanelab.driver.site.fidelity import Fidelity
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import Site, SitePage

PLAIN = "none"


@dataclass(frozen=True, slots=True)
class Origin(Coded):
    scheme: str
    host: str
    objects: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PageDescription(Coded):
    name: str
    url: str
    objects: int  # that it needs
    bytes: int


@dataclass(frozen=True, slots=True)
class SiteDescription(Coded):
    name: str
    title: str
    source: str
    entry: str
    kind: str
    synthetic: bool
    date: str | None
    user_agent: str | None
    viewport: str | None
    licence: str | None
    digest: str  # of all objects
    objects: int
    bytes: int
    composition: Composition
    origins: tuple[Origin, ...]
    methods: Mapping[str, int]
    statuses: Mapping[str, int]
    encodings: Mapping[str, int]
    late: tuple[str, ...]
    unanswered: tuple[str, ...]
    left_out: tuple[str, ...]
    fidelity: Fidelity | None
    fidelity_is_stale: bool
    pages: tuple[PageDescription, ...]  # where it has several


def describe(site: Site, manifest: Manifest, digest: str) -> SiteDescription:
    """`digest`: of the site's objects."""
    objects = site.objects
    return SiteDescription(
        name=site.name,
        title=manifest.title,
        source=manifest.source,
        entry=site.url(site.entry_scheme),
        kind=kind_of(manifest),
        synthetic=manifest.synthetic,
        date=manifest.date,
        user_agent=manifest.user_agent,
        viewport="{}x{}".format(*manifest.viewport) if manifest.viewport else None,
        licence=manifest.licence,
        digest=digest,
        objects=len(objects),
        bytes=site.total_bytes,
        composition=composition_of(objects),
        origins=_origins(site),
        methods=_counted(each.method for each in objects),
        statuses=_counted(str(each.status) for each in objects),
        encodings=_counted(each.encoding or PLAIN for each in objects),
        late=tuple(each.url for each in objects if each.late),
        unanswered=site.unanswered,
        left_out=manifest.left_out,
        fidelity=manifest.fidelity,
        fidelity_is_stale=manifest.fidelity is not None and manifest.fidelity.digest != digest,
        pages=tuple(_page(site, each) for each in site.pages),
    )


def _page(site: Site, page: SitePage) -> PageDescription:
    needed = [each.size for each in site.objects if each.url in page.needs]
    return PageDescription(page.name, f"{site.scheme_of(page.url)}://{page.url}", len(needed), sum(needed))


def _counted(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _origins(site: Site) -> tuple[Origin, ...]:
    """Return the entry's first, then in order of appearance."""
    places: dict[tuple[str, str], list[int]] = {(site.entry_scheme, site.entry_host): []}
    for each in site.objects:
        places.setdefault((each.scheme, each.host), []).append(each.size)
    return tuple(Origin(*origin, len(sizes), sum(sizes)) for origin, sizes in places.items() if sizes)
