"""A generated site in the archive: the recipe and a manifest, whole or not there at all."""

import os
import re
import shutil
import tempfile
from pathlib import Path

from lanelab.driver.base.errors import InputError, StoreError
from lanelab.driver.base.paths import sites_folder
from lanelab.driver.site.composition import composition_of
from lanelab.driver.site.digest import digest_of
from lanelab.driver.site.generate import generated
from lanelab.driver.site.generate.plan import needed, planned
from lanelab.driver.site.generate.recipe import Recipe, parse_recipe
from lanelab.driver.site.load import require_unused
from lanelab.driver.site.manifest import MANIFEST, Manifest
from lanelab.driver.site.site import SitePage

RECIPE = "recipe.yaml"
MAKING = ".making"  # the end of a folder's name that is not finished
LICENCE = "made by lanelab: no rights of others"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_SEED = re.compile(r"^seed\s*:.*$", re.MULTILINE)


def add_generated(
    name: str, file: Path, *, seed: int | None = None, replace: bool = False, archive: Path | None = None
) -> Manifest:
    """Make everything once, to see that it can be made, and write the recipe with the digest of what it gives."""
    if not _NAME.fullmatch(name):
        remedy = "Use a to z, 0 to 9 and '-', at most 64 of them, like shop-2012"
        raise InputError(f"{name!r} is no name for a site", remedy, key="--name")
    require_unused(name, archive, replace=replace)
    text = _with_seed(_text(file), seed)
    recipe = parse_recipe(text, str(file))
    objects = [each.object for each in generated(recipe)]
    manifest = Manifest(
        title=recipe.title,
        source=recipe.source,
        entry=objects[0].url,
        pages=_pages(recipe),
        licence=LICENCE,
        synthetic=True,
        recipe=RECIPE,
        digest=digest_of(objects),
        composition=composition_of(objects),
    )
    _write((archive or sites_folder()) / name, {RECIPE: text, MANIFEST: manifest.to_yaml()})
    return manifest


def _pages(recipe: Recipe) -> tuple[SitePage, ...]:
    """Return what each of several pages needs; of one nothing has to be said."""
    if len(recipe.pages) == 1:
        return ()
    pieces = planned(recipe)
    pages = zip(recipe.pages, pieces, strict=False)
    return tuple(SitePage(page.name, piece.url, needed(pieces, piece)) for page, piece in pages)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        what = f"cannot read the recipe {file}: {getattr(error, 'strerror', None) or 'it is no text'}"
        raise InputError(what, "Name a file like those in docs/reference/generate.md") from error


def _with_seed(text: str, seed: int | None) -> str:
    """Return the recipe with another seed, and else as it was written: comments say why it is as it is."""
    if seed is None:
        return text
    if _SEED.search(text):
        return _SEED.sub(f"seed: {seed}", text, count=1)
    return f"{text.rstrip()}\nseed: {seed}\n"


def _write(folder: Path, files: dict[str, str]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", suffix=MAKING, dir=folder.parent))
        try:
            for name, text in files.items():
                (aside / name).write_text(text, encoding="utf-8")
            aside.chmod(0o755)  # mkdtemp gives it to its owner alone
            _put(aside, folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        what = f"cannot write the site {folder.name} to {folder.parent}: {error.strerror or error}"
        raise StoreError(what, "Free some space, or set LANELAB_SITES to a folder that can be written") from error


def _put(aside: Path, folder: Path) -> None:
    if not os.path.lexists(folder):
        aside.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", suffix=MAKING, dir=folder.parent))
    folder.rename(old / folder.name)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
