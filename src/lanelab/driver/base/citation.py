"""How lanelab is cited: CITATION.cff, as plain text and as BibTeX. The file is at the top of the checkout, where forges
look for it. The package has a link to it, which becomes the file itself where the package is installed."""

from pathlib import Path

import yaml

from lanelab.driver.base.paths import PACKAGE

FILE = PACKAGE / "CITATION.cff"


def citation(file: Path = FILE) -> str:
    """Return what `lanelab --cite` prints."""
    given = yaml.safe_load(file.read_text(encoding="utf-8"))
    authors = [_name(author) for author in given["authors"]]
    year = str(given["date-released"])[:4] if "date-released" in given else ""
    address = given.get("doi") or given.get("url") or given.get("repository-code") or ""
    title, version = given["title"], given["version"]
    parts = [", ".join(authors), f"{title} (version {version})", year, address]
    fields = {
        "title": f"{{{title}}}",
        "author": " and ".join(f"{{{author}}}" for author in authors),
        "version": version,
        "year": year,
        "doi" if "doi" in given else "url": address,
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([given["message"], "", _sentences(parts), "", "@software{lanelab,", *lines, "}"])


def _name(author: dict[str, str]) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def _sentences(parts: list[str]) -> str:
    return " ".join(f"{part}." for part in parts if part)
