"""Makes the files of a site of five pages in the folder that is named: the same bytes on every machine and Python.

Each page has its own text and pictures, and all share a style sheet, a script and a logo, as the pages of one site do.
Pictures are noise in SVG's own text, so that nothing here depends on a library's choices.
"""

import hashlib
import sys
from pathlib import Path

HOST = "five.test"
PAGES = ("index", "news", "article", "gallery", "about")
TEXT_BYTES = {"index": 18_000, "news": 24_000, "article": 32_000, "gallery": 9_000, "about": 7_000}
PICTURES = {"index": 4, "news": 3, "article": 2, "gallery": 8, "about": 1}
PICTURE_BYTES, SHARED_BYTES = 12_000, {"site.css": 14_000, "site.js": 40_000, "logo.svg": 3_000}


def noise(seed: str, size: int) -> str:
    """Hexadecimal digits that look like nothing."""
    blocks = (hashlib.sha256(f"{seed}/{block}".encode()).hexdigest() for block in range(size // 64 + 1))
    return "".join(blocks)[:size]


def picture(seed: str, size: int) -> str:
    head = "<svg xmlns='http://www.w3.org/2000/svg' width='160' height='90'><rect width='160' height='90' fill='#"
    start = f"{head}{noise(seed, 6)}'/><!-- "
    return start + noise(seed, size - len(start) - len(" --></svg>")) + " --></svg>"


def page(name: str) -> str:
    links = "".join(f"<a href='/{each}.html'>{each}</a> " for each in PAGES)
    images = "".join(f"<img src='/{name}/{number}.svg' alt=''>" for number in range(PICTURES[name]))
    head = f"<!doctype html><title>{name}</title><link rel=stylesheet href=/site.css><script src=/site.js></script>"
    start = f"{head}<img src=/logo.svg alt=''><nav>{links}</nav><h1>{name}</h1>{images}<p>"
    return start + noise(name, TEXT_BYTES[name] - len(start))


def main(folder: Path) -> None:
    files = {f"{name}.html": page(name) for name in PAGES}
    files |= {f"{name}/{number}.svg": "" for name in PAGES for number in range(PICTURES[name])}
    files["site.css"] = "body { font: 16px/1.5 serif; max-width: 50em } /* "
    files["site.css"] += noise("css", SHARED_BYTES["site.css"] - len(files["site.css"]) - 3) + " */"
    files["site.js"] = f"var site = '{noise('js', SHARED_BYTES['site.js'] - 14)}';"
    files["logo.svg"] = picture("logo", SHARED_BYTES["logo.svg"])
    for path, text in files.items():
        target = folder / HOST / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text or picture(path, PICTURE_BYTES), encoding="ascii")


main(Path(sys.argv[1]))
