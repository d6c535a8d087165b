"""The experiment that verifies a site: full speed, each protocol, nothing tolerated that fidelity does not count."""

from dataclasses import dataclass

import yaml

from lanelab.driver.arm.servers.registry import DEFAULT, SERVERS
from lanelab.driver.arm.servers.server import judged_by_capture
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.site.manifest import Manifest
from lanelab.driver.site.site import PAGE_MARK

PROTOCOLS = ("http/1.1", "h2", "h3", "spdy/3.1")
ANY = 1_000_000


@dataclass(frozen=True, slots=True)
class Wish:
    """The wish to verify a site: what is loaded, and how often."""

    protocols: tuple[str, ...]
    loads: int
    server: str = DEFAULT


def wished(protocols: str | None, loads: int, server: str) -> Wish:
    """Read the wish from the options of the command. Without protocols all that the server speaks."""
    known = [each for each in PROTOCOLS if each in SERVERS[server].protocols]
    if protocols is None:
        return Wish(tuple(known), loads, server)
    named = tuple(dict.fromkeys(each.strip() for each in protocols.split(",")))
    for each in named:
        if each not in known:
            what = f"{each!r} is no protocol that a site is verified over with server {server}"
            remedy = f"{near_miss(each, known)}Write some of {', '.join(known)}, with commas"
            raise InputError(what, remedy, key="--protocols")
    return Wish(named, loads, server)


def experiment_text(name: str, manifest: Manifest, wish: Wish) -> str:
    """Return the experiment file. Over HTTP/1.1 there is TLS where the page was recorded with it, so that as little of
    the page as possible has to be rewritten."""
    server = SERVERS[wish.server]
    tls = {"http/1.1": "1.3" if manifest.entry_scheme == "https" else "off"}
    arms = {each: {"protocol": each, "tls": tls.get(each, "1.3")} for each in wish.protocols}
    data = {
        "name": "verify",
        "description": f"Is the replay of {name} faithful?",
        "sites": [f"{name}{PAGE_MARK}{page.name}" for page in manifest.pages] or [name],
        "links": {},
        "defaults": {"server": wish.server, "start": "fresh-context"},
        "arms": arms,
        "trials": wish.loads,
        "tolerances": {"missing": ANY, "extra": ANY, "outside": ANY, "inexact": ANY},
        "screenshot": True,
        "capture": "client" if any(judged_by_capture(server, each) for each in wish.protocols) else "off",
        "machine": False,
    }
    return yaml.safe_dump(data, sort_keys=False)
