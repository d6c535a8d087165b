"""What tests of the browser do inside a bed; each returns facts to be judged outside."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from lanelab.driver.arm.browsers.browser import PageRecord, Surroundings
from lanelab.driver.arm.browsers.browser_pool import KeptBrowsers
from lanelab.driver.arm.browsers.chromium.browsers import ChromiumBrowser
from lanelab.driver.arm.browsers.devices import device_named
from lanelab.driver.arm.browsers.fields import BrowserSettings, without_arm
from lanelab.driver.arm.browsers.registry import BROWSERS
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.arm.servers.resolver import Resolver, use_resolver
from lanelab.driver.bed.addresses import ADDRESSES
from lanelab.driver.trial.recorders.tcpdump import Capture
from tests.e2e import pages
from tests.kit.inside import InsideBed
from tests.kit.wait import left_after

IDLE_S = 4  # what a browser does by itself it does in its first seconds, or never
AROUND = Surroundings(hosts={pages.HOST: ADDRESSES["server"]})


def Settings(**own: object) -> BrowserSettings:  # noqa: N802 - as if it were one of them
    return without_arm(**{"viewport": (1000, 700), "scripts": "as-is", **own})


FRESH_CONTEXT = Settings(start="fresh-context")


@contextmanager
def browsers(inside: InsideBed) -> Iterator[ChromiumBrowser]:
    made = ChromiumBrowser(inside.node("client"), "/run/browsers")
    try:
        yield made
    finally:
        made.close()


def left_behind() -> list[str]:
    """Processes of a browser, and folders of profiles, that are still there."""
    return left_after(lambda: [*running_browsers(), *profiles()])  # what was killed may need a moment


def running_browsers() -> list[str]:
    argvs = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it ended meanwhile
            argvs.append(path.read_bytes().split(b"\0")[0].decode())
    return [argv for argv in argvs if "chrom" in argv or "Xvfb" in argv]


def profiles() -> list[str]:
    return [path.name for path in Path("/run/browsers").iterdir() if path.name != "home"]


def flat(record: PageRecord) -> dict[str, Any]:
    """As JSON, with the browser's times and console beside the requests."""
    data = record.to_json()
    browser = data.pop("browser")
    return {**data, **browser, **browser["times"], "browser": browser["facts"]}


def every_start(inside: InsideBed) -> dict[str, Any]:
    """Two loads of each kind, with the capture and the server's words of each."""
    log = pages.serve(inside)
    found: dict[str, Any] = {}
    with browsers(inside) as made:
        for start in ("fresh-process", "fresh-context", "warm"):
            loads = []
            for number in range(2):
                page = made.open(Settings(start=start), AROUND, pages.URL)
                said_before = len(log.read_text().splitlines())
                file = f"/run/{start}-{number}.pcap"
                capture = Capture(inside.node("client"), file).start()
                page.load(pages.URL, 120)
                record = flat(page.record())
                page.screenshot(inside.folder / f"{start}.png")
                counts = capture.stop()
                said = log.read_text().splitlines()[said_before:]
                page.close()
                packets = inside.node("client").run(["tcpdump", "-nr", file, "tcp[13] == 2"], check=False).stdout
                loads.append({"record": record, "counts": counts, "said": said, "syns": len(packets.splitlines())})
                loads[-1]["packets"] = len(inside.node("client").run(["tcpdump", "-nr", file]).stdout.splitlines())
            found[start] = loads
    found["left"] = left_behind()
    return found


def views(inside: InsideBed) -> dict[str, Any]:
    """How wide a page that is wider and longer than the screen says that its view is; device -> view."""
    pages.serve(inside)
    found = {}
    with browsers(inside) as made:
        for name in ("lumia-900", "desktop"):
            device = device_named(name)
            seen = Settings(viewport=device.viewport, pixel_ratio=device.pixel_ratio, touch=device.touch)
            page = made.open(seen, AROUND)
            page.load(pages.URL + pages.WIDE, 120)
            found[name] = {"asked": device.viewport[0], **flat(page.record())["view"]}
            page.close()
    return found


def after_a_restless_page(inside: InsideBed, browser: str) -> dict[str, Any]:
    """What is recorded of a page that was opened while the one before was still there, which never rests."""
    pages.serve(inside)
    made = BROWSERS[browser].start(inside.node("client"), Path("/run/browsers"))
    try:
        first = made.open(FRESH_CONTEXT, AROUND)
        first.load(pages.URL + pages.RESTLESS, 120)
        time.sleep(0.3)  # it complains every 20 ms
        before = flat(first.record())
        first.release()
        made.expect(FRESH_CONTEXT, AROUND)
        assert isinstance(made, KeptBrowsers)
        assert made._expected
        assert made._expected.page.result(), "it is open before the other one ends"
        time.sleep(0.5)
        first.close()
        second = made.open(FRESH_CONTEXT, AROUND)
        second.load(pages.URL + pages.WIDE, 120)
        return {"before": before, "after": flat(second.record())}
    finally:
        made.close()


def cookies(inside: InsideBed) -> list[str]:
    """What the server is sent, when one trial was given a cookie and the next comes."""
    log = pages.serve(inside)
    with browsers(inside) as made:
        for start in ("fresh-process", "fresh-context"):
            for path in ("cookie", "index.html"):
                page = made.open(Settings(start=start), AROUND)
                page.load(pages.URL + path, 120)
                page.close()
    return log.read_text().splitlines()


