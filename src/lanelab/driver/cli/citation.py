"""How lanelab is cited: CITATION.cff, which forges read, too, as plain text and as BibTeX."""

from pathlib import Path

import yaml

from lanelab.driver.base.paths import PROJECT

FILE = PROJECT / "CITATION.cff"


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
