"""Pages whose images are behind redirects from one host to another, where the two have one server or each its own: in
the real Chromium, by itself and through the gateway."""

import pytest

from lanelab.driver.base.programs.find_program import find
from lanelab.driver.collect.new_site import Facts, add_site
from lanelab.driver.site.exchange import Exchange
from tests.kit.exchanges import exchange
from tests.kit.handles import LanelabCommand
from tests.kit.machine import needs_namespaces

from .pages import png
from .runs import Played, play, share_programs

pytestmark = [needs_namespaces, pytest.mark.skipif(not find("nginx"), reason="nginx is not installed here")]

IMAGES = 6
OWN_SERVER = 'addresses: per-origin, origins: {"images.other.test": {server: nginx, protocol: http/1.1}}'
ARMS = {
    "native": "{}",
    "native h2 own server": f'{{protocol: h2, tls: "1.3", {OWN_SERVER}}}',
    "gateway": "{via: gateway}",
    "pipelined": "{via: gateway, pipelining: 4}",
    "h2": '{via: gateway, protocol: h2, tls: "1.3"}',
    "spdy": "{protocol: spdy/3.1, tls: 1.2}",
    "spdy own server": f'{{protocol: spdy/3.1, tls: "1.3", {OWN_SERVER}}}',
}


def page() -> list[Exchange]:
    """Each image is asked of the page's own host, which leads to the other one; from there one leads back."""
    images = "".join(f'<img src="/go/{number}.png" width="8" height="8">' for number in range(IMAGES))
    back = '<img src="http://images.other.test/back.png" width="8" height="8">'
    text = f'<!doctype html><link rel="icon" href="data:,">{images}{back}'
    picture = (("Content-Type", "image/png"),)
    return [
        exchange("http://www.page.test/", headers=(("Content-Type", "text/html"),), body=text.encode()),
        *(leads(f"http://www.page.test/go/{at}.png", f"http://images.other.test/{at}.png") for at in range(IMAGES)),
        leads("http://images.other.test/back.png", "http://www.page.test/own.png"),
        *(
            exchange(f"http://images.other.test/{number}.png", headers=picture, body=png(number, 8))
            for number in range(IMAGES)
        ),
        exchange("http://www.page.test/own.png", headers=picture, body=png(IMAGES, 8)),
    ]


def leads(url: str, to: str) -> Exchange:
    headers = (("Content-Type", "text/plain"), ("Location", to))
    return exchange(url, status=302, reason="Found", headers=headers, body=b"moved")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("redirects")
    add_site("led", page(), Facts("led", "a test", entry="http://www.page.test/"), folder / "sites")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    arms = "".join(f"  {name}: {settings}\n" for name, settings in ARMS.items())
    text = (
        "sites: [led]\nlinks: {rate: 20mbit, rtt: 20ms}\ndefaults: {start: fresh-context}\ntrials: 1\nseed: 6\n"
        f"capture: [client, server]\narms:\n{arms}"
    )
    return play(lanelab, folder, text, env={"LANELAB_SITES": str(folder / "sites")})


@pytest.mark.parametrize("arm", ARMS)
def test_each_counts(played: Played, arm: str) -> None:
    assert "ok" in played.statuses(arm), (played.reasons(arm), played.done.stderr)


@pytest.mark.parametrize("arm", ARMS)
def test_every_redirect_leads_to_its_object(played: Played, arm: str) -> None:
    answers = {each["url"].partition("://")[2]: each["status"] for each in played.requests(arm, of_all=False)}
    led = {f"www.page.test/go/{number}.png" for number in range(IMAGES)} | {"images.other.test/back.png"}
    assert {url for url, status in answers.items() if status == 302} == led
    objects = {f"images.other.test/{number}.png" for number in range(IMAGES)} | {"www.page.test/own.png"}
    assert {url for url, status in answers.items() if status == 200} == objects | {"www.page.test/"}