def failures(inside: InsideBed, start: str) -> dict[str, Any]:
    """Each way to fail, and a load after it that must work."""
    pages.serve(inside)
    found: dict[str, Any] = {}

    with browsers(inside) as made:

        def attempt(name: str, url: str, timeout_s: float, harm: Callable[[Any], None] | None = None) -> None:
            page = made.open(Settings(start=start), AROUND)
            if harm:
                threading.Timer(1.0, harm, (page._chromium,)).start()
            started = time.monotonic()
            page.load(url, timeout_s)
            record = flat(page.record())
            took = time.monotonic() - started
            page.close()
            after = made.open(Settings(start=start), AROUND)
            after.load(pages.URL, 120)
            good = flat(after.record())
            after.close()
            found[name] = {"record": record, "after": good["failures"], "took_s": took}

        def kill_renderers(chromium: Any) -> None:
            ids = [str(one["id"]) for one in chromium.processes() if one["type"] == "renderer"]
            inside.node("client").run(["kill", "-9", *ids], check=False)

        attempt("refused", "http://site.example:81/", 60)
        attempt("unknown", "http://elsewhere.example/", 60)
        attempt("timeout", pages.URL + "slow", 2)
        attempt("killed", pages.URL + "slow", 50, lambda chromium: chromium._process.signal(9))
        attempt("renderer", pages.URL + "slow", 50, kill_renderers)
        attempt("stopped", pages.URL + "slow", 3, lambda chromium: chromium._process.signal(19))
    return found


def idle(inside: InsideBed, display: str) -> dict[str, Any]:
    """All that leaves the client while a browser that may ask a resolver idles, loads a page and idles again."""
    pages.serve(inside)
    client = inside.node("client")
    resolver = Resolver.start(inside.node("server"), AROUND.hosts, Path("/run/resolver"))
    use_resolver(client)
    around = Surroundings(hosts=AROUND.hosts, dns="resolver")
    with browsers(inside) as made:
        file = "/run/idle.pcap"
        capture = Capture(client, file).start()
        page = made.open(Settings(display=display), around)
        time.sleep(IDLE_S)
        page.load(pages.URL, 120)
        found = flat(page.record())
        time.sleep(IDLE_S)
        page.close()
        counts = capture.stop()
    words = client.run(["tcpdump", "-nr", file]).stdout.splitlines()
    return {
        "packets": words,
        "counts": counts,
        "queries": [query.to_json() for query in resolver.queries()],
        "failures": found["failures"],
    }


def settings(inside: InsideBed) -> dict[str, Any]:
    """An arm's settings as the page sees them."""
    pages.serve(inside)
    arm = Settings(
        user_agent="lanelab test", viewport=(640, 480), browser_flags=("--blink-settings=imagesEnabled=false",)
    )
    with browsers(inside) as made:
        found: dict[str, Any] = {}
        for display in ("headless", "headful"):
            around = Surroundings(hosts=AROUND.hosts, netlog=True)
            page = made.open(Settings(display=display, user_agent=arm.user_agent, viewport=arm.viewport), around)
            page.load(pages.URL, 120)
            record = flat(page.record())
            size = page._session.execute_script("return [innerWidth, innerHeight, navigator.language]")
            netlog = inside.folder / "netlog.json"
            page.netlog(netlog)
            page.close()
            found[display] = {"record": record, "size": size, "netlog": len(netlog.read_bytes())}
        page = made.open(arm, AROUND)
        page.load(pages.URL, 120)
        found["no images"] = flat(page.record())
        page.close()
    found["left"] = left_behind()
    return found


def tls(inside: InsideBed) -> dict[str, Any]:
    """Loads over TLS: with the run's key trusted, and with another."""
    leaf = Authority.make(Path("/run/authority")).leaf([pages.HOST], "ecdsa-p256")
    pages.serve(inside, 443, str(leaf.certificate), str(leaf.key))
    url, found = f"https://{pages.HOST}/", {}
    with browsers(inside) as made:
        for name, trusted in (
            ("first", leaf.spki_sha256_b64),
            ("second", leaf.spki_sha256_b64),
            ("foreign", "A" * 43 + "="),
        ):
            around = Surroundings(hosts=AROUND.hosts, trusted=(trusted,), keys=True)
            page = made.open(Settings(start="fresh-context"), around)
            page.load(url, 120)
            record = flat(page.record())
            keys = Path(f"/run/{name}.keys")
            found[name] = {"record": record, "keys": page.keys(keys) and keys.read_text().splitlines()}
            page.close()
    return found


def capture_everything(inside: InsideBed, packets: int) -> list[dict[str, Any]]:
    """Bursts that a capture must not lose, stopped at once."""
    found = []
    client = inside.node("client")
    for number in range(3):
        file = f"/run/burst-{number}.pcap"
        capture = Capture(client, file, 64).start()
        client.run(["ping", "-q", "-i", "0.002", "-c", str(packets), "-s", "1000", ADDRESSES["server"]])
        counts = capture.stop()
        size = len(client.run(["tcpdump", "-nr", file]).stdout.splitlines())
        found.append({"counts": counts, "in_file": size})
    return found
