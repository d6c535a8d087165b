"""The hosts that a site's content names and the site has nothing of: advertisements, trackers, pages of others."""

import re

from lanelab.driver.base.errors import InputError
from lanelab.driver.site import bodies
from lanelab.driver.site.coding import decoded
from lanelab.driver.site.prepare.texts import TEXT_TYPES
from lanelab.driver.site.site import Site

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# An address with or without its scheme; slashes may be escaped as in JSON.
_ADDRESS = re.compile(rf"(?i)(?:\\?/){{2}}((?:{_LABEL}\.)+[a-z]{{2,24}})(?=[/:?#\"'\s)\\<]|$)")
MOST = 150  # the server's certificate and the browser's rules hold all of them


def named_hosts(site: Site) -> tuple[str, ...]:
    """In order of their names; those of the site are not among them."""
    named: set[str] = set()
    for each in site.objects:
        if not TEXT_TYPES.fullmatch(each.mime):
            continue
        try:
            body = decoded(bodies.read(site.content, each)).body
        except InputError:  # a damaged body names nothing that a browser could ask for
            continue
        named |= {match[1].lower() for match in _ADDRESS.finditer(body.decode("latin-1"))}
    others = sorted(named - set(site.hosts))
    if len(others) > MOST:
        what = f"the site {site.name} names {len(others)} other hosts; the server can answer for {MOST} at most"
        raise InputError(what, "Write missing: fail, with tolerances for what is missing", key="missing")
    return tuple(others)
