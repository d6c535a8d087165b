"""Scripts that run, compute as long as they are told, and ask for what the recipe says."""

import json
from collections.abc import Iterator, Sequence

from lanelab.driver.site.generate.noise import letters, numbers, prose
from lanelab.driver.site.generate.plan import Piece

COMMENT = len("/*  */\n")
FUNCTIONS = 9  # of ten bytes that are free, so many go to functions; the others are a comment
ASK = """\
function ask(kind, address) {
  var place = document.body || document.documentElement;
  if (kind === "data") { fetch(address).then(function (answer) { return answer.text(); }); return; }
  if (kind === "other") { fetch(address, { mode: "no-cors" }); return; }
  var names = { css: "link", script: "script", module: "script", image: "img", frame: "iframe" };
  var element = document.createElement(names[kind]);
  if (kind === "module") { element.type = "module"; }
  if (kind === "css") { element.rel = "stylesheet"; element.href = address; place = document.head; }
  else { element.src = address; }
  if (kind === "script") { element.async = false; place = document.head; }
  place.appendChild(element);
}
function think(ms) {
  var begin = performance.now();
  while (performance.now() - begin < ms) { }
}
function loaded(then) {
  if (document.readyState === "complete") { then(); return; }
  addEventListener("load", function () { setTimeout(then, 0); });
}
"""
# A document that is open keeps the load event of the page around it back, and asks nobody for anything.
WAIT = """\
function wait(ms, then) {
  var frame = document.createElement("iframe"), open;
  frame.hidden = true;
  document.documentElement.appendChild(frame);
  open = frame.contentDocument;
  open.open();
  setTimeout(function () { then(); open.close(); }, ms);
}
"""


def script(pieces: Sequence[Piece], piece: Piece) -> bytes:
    """Return a script or module of exactly its size."""
    pieces_asked_for = [pieces[index] for index in piece.asks]
    module = piece.type == "module"
    imported = [each for each in pieces_asked_for if module and each.type == "module" and not _waits(each)]
    # What waits begins first: its time counts from the script's beginning, whatever the script computes for others.
    others = sorted((each for each in pieces_asked_for if each not in imported), key=lambda each: not each.group.wait)
    imports = "".join(f"import {json.dumps(each.address_for(piece))};\n" for each in imported)
    noise_bytes = piece.size * piece.group.noise.ppb // 10**9
    key = f'var key = "{letters(f"{piece.seed} key", noise_bytes)}";\n' if noise_bytes else ""
    helpers = ASK + (WAIT if any(each.group.wait for each in others) else "")
    asks = helpers + "".join(asked_by_script(each) for each in others) if others else ""
    frame = imports + "(function () {\n" + key + asks, "}());\n"
    fixed = len(frame[0]) + len(frame[1])
    if fixed > piece.size:
        raise piece.too_small(fixed)
    rest = piece.size - fixed
    functions, length = [], 0
    for function in _functions(piece.seed):
        if length + len(function) > rest * FUNCTIONS // 10:
            break
        functions.append(function)
        length += len(function)
    rest -= length
    end = f"/* {prose(f'{piece.seed} comment', rest - COMMENT)} */\n" if rest >= COMMENT else "\n" * rest
    return (frame[0] + "".join(functions) + end + frame[1]).encode("ascii")


def data(piece: Piece) -> bytes:
    """Return JSON of exactly its size."""
    head, middle, tail = '{"key": "', '", "text": "', '"}\n'
    noise_bytes = piece.size * piece.group.noise.ppb // 10**9
    rest = piece.size - len(head + middle + tail) - noise_bytes
    if rest < 0:
        raise piece.too_small(len(head + middle + tail))
    text = head + letters(f"{piece.seed} key", noise_bytes) + middle + prose(f"{piece.seed} text", rest) + tail
    return text.encode("ascii")


def _waits(each: Piece) -> bool:
    group = each.group
    return bool(group.think or group.wait or group.after or group.late)


def asked_by_script(each: Piece) -> str:
    """Return the lines that ask for one object when its time has come."""
    group = each.group
    # With its host: a path alone would be one of the page's host, whoever's script this is.
    line = f'ask("{each.type}", "//{each.url}");'
    if group.think:
        line = f"think({group.think.milliseconds:g}); {line}"
    if group.wait:
        line = f"wait({group.wait.milliseconds:g}, function () {{ {line} }});"
    if group.after:
        line = f"setTimeout(function () {{ {line} }}, {group.after.milliseconds:g});"
    if group.late:
        line = f"loaded(function () {{ {line} }});"
    return line + "\n"


def _functions(seed: str) -> Iterator[str]:
    """Yield functions without end, each of which is called once. A result is kept, so that no engine leaves them
    out."""
    chance = numbers(f"{seed} functions", 1 << 16)
    number = 0
    while True:
        number += 1
        first, second, turns = next(chance), next(chance), 2 + next(chance) % 30
        yield (
            f"function step{number}(value) {{\n"
            f"  // {prose(f'{seed} {number}', 20 + first % 40)}\n"
            f"  for (var turn = 0; turn < {turns}; turn += 1) {{\n"
            f"    value = (value * {first} + {second}) % 65521;\n"
            f"  }}\n  return value;\n}}\n"
            f"window.lastStep = step{number}(window.lastStep || {second % 97});\n"
        )
