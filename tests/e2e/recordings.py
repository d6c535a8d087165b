"""What tests of recordings do inside a bed; each returns facts to be judged outside."""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from driver.bed.node import Command
from driver.browser.browser import Surroundings
from driver.recording.devices import device_named
from driver.recording.record import Recording, Wish, record
from driver.servers.certificates import Authority
from driver.shaping.addresses import ADDRESSES
from model.errors import LanelabError
from model.paths import PROJECT, build_folder
from tests.e2e.pages import await_port
from tests.kit.inside import InsideBed
from tests.kit.origins import page

LOG = "/run/origins.log"


def around(inside: InsideBed) -> Surroundings:
    """The servers are started; the browser trusts them."""
    authority = Authority.make(Path("/run/authority"))
    h2 = authority.leaf(page.H2_HOSTS, "ecdsa-p256")
    h1 = authority.leaf([name for name in page.HTTPS_HOSTS if name not in page.H2_HOSTS], "rsa-2048")
    pairs = [str(path) for leaf in (h2, h1) for path in (leaf.certificate, leaf.key)]
    argv = [sys.executable, "-P", "-m", "tests.kit.origins.server", ADDRESSES["server"], LOG, *pairs]
    inside.server.spawn(Command(argv, {"PYTHONPATH": str(PROJECT)}))
    await_port(inside.server, 443)
    hosts = dict.fromkeys(page.HOSTS, ADDRESSES["server"])
    return Surroundings(hosts=hosts, trusted=(h2.spki_sha256_b64, h1.spki_sha256_b64))


def sent() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(LOG).read_text().splitlines()]


def flat(recording: Recording) -> dict[str, Any]:
    data = asdict(recording)
    data["screenshot"] = len(recording.screenshot)
    for each in data["exchanges"]:
        each["body"] = base64.b64encode(each["body"]).decode()
        each["request_body"] = each["request_body"].decode("latin-1")
    return data


def thirty_origins(inside: InsideBed) -> dict[str, Any]:
    """The whole page, scrolled through."""
    surroundings = around(inside)
    wish = Wish(page.ENTRY, device_named("desktop"), scroll=True, wait_s=1.0, browser_flags=(page.SECURE,))
    recording = record(inside.client, wish, surroundings)
    return {"recording": flat(recording), "sent": sent()}


def what_cannot_be_kept(inside: InsideBed) -> dict[str, Any]:
    """A page with what a recording cannot have, and pages that are none."""
    surroundings = around(inside)
    found: dict[str, Any] = {}
    recording = record(inside.client, Wish(page.TROUBLE, device_named("lumia-900")), surroundings)
    found["trouble"] = flat(recording)
    for name, url in page.NO_PAGES.items():
        try:
            record(inside.client, Wish(url, device_named("desktop")), surroundings)
            found[name] = ""
        except LanelabError as error:
            found[name] = str(error)
    strict = Surroundings(hosts=surroundings.hosts)
    try:
        record(inside.client, Wish("https://js.thirty.test/", device_named("desktop")), strict)
    except LanelabError as error:
        found["certificate"] = str(error)
    found["left"] = [str(each) for each in (build_folder() / "recording").iterdir()]
    return found
