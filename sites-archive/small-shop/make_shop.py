"""Makes the files of a small shop in the folder that is named: the same bytes on every machine and Python.

Its front page has a form to log in, which is posted; who has logged in sees an account with a form to search; the list
of goods loads more of them when one comes near its end. Pictures are noise in SVG's own text.
"""

import hashlib
import sys
from pathlib import Path

HOST = "shop.test"
STYLE_BYTES, SCRIPT_BYTES, PICTURE_BYTES = 9_000, 24_000, 8_000
HEAD = "<!doctype html><meta charset=utf-8><link rel=icon href='data:,'><link rel=stylesheet href=/shop.css>"
GOODS_AT_ONCE, PORTIONS = 4, 3
SCRIPT = """
addEventListener('load', () => {
  const list = document.querySelector('#goods'), end = document.querySelector('#end')
  if (!end) return
  let portion = 1, waiting = false
  const watch = new IntersectionObserver(async seen => {
    if (waiting || portion >= PORTIONS || !seen.some(each => each.isIntersecting)) return
    waiting = true
    const answer = await fetch('/goods/' + portion + '.html')
    list.insertAdjacentHTML('beforeend', await answer.text())
    portion += 1
    waiting = false
  })
  watch.observe(end)
})
"""


def noise(seed: str, size: int) -> str:
    """Hexadecimal digits that look like nothing."""
    blocks = (hashlib.sha256(f"{seed}/{block}".encode()).hexdigest() for block in range(size // 64 + 1))
    return "".join(blocks)[:size]


def picture(seed: str) -> str:
    head = "<svg xmlns='http://www.w3.org/2000/svg' width='160' height='90'><rect width='160' height='90' fill='#"
    start = f"{head}{noise(seed, 6)}'/><!-- "
    return start + noise(seed, PICTURE_BYTES - len(start) - len(" --></svg>")) + " --></svg>"


def goods(portion: int) -> str:
    """One portion of the list. Each thing is higher than a window: the end comes into view by scrolling alone."""
    numbers = range(portion * GOODS_AT_ONCE, (portion + 1) * GOODS_AT_ONCE)
    return "".join(f"<li class=thing><img src=/pictures/{number}.svg alt=''>Thing {number}" for number in numbers)


def files() -> dict[str, str]:
    form = (
        "<form method=post action=/session><input name=user><input name=password type=password><button>Log in</button>"
    )
    search = "<form action=/search><input name=q><button>Search</button></form>"
    found = "".join(f"<li class=found><img src=/pictures/{number}.svg alt=''>Lamp {number}" for number in (20, 21, 22))
    texts = {
        "index.html": f"{HEAD}<title>Shop</title><h1>Shop</h1>{form}",
        "session": f"{HEAD}<title>Account</title><h1>Welcome</h1>{search}<a href=/goods.html>All goods</a>",
        "search?q=lamp": f"{HEAD}<title>Lamps</title><h1>Lamps</h1><ul>{found}</ul><a href=/goods.html>All goods</a>",
        "goods.html": f"{HEAD}<title>Goods</title><script src=/shop.js></script><h1>Goods</h1>"
        f"<ul id=goods>{goods(0)}</ul><p id=end>That is all",
        **{f"goods/{portion}.html": goods(portion) for portion in range(1, PORTIONS)},
    }
    style = "body { font: 16px/1.5 serif; max-width: 50em } .thing { height: 400px } #end { margin-top: 600px } /* "
    texts["shop.css"] = style + noise("css", STYLE_BYTES - len(style) - 3) + " */"
    script = SCRIPT.replace("PORTIONS", str(PORTIONS))
    texts["shop.js"] = script + "// " + noise("js", SCRIPT_BYTES - len(script) - 3)
    numbers = [*range(GOODS_AT_ONCE * PORTIONS), 20, 21, 22]
    return texts | {f"pictures/{number}.svg": picture(str(number)) for number in numbers}


def main(folder: Path) -> None:
    for path, text in files().items():
        target = folder / HOST / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
