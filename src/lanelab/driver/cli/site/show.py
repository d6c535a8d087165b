"""lanelab site show: what is known of one site."""

from collections.abc import Iterable, Iterator

import click

from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, print_json, table
from lanelab.driver.site.description import SiteDescription, describe
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.fidelity import ProtocolFidelity, percent, told
from lanelab.driver.site.load import load_site, read_site_manifest

LISTED = 20  # urls that are printed of each list; --json has all


@click.command("show")
@click.argument("name")
@json_option
def show_site(name: str, *, as_json: bool) -> None:
    """Tell what the site NAME consists of: types, origins, statuses, encodings, and how faithful its replay is.

    Makes the site's files where they were not made yet.
    """
    site = load_site(name)
    described = describe(site, read_site_manifest(name), digest_of(site.objects))
    if as_json:
        print_json(described.to_json())
        return
    out = console()
    out.print(table(("", ""), _facts(described)))
    parts = ((kind, f"{part.objects:,}", f"{part.bytes:,}") for kind, part in described.composition.items())
    out.print(table(("type", "objects", "bytes"), parts, right=("objects", "bytes")))
    origins = ((f"{each.scheme}://{each.host}", f"{each.objects:,}", f"{each.bytes:,}") for each in described.origins)
    out.print(table(("origin", "objects", "bytes"), origins, right=("objects", "bytes")))
    for words, urls in (
        ("late: asked for after the load event, or not in each load", described.late),
        ("unanswered when it was recorded", described.unanswered),
        ("left out", described.left_out),
    ):
        if urls:
            out.print(f"{words}:", *_few(urls), sep="\n  ")
    if described.fidelity:
        out.print(protocols_table(described.fidelity.protocols))


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
    yield "fidelity", told(site.fidelity, site.digest)
    if site.fidelity:
        fidelity = site.fidelity
        yield "verified", f"{fidelity.at_utc} by lanelab {fidelity.lanelab}, {fidelity.browser}, {fidelity.server}"


def _few(words: tuple[str, ...]) -> Iterable[str]:
    more = [f"and {len(words) - LISTED:,} more"] if len(words) > LISTED else []
    return [*words[:LISTED], *more]


def protocols_table(protocols: Iterable[ProtocolFidelity]) -> object:
    """Return the evidence and the score of each protocol."""
    columns = ("protocol", "score", "loads", "exact", "inexact", "missing", "extra", "bytes off", "same", "picture")
    return table(columns, map(_protocol, protocols), right=columns[2:])


def _protocol(each: ProtocolFidelity) -> tuple[str, ...]:
    picture = "-" if each.pixels_differ is None else f"{each.pixels_differ:.2%} differ"
    counts = (each.exact, each.inexact, each.missing, each.extra, each.bytes_off)
    same = f"{each.always:,} of {each.ever:,}"
    return each.protocol, percent(each.score), str(each.loads), *(f"{count:,}" for count in counts), same, picture
