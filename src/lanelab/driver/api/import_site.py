"""A site of what another tool recorded."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lanelab.driver.collect.importers.importer import Imported
from lanelab.driver.collect.importers.registry import import_from
from lanelab.driver.collect.new_site import Facts, NewSite, PageOf, add_site, read_pages, require_free, with_home

__all__ = ["NewSite", "import_site"]
MOST_SHOWN = 10  # words on what is doubtful that are said


def import_site(  # noqa: PLR0913 - each is an option
    path: Path,
    name: str,
    *,
    entry: str | None = None,
    pages: Sequence[str] = (),
    host: str | None = None,
    title: str | None = None,
    licence: str | None = None,
    keep_secrets: bool = False,
    replace: bool = False,
    tell: Callable[[str], None],
) -> NewSite:
    """Make the site `name` of a WARC, ARC, WACZ or HAR file, a mirror of HTTrack's, a folder of Mahimahi's, a
    dependency graph of Epload's with its objects, or any folder of files. pages: NAME=URL of each, where it is to have
    several. tell: hears what is doubtful in it. The others are the options of `lanelab site import`."""
    require_free(name, replace=replace)
    wanted = read_pages(pages)
    importer, imported = import_from(path, host or f"{name}.test")
    entry = entry or (next(iter(wanted.values())) if wanted else None)
    named = with_home(entry, wanted) if entry else {}
    facts = Facts(
        title=title or imported.title or path.name or name,
        source=f"imported from {importer.title}, {path.name}",
        entry=entry,
        likely_entry=imported.entry,
        licence=licence,
        unanswered=imported.unanswered,
        left_out=imported.left_out,
        pages=tuple(PageOf(page, url, _targets_of(imported, url)) for page, url in named.items()),
        of_one_load=imported.of_one_load,
    )
    for words in imported.doubtful[:MOST_SHOWN]:
        tell(f"doubtful: {words}")
    if len(imported.doubtful) > MOST_SHOWN:
        tell(f"doubtful: {len(imported.doubtful) - MOST_SHOWN:,} more")
    return add_site(name, imported.exchanges, facts, replace=replace, keep_secrets=keep_secrets)


def _targets_of(imported: Imported, url: str) -> frozenset[str]:
    """Return what the recording's own load of that page asked for, where it tells of one."""
    _, mark, _ = url.partition("://")
    return next(
        (targets for page, targets in imported.loads.items() if url == (page if mark else page.partition("://")[2])),
        frozenset(),
    )
