"""Epload's dependency graphs (Wang et al. 2014): a JSON file with objects, what is computed of each and for how long,
and what waits for what. Such a graph becomes a page whose script does the same in a browser: it asks for an object when
all that it depends on has happened, and waits as long as something was computed.

    objs   id, host, path, download {id}, comps [{id, time}], when_comp_start (1: at the first bytes, -1: at the last)
    deps   a2 may begin when a1 has ended (time: -1), or so many ms after a1 began

A graph has no sizes: the objects themselves have to be there, below the graph's folder.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lanelab.driver.base.clock import utc_now
from lanelab.driver.base.errors import InputError
from lanelab.driver.collect.importers.importer import Imported, Importer, Source, read_file
from lanelab.driver.site.archive.addresses import NotServedError, require_host
from lanelab.driver.site.archive.media_types import by_extension, sniffed
from lanelab.driver.site.archive.read_warc import shown
from lanelab.driver.site.exchange import Exchange

KEYS = {"objs", "deps", "start_activity"}
FIRST_BYTES, WHOLE, ENDED = 1, -1, -1
LONGEST_MS = 600_000
_HEAD = '<!DOCTYPE html>\n<meta charset="utf-8">\n<link rel="icon" href="data:,">\n<script>\n'
_TAIL = "\n</script>\n"
# An activity: [address or null, ms, whether its first bytes are enough, [[number of another, ms or -1], …]].
# What is due is due at an instant, and what follows counts from that instant: a browser's timers are up to 4 ms late
# where one sets the next, and that would add up. First bytes are those of a body: over HTTP/2 the heads of many answers
# come before them.
_SCRIPT = """\
(function (acts) {
  var frame = document.createElement("iframe"), open, left = acts.length, waits = [], since = [], followers = [];
  frame.hidden = true;
  document.documentElement.appendChild(frame);
  open = frame.contentDocument;
  open.open();
  acts.forEach(function () { followers.push([]); since.push(0); });
  acts.forEach(function (act, number) {
    waits.push(act[3].length);
    act[3].forEach(function (dep) { followers[dep[0]].push([number, dep[1]]); });
  });
  function now() { return performance.now(); }
  function at(due, then) {
    var ms = Math.round(due - now());
    if (ms > 0) { setTimeout(then, ms, due); } else { then(due); }
  }
  function free(number, when) {
    since[number] = Math.max(since[number], when);
    waits[number] -= 1;
    if (!waits[number]) { begin(number, since[number]); }
  }
  function freeAll(number, ended, when) {
    followers[number].forEach(function (follower) {
      if (ended && follower[1] < 0) { free(follower[0], when); }
      if (!ended && follower[1] >= 0) { at(when + follower[1], function (due) { free(follower[0], due); }); }
    });
  }
  function end() { left -= 1; if (!left) { open.close(); } }
  function read(reader, tell) {
    return reader.read().then(function (part) { tell(now()); return part.done || read(reader, tell); });
  }
  function begin(number, when) {
    var act = acts[number], told = false;
    function tell(moment) { if (!told) { told = true; freeAll(number, true, moment); } }
    if (act[0] === null) {
      at(when + act[1], function (due) { tell(due); end(); });
    } else if (act[0] === "") {
      if (act[2]) { tell(when); }
      addEventListener("DOMContentLoaded", function () { tell(now()); end(); });
    } else {
      fetch(act[0]).then(function (answer) {
        return act[2] ? read(answer.body.getReader(), tell) : answer.arrayBuffer();
      }).catch(function () {}).then(function () { tell(now()); end(); });
    }
    freeAll(number, false, when);
  }
  begin(0, now());
}(%s));"""


@dataclass(frozen=True, slots=True)
class _Graph:
    file: Path
    objects: Sequence[Mapping[str, Any]]
    deps: Sequence[Mapping[str, Any]]
    start: str

    def wrong(self, what: str) -> InputError:
        return InputError(f"{self.file}: {what}", "See docs/reference/import.md#dependency-graphs")


def matches(path: Path) -> bool:
    return path.is_dir() and len(_graphs(path)) == 1


def _graphs(folder: Path) -> list[Path]:
    """Return the graphs of a folder. Other JSON files may be objects."""
    files = [each for each in sorted(folder.glob("*.json"))[:50] if each.is_file() and not each.is_symlink()]
    return [each for each in files if _json_of(each).keys() >= KEYS]


def _json_of(file: Path) -> Mapping[str, Any]:
    try:
        read = json.loads(read_file(file))
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def read(source: Source) -> Imported:
    (file,) = _graphs(source.path)
    data = _json_of(file)
    graph = _Graph(file, data["objs"], data["deps"], data["start_activity"])
    try:
        return _imported(graph, str(data.get("name") or file.stem), source)
    except (KeyError, TypeError, AttributeError) as error:
        raise graph.wrong(f"it is no dependency graph of Epload: {error!r}") from error


def _imported(graph: _Graph, title: str, source: Source) -> Imported:
    page = next((each for each in graph.objects if each["download"]["id"] == graph.start), None)
    if page is None:
        raise graph.wrong(f"start_activity {graph.start!r} is the download of no object")
    acts = _activities(graph, page)
    when, exchanges, total = utc_now(), list[Exchange](), 0
    for each in (page, *(each for each in graph.objects if each is not page)):
        body = _body(graph, each, source)
        total += len(body)
        source.limits.require_record(len(body), _address(graph, each))
        source.limits.require_total(total, str(source.path))
        exchanges.append(_exchange(graph, each, body, when))
    text = _HEAD + _SCRIPT % json.dumps(acts, separators=(",", ":")).replace("</", "<\\/") + _TAIL
    html, length = text.encode(), len(exchanges[0].body)
    padded = html + b"<!--" + b" " * (length - len(html) - len("<!---->")) + b"-->" if length > len(html) + 7 else html
    url = exchanges[0].url
    exchanges[0] = Exchange(
        "GET", url, (), b"", 200, "OK", (("Content-Type", "text/html; charset=utf-8"),), padded, "http/1.1", when
    )
    doubtful = _one_after_the_other(exchanges)
    if len(padded) != length:
        doubtful.append(f"the page has {len(padded):,} bytes instead of {length:,}, which its script takes")
    return Imported(tuple(exchanges), entry=url, title=title, doubtful=tuple(doubtful), of_one_load=True)


def _one_after_the_other(exchanges: Sequence[Exchange]) -> list[str]:
    """Return words on objects with one address. Epload asks for both at once, and a browser for the second when it has
    the first."""
    counts = Counter(each.url for each in exchanges)
    return [
        f"{shown(url)} is {count} objects of the graph, which a browser fetches one after the other"
        for url, count in counts.items()
        if count > 1
    ]


def _activities(graph: _Graph, page: Mapping[str, Any]) -> list[list[object]]:
    """Return what happens, the page's download first, each with what it waits for."""
    objects = [page, *(each for each in graph.objects if each is not page)]
    acts: dict[str, list[Any]] = {}
    for each in objects:
        if each["when_comp_start"] not in (FIRST_BYTES, WHOLE):
            raise graph.wrong(f"when_comp_start is {each['when_comp_start']!r}, and neither {FIRST_BYTES} nor {WHOLE}")
        at_once = each["when_comp_start"] == FIRST_BYTES
        acts[each["download"]["id"]] = ["" if each is page else "//" + _address(graph, each), 0, at_once, []]
        before = each["download"]["id"]
        for comp in each["comps"]:
            acts[comp["id"]] = [None, _ms(graph, comp["time"]), False, [[before, ENDED]]]
            before = comp["id"]
    if len(acts) != len(objects) + sum(len(each["comps"]) for each in objects):
        raise graph.wrong("two activities have one id")
    for dep in graph.deps:
        for end in ("a1", "a2"):
            if dep[end] not in acts:
                raise graph.wrong(f"deps: there is no activity {dep[end]!r}")
        time = ENDED if dep["time"] == ENDED else _ms(graph, dep["time"])
        acts[dep["a2"]][3].append([dep["a1"], time])
    numbers = {name: number for number, name in enumerate(acts)}
    for act in acts.values():
        act[3] = [[numbers[name], time] for name, time in act[3]]
    _require_all_begin(graph, acts)
    return list(acts.values())


