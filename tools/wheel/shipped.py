"""What a checkout has beside its sources and an installed lanelab needs: its places in the wheel."""

from collections.abc import Iterator
from pathlib import Path

DATA = "lanelab/data"
PAGES = "pages"  # of the documentation, as a site
MAN_PAGES = "man-pages"  # written by lanelab wheel, of the copy that it builds from
MAN_FOLDER = "share/man/man1"
SHIPPED = (
    "native", "docs", PAGES, "experiments", "playbooks", "sites-archive",
    "Vagrantfile", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE",
)  # fmt: skip
LOCKS = "requirements*.lock"
LEFT_OVER = ("__pycache__", "node_modules")
ONLY_TESTED = ("tests", "fuzz", "testdata")  # of native/: no program is built from them


def shipped_files(checkout: Path) -> Iterator[Path]:
    """Return the files, relative to the checkout, in order."""
    for top in sorted((*SHIPPED, *(path.name for path in checkout.glob(LOCKS)))):
        place = checkout / top
        for file in sorted(place.rglob("*")) if place.is_dir() else (place,):
            name = file.relative_to(checkout)
            if file.is_file() and not _stays(name):
                yield name


def man_pages(checkout: Path) -> list[Path]:
    """Return those that were written there, in order."""
    return sorted((checkout / MAN_PAGES).glob("*.1"))


def _stays(name: Path) -> bool:
    if name.suffix == ".pyc" or any(part.startswith(".") or part in LEFT_OVER for part in name.parts):
        return True
    return name.parts[0] == "native" and (
        name.name.endswith("_test.go") or any(part in ONLY_TESTED for part in name.parts)
    )
