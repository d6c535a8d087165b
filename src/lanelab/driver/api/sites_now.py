"""Whether the sites of a run are still what it loaded. This reads its experiment and makes its sites, which takes more
than reading a run."""

import json
from collections.abc import Iterator
from pathlib import Path

from lanelab.analysis.results.run_folder import read_meta
from lanelab.analysis.results.verification import SITES_UNKNOWN
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.run.start import digests_now
from lanelab.driver.site.own_sites import own_sites_told


def sites_now(folder: Path) -> Iterator[str]:
    """Say whether each site of the archive is what the run loaded. It is no fault of the run where one is not."""
    meta = read_meta(folder)
    then = json.loads(meta.get("sites") or "{}")
    try:
        now = digests_now(folder, meta)
    except (LanelabError, KeyError) as error:
        yield f"{SITES_UNKNOWN}: {error}"
        return
    same = sorted(name for name in then if now.get(name) == then[name])
    other = sorted(name for name in then if now.get(name) != then[name])
    if same:
        yield f"sites that are still what the run loaded: {', '.join(same)}"
    if other:
        yield f"sites that were changed since the run loaded them: {', '.join(other)}"
    yield from own_sites_told({name.partition(" ")[0]: None for name in then})
