"""Pages whose scripts tell what clock and chance they see, in every place that scripts run in."""

from pathlib import Path
from typing import Any

from lanelab.driver.arm.browsers.browser import Repeatable, Surroundings
from lanelab.driver.arm.servers.certificates import Authority
from lanelab.driver.bed.addresses import ADDRESSES
from tests.e2e import pages
from tests.e2e.loads import Settings, browsers
from tests.kit.inside import InsideBed

OTHER = "other.test"  # another site, whose frames have a process of their own
PLACES = ("page", "frame", "foreign", "worker", "nested", "blob", "shared", "service")
TELL = """
const tell = () => ({random: [Math.random(), Math.random()], bytes: [...crypto.getRandomValues(new Uint8Array(4))],
  words: [...crypto.getRandomValues(new Uint32Array(2))], uuid: crypto.randomUUID(),
  dates: [Date.now(), +new Date(), Date.parse(Date())], written: +new Date(2001, 1, 3),
  kinds: [new Date() instanceof Date, new (class extends Date {})() instanceof Date,
          new Date().constructor === Date, Date.UTC(2000, 0) === 946684800000, Date.length === 7]});
"""
PAGE = f"""<!doctype html><link rel="icon" href="data:,"><script src="tell.js"></script><script>
window.told = {{page: tell()}};
window.all = new Promise(done => {{
  const take = (place, values) => {{
    told[place] = values;
    if (Object.keys(told).length === {len(PLACES)}) done(told);
  }};
  onmessage = event => take(...event.data);
  for (const [name, source] of [["worker", "worker.js"], ["blob",
      URL.createObjectURL(new Blob(["importScripts('https://{pages.HOST}/tell.js'); postMessage(['blob', tell()])"]))]])
    new Worker(source).onmessage = onmessage;
  new SharedWorker("shared.js").port.onmessage = onmessage;
  navigator.serviceWorker.onmessage = onmessage;
  navigator.serviceWorker.register("service.js").then(() => navigator.serviceWorker.ready)
    .then(ready => ready.active.postMessage("tell"));
}});
</script><iframe src="frame.html"></iframe><iframe src="https://{OTHER}/foreign.html"></iframe>"""
FILES = {
    "tell.js": TELL,
    "index.html": PAGE,
    "frame.html": '<script src="tell.js"></script><script>parent.postMessage(["frame", tell()], "*")</script>',
    "foreign.html": '<script src="tell.js"></script><script>parent.postMessage(["foreign", tell()], "*")</script>',
    "worker.js": 'importScripts("tell.js"); postMessage(["worker", tell()]);'
    'new Worker("nested.js").onmessage = event => postMessage(event.data)',
    "shared.js": 'importScripts("tell.js"); const told = tell();'
    'onconnect = event => event.ports[0].postMessage(["shared", told])',
    "nested.js": 'importScripts("tell.js"); postMessage(["nested", tell()])',
    "service.js": 'importScripts("tell.js"); const told = tell();'
    'onmessage = event => event.source.postMessage(["service", told])',
}
WHEN_ALL = "const done = arguments[arguments.length - 1]; window.all.then(done)"


def loads(inside: InsideBed, now_ms: int, starts: list[str]) -> dict[str, list[dict[str, Any]]]:
    """What all places say: two loads of each start with a clock of ours, and two without."""
    folder = Path("/run/site")
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    leaf = Authority.make(Path("/run/authority")).leaf([pages.HOST, OTHER], "ecdsa-p256")
    pages.serve(inside, 443, str(leaf.certificate), str(leaf.key))
    hosts = dict.fromkeys((pages.HOST, OTHER), ADDRESSES["server"])
    found: dict[str, list[dict[str, Any]]] = {}
    with browsers(inside) as made:
        for start in starts:
            for name, repeatable in (("repeatable", Repeatable(42, now_ms)), ("as-is", None)):
                around = Surroundings(hosts=hosts, trusted=(leaf.spki_sha256_b64,), repeatable=repeatable)
                found[f"{name} {start}"] = [_load(made, around, start) for _ in range(2)]
    return found


def _load(made: Any, around: Surroundings, start: str) -> dict[str, Any]:
    url = f"https://{pages.HOST}/"
    page = made.open(Settings(start=start), around, url)
    page.load(url, 120)
    page._session.set_script_timeout(60)
    told = page._session.execute_async_script(WHEN_ALL)
    record = page.record()
    page.close()
    return {"told": told, "failures": [failure.to_json() for failure in record.failures]}