def _ms(graph: _Graph, time: object) -> float:
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time <= LONGEST_MS:
        raise graph.wrong(f"{time!r} is no time in milliseconds from 0 to {LONGEST_MS}")
    return time


def _require_all_begin(graph: _Graph, acts: Mapping[str, list[Any]]) -> None:
    """Raises InputError where an activity waits for itself, or for nothing that ever happens."""
    names, begun = list(acts), {0}
    if acts[names[0]][3]:
        raise graph.wrong(f"{shown(str(names[0]))} begins the page, and waits for something")
    while more := set(_able(acts, begun)) - begun:
        begun |= more
    stuck = [name for number, name in enumerate(names) if number not in begun]
    if stuck:
        raise graph.wrong(
            f"{shown(', '.join(map(str, stuck[:5])))} would never begin: each waits for another, or for nothing"
        )


def _able(acts: Mapping[str, list[Any]], begun: set[int]) -> Iterator[int]:
    for number, act in enumerate(acts.values()):
        if act[3] and all(other in begun for other, _ in act[3]):
            yield number


def _address(graph: _Graph, each: Mapping[str, Any]) -> str:
    host, path = str(each["host"]).lower(), str(each["path"])
    try:
        require_host(host)
    except NotServedError as error:
        raise graph.wrong(f"{host!r} cannot be a host: {error}") from error
    if (
        not path.startswith("/")
        or ".." in path.split("/")
        or not (path.isascii() and path.isprintable())
        or " " in path
    ):
        raise graph.wrong(f"{path[:80]!r} is no path of an address")
    return host + path


def _body(graph: _Graph, each: Mapping[str, Any], source: Source) -> bytes:
    address = _address(graph, each)
    for place in (address, address.partition("/")[2]):
        file = source.path / place
        if file.is_file() and not file.is_symlink() and source.path.resolve() in file.resolve().parents:
            return read_file(file, source.limits)
    raise graph.wrong(f"the object {address} is not below {source.path}, and a graph does not say how large it is")


def _exchange(graph: _Graph, each: Mapping[str, Any], body: bytes, when: str) -> Exchange:
    """All may be read by the page's script, whatever host they are of."""
    address = _address(graph, each)
    path = "/" + address.partition("/")[2]
    headers = (("Content-Type", by_extension(path) or sniffed(path, body)), ("Access-Control-Allow-Origin", "*"))
    return Exchange("GET", f"http://{address}", (), b"", 200, "OK", headers, body, "http/1.1", when)


EPLOAD = Importer("epload", "a folder with a dependency graph of Epload's and its objects", matches, read)
