"""A site of what another tool recorded."""

from collections.abc import Callable
from pathlib import Path

from lanelab.driver.collect.importers.registry import import_from
from lanelab.driver.collect.new_site import Facts, NewSite, add_site, require_free

__all__ = ["NewSite", "import_site"]
MOST_SHOWN = 10  # words on what is doubtful that are said


def import_site(  # noqa: PLR0913 - each is an option
    path: Path,
    name: str,
    *,
    entry: str | None = None,
    host: str | None = None,
    title: str | None = None,
    licence: str | None = None,
    keep_secrets: bool = False,
    replace: bool = False,
    tell: Callable[[str], None],
) -> NewSite:
    """Make the site `name` of a WARC, ARC, WACZ or HAR file, a mirror of HTTrack's, a folder of Mahimahi's,
    or any folder of files. tell: hears what is doubtful in it. The others are the options of `lanelab site import`."""
    require_free(name, replace=replace)
    importer, imported = import_from(path, host or f"{name}.test")
    facts = Facts(
        title=title or imported.title or path.name or name,
        source=f"imported from {importer.title}, {path.name}",
        entry=entry,
        likely_entry=imported.entry,
        licence=licence,
        unanswered=imported.unanswered,
        left_out=imported.left_out,
        of_one_load=imported.of_one_load,
    )
    for words in imported.doubtful[:MOST_SHOWN]:
        tell(f"doubtful: {words}")
    if len(imported.doubtful) > MOST_SHOWN:
        tell(f"doubtful: {len(imported.doubtful) - MOST_SHOWN:,} more")
    return add_site(name, imported.exchanges, facts, replace=replace, keep_secrets=keep_secrets)
