"""Arms and sites for the golden tests of servers. A file holds the settings of an arm (and `site`: one of SITES below),
a line of dashes, and the configuration that comes of them."""

import difflib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.servers.registry import SERVERS
from lanelab.driver.base.programs import needs
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES
from lanelab.driver.site.hints import hints
from lanelab.driver.site.site import Site, SiteObject

DASHES = "----\n"


def made(*objects: tuple[str, str, str]) -> Site:
    found = tuple(
        SiteObject(host, path, 1, mime, f"{number:02x}" * 32) for number, (host, path, mime) in enumerate(objects)
    )
    return Site("site", "A site", found[0].host, found[0].path, found, Path("/nowhere"))


PLAIN = (("www.site.test", "/", "text/html"), ("www.site.test", "/a.PNG", "image/png"))
SITES = {
    "plain": made(*PLAIN),
    "several": made(*PLAIN, ("img.site.test", "/b.jpg", "image/jpeg"), ("cdn.site.test", "/c.js", "text/javascript")),
    "pushed": made(
        *PLAIN,
        ("www.site.test", "/css/a.css?v=1", "text/css"),
        ("www.site.test", "/css/b.css", "text/css"),
        ("img.site.test", "/css/c.css", "text/css"),
    ),
    "odd": made(
        *PLAIN,
        ("www.site.test", "/b.png", "image/png"),
        ("www.site.test", "/lie.png", "text/html"),
        ("www.site.test", "/none", "application/json"),
        ("www.site.test", "/x.php?a=1&b=c/d", "text/css"),
        ("img.site.test", "/%C3%A4.gif", "image/gif"),
        ("img.site.test", "/ok.gif", "image/gif"),
    ),
}


def read(file: Path) -> tuple[str, Arm, Site, str]:
    head, _, text = file.read_text().partition(DASHES)
    settings = yaml.safe_load(head) or {}
    site = SITES[settings.pop("site", "plain")]
    for word in ("version", "log_requests"):
        settings.pop(word, None)
    at = tuple(settings.pop("at", ()))
    arm = Arm.parse("arm", {key: str(v) if key == "tls" else v for key, v in settings.items()})
    return head, replace(arm.back_end(), at=at), compressed(site, arm), text


def is_here(server: str) -> bool:
    """Whether this machine has the programs of that server."""
    wanted = SERVERS[server].needs(Arm.parse("arm", {"server": server}))
    return not needs.missing(needs.programs(*wanted))


def compressed(site: Site, arm: Arm) -> Site:
    """The site with the marks that preparing it for the arm gives to its objects."""
    coding = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}.get(arm.compression)
    return replace(
        site,
        objects=tuple(
            replace(each, compressed=coding if each.mime in COMPRESSED_TYPES else None) for each in site.objects
        ),
    )


def hints_of(arm: Arm, site: Site) -> tuple[str, ...]:
    return tuple(each.header for each in hints(site, arm.early_hints, "early_hints"))


def compare(file: Path, head: str, expected: str, found: str, *, update: bool) -> None:
    """Fail where they differ; `update`: write the file again instead."""
    if update:
        file.write_text(head + DASHES + found)
        return
    lines = expected.splitlines(), found.splitlines()
    difference = list(difflib.unified_diff(*lines, "expected", "found", lineterm="", n=1))
    if difference:
        pytest.fail("\n".join([f"{file.name} has changed (see tests/golden):", *difference]), pytrace=False)
