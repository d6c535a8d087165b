"""What is known of a site, how faithful its replay is, and what minify makes of it."""

from collections.abc import Iterable, Iterator

from lanelab.analysis.results.layout.model import Column, Part, Section, Words, table
from lanelab.driver.site.description import PageDescription, SiteDescription
from lanelab.driver.site.fidelity import ProtocolFidelity, percent, sentence_of
from lanelab.driver.site.minify.effects import Effect
from lanelab.driver.site.minify.report import MinifyReport, TypeChange

LISTED = 20  # addresses of each list; JSON has all
FACTS = (Column[tuple[str, str]]("", lambda fact: fact[0]), Column[tuple[str, str]]("", lambda fact: fact[1]))
Count = tuple[str, int, int]  # of what, objects, bytes
PROTOCOLS = (
    Column[ProtocolFidelity]("protocol", lambda each: each.protocol),
    Column[ProtocolFidelity]("score", lambda each: percent(each.score)),
    Column[ProtocolFidelity]("loads", lambda each: each.loads, number=True),
    Column[ProtocolFidelity]("exact", lambda each: f"{each.exact:,}", number=True),
    Column[ProtocolFidelity]("inexact", lambda each: f"{each.inexact:,}", number=True),
    Column[ProtocolFidelity]("missing", lambda each: f"{each.missing:,}", number=True),
    Column[ProtocolFidelity]("extra", lambda each: f"{each.extra:,}", number=True),
    Column[ProtocolFidelity]("bytes off", lambda each: f"{each.bytes_off:,}", number=True),
    Column[ProtocolFidelity]("same", lambda each: f"{each.always:,} of {each.ever:,}", number=True),
    Column[ProtocolFidelity](
        "picture", lambda each: None if each.pixels_differ is None else f"{each.pixels_differ:.2%} differ", number=True
    ),
)
EFFECTS = (
    Column[Effect]("filter", lambda each: each.filter),
    Column[Effect]("object", lambda each: each.url),
    Column[Effect]("what", lambda each: each.what),
    Column[Effect]("before", lambda each: f"{each.bytes_before:,}", number=True),
    Column[Effect]("after", lambda each: f"{each.bytes_after:,}", number=True),
)
PAGES = (
    Column[PageDescription]("page", lambda each: each.name),
    Column[PageDescription]("address", lambda each: each.url),
    Column[PageDescription]("needs", lambda each: f"{each.objects:,}", number=True),
    Column[PageDescription]("bytes", lambda each: f"{each.bytes:,}", number=True),
)
TYPES = (
    Column[TypeChange]("", lambda each: each.type),
    Column[TypeChange]("objects", lambda each: f"{each.before.objects:,}", number=True),
    Column[TypeChange]("after", lambda each: f"{each.after.objects:,}", number=True),
    Column[TypeChange]("bytes", lambda each: f"{each.before.bytes:,}", number=True),
    Column[TypeChange]("after ", lambda each: f"{each.after.bytes:,}", number=True),
    Column[TypeChange]("text gzipped", lambda each: f"{each.before.gzipped:,}", number=True),
    Column[TypeChange]("after  ", lambda each: f"{each.after.gzipped:,}", number=True),
    Column[TypeChange]("sent", lambda each: f"{each.after.sent:,}", number=True),
)


def site_section(site: SiteDescription) -> Section:
    """Lay out what a site consists of, and how faithful its replay is."""
    types = [(kind, part.objects, part.bytes) for kind, part in site.composition.items()]
    origins = [(f"{each.scheme}://{each.host}", each.objects, each.bytes) for each in site.origins]
    fidelity = (table(PROTOCOLS, site.fidelity.protocols),) if site.fidelity else ()
    parts: tuple[Part, ...] = (
        table(FACTS, _facts(site)),
        table(_counts("type"), types),
        table(_counts("origin"), origins),
        *((table(PAGES, site.pages),) if site.pages else ()),
        *_addresses("late: asked for after the load event, or not in each load", site.late),
        *_addresses("unanswered when it was recorded", site.unanswered),
        *_addresses("left out", site.left_out),
        *fidelity,
    )
    return Section("site", site.name, parts)


def _counts(of: str) -> tuple[Column[Count], ...]:
    return (
        Column[Count](of, lambda row: row[0]),
        Column[Count]("objects", lambda row: f"{row[1]:,}", number=True),
        Column[Count]("bytes", lambda row: f"{row[2]:,}", number=True),
    )


def _facts(site: SiteDescription) -> Iterator[tuple[str, str]]:
    yield "name", site.name
    yield "title", site.title
    yield "source", site.source
    yield "kind", f"{site.kind}, synthetic" if site.synthetic else site.kind
    yield "entry", site.entry
    recorded = {
        "date": site.date,
        "user agent": site.user_agent,
        "viewport": site.viewport,
        "licence": site.licence,
    }
    yield from ((name, value) for name, value in recorded.items() if value)
    yield "objects", f"{site.objects:,} with {site.bytes:,} bytes"
    for words, counts in (("methods", site.methods), ("statuses", site.statuses), ("encodings", site.encodings)):
        yield words, ", ".join(f"{name}: {count:,}" for name, count in counts.items())
    yield "digest", site.digest
    yield "fidelity", sentence_of(site.fidelity, site.digest)
    if site.fidelity:
        proof = site.fidelity
        yield "verified", f"{proof.at_utc} by lanelab {proof.lanelab}, {proof.browser}, {proof.server}"


def _addresses(words: str, addresses: tuple[str, ...]) -> Iterator[Words]:
    if not addresses:
        return
    yield Words(f"{words}:")
    yield from (Words(f"  {address}") for address in addresses[:LISTED])
    if len(addresses) > LISTED:
        yield Words(f"  and {len(addresses) - LISTED:,} more")


def fidelity_section(protocols: Iterable[ProtocolFidelity]) -> Section:
    """Lay out the evidence and the score of each protocol."""
    return Section("fidelity", "Fidelity", (table(PROTOCOLS, protocols),))


def minify_section(report: MinifyReport) -> Section:
    """Lay out each effect of each filter, and objects and bytes before and after."""
    words = f"{report.site}: {len(report.filters)} filters, generation {report.generation}"
    parts = (Words(words), table(EFFECTS, report.effects), table(TYPES, (*report.types, report.total)))
    return Section("minify", "Minify", parts)
