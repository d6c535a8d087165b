"""Pages that do what pages of the web do every day, and that no clean test page does: their trials count."""

import base64

import pytest

from lanelab.driver.collect.new_site import Facts, add_site
from lanelab.driver.site.exchange import Exchange
from tests.kit.exchanges import exchange
from tests.kit.handles import LanelabCommand

from .pages import png
from .runs import Played, play, share_programs

TRIALS = 1
ARMS = ("clear", "tls", "h2", "gateway")
EXPERIMENT = f"""\
sites: [{{sites}}]
links: {{{{rtt: 20ms, rate: 10mbit}}}}
defaults: {{{{start: fresh-context}}}}
arms:
  clear: {{{{}}}}
  tls: {{{{tls: 1.3}}}}
  h2: {{{{protocol: h2, tls: 1.3}}}}
  gateway: {{{{protocol: spdy/3.1, tls: 1.2}}}}
trials: {TRIALS}
retries: 0
capture: client
"""
ICON = '<link rel="icon" href="data:,">'
IMAGES = "".join(f'<img src="/{number}.png" width="8" height="8">' for number in range(6))
SOCKETS = f"""<!doctype html>{ICON}<script>
new WebSocket('ws://page.test/first');
new WebSocket('wss://live.page.test/second');
new WebSocket((location.protocol === 'http:' ? 'ws' : 'wss') + '://page.test/third');
</script>{IMAGES}"""
# What analytics do: nobody reads the answer.
UNREAD = f"<!doctype html>{ICON}<script>for (let i = 0; i < 8; i++) fetch(`/seen?${{i}}`)</script>{IMAGES}"
# The style sheet is asked for again while its first answer is under way.
TWICE = f"""<!doctype html>{ICON}<link rel="stylesheet" href="/style.css">
<img src="/style.css"><img src="/style.css?2"><link rel="stylesheet" href="/style.css?2">{IMAGES}"""
ODD_HOSTS = f"""<!doctype html>{ICON}<meta charset="utf-8">
<img src="http://a_b.test/x.png"><img src="https://_c.d_.page.test/x.png"><img src="http://b\u00fccher.test/x.png">{IMAGES}"""
PICTURE = png(1, 8)


def _picture(url: str) -> Exchange:
    return exchange(url, headers=(("Content-Type", "image/png"),), body=PICTURE)


def _page(text: str) -> list[Exchange]:
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return [
        exchange("http://page.test/", headers=headers, body=text.encode()),
        *(_picture(f"http://page.test/{number}.png") for number in range(6)),
    ]


def _style(url: str) -> Exchange:
    headers = (("Content-Type", "text/css"), ("Cache-Control", "max-age=600"))
    return exchange(url, headers=headers, body=b"/*" + base64.b64encode(png(2, 100)) + b"*/ a { color: red }")


SITES = {
    "sockets": _page(SOCKETS),
    "unread": [
        *_page(UNREAD),
        *(exchange(f"http://page.test/seen?{number}", status=204, headers=(), body=b"") for number in range(8)),
    ],
    "twice": [*_page(TWICE), _style("http://page.test/style.css"), _style("http://page.test/style.css?2")],
    "odd-hosts": [
        *_page(ODD_HOSTS),
        _picture("http://a_b.test/x.png"),
        _picture("https://_c.d_.page.test/x.png"),
        _picture("http://b\u00fccher.test/x.png"),
    ],
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("ordinary")
    for name, exchanges in SITES.items():
        add_site(name, exchanges, Facts(name, "a test"), folder / "sites")
    lanelab = LanelabCommand(folder / "build")
    share_programs(lanelab)
    text = EXPERIMENT.format(sites=", ".join(SITES))
    return play(lanelab, folder, text, env={"LANELAB_SITES": str(folder / "sites")})


@pytest.mark.parametrize("site", SITES)
def test_each_of_its_trials_counts(played: Played, site: str) -> None:
    rows = played.rows(
        "SELECT arms_of_trials.name, site, status, reason, detail FROM arms_of_trials LEFT JOIN failures USING (trial)"
    )
    own = [row for row in rows if row[1] == site]
    assert {row[0] for row in own} == set(ARMS), played.done.stderr
    assert [row for row in own if row[2] != "ok" and "the machine was starved" not in row[4]] == []
    assert len(own) == TRIALS * len(ARMS)


@pytest.mark.parametrize("arm", ["clear", "tls", "h2"])
def test_the_browser_tells_of_websockets(played: Played, arm: str) -> None:
    """By the arm's scheme. The server has no answer to the handshakes that reach it."""
    opened = [tuple(each["browser"]["sockets"]) for each in played.evidence(arm) if each["browser"]["sockets"]]
    scheme = "ws" if arm == "clear" else "wss"
    hosts = {"page.test/first": 404, "live.page.test/second": None, "page.test/third": 404}
    assert len(opened) == TRIALS
    for sockets in opened:
        assert [each["url"] for each in sockets] == [f"{scheme}://{url}" for url in hosts]
        assert all(each["status"] in (None, hosts[each["url"].partition("://")[2]]) for each in sockets)
