"""A site as one arm wants it served. Made once, and kept in the cache beside the site's own bodies."""

import fcntl
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from lanelab.driver.base.errors import BedError, RecordError
from lanelab.driver.site import bodies, compressed_types
from lanelab.driver.site.coding import decoded, encoded
from lanelab.driver.site.compressed_types import COMPRESSED_TYPES, SMALLEST_COMPRESSED
from lanelab.driver.site.prepare.ages import aged
from lanelab.driver.site.prepare.schemes import unify
from lanelab.driver.site.prepare.variant import AS_ARCHIVED, RECORDED, Variant
from lanelab.driver.site.site import Site, SiteObject, StoredObject
from lanelab.driver.site.third_parties import answered

VARIANTS = "variants"
CODE = ("prepare", "minify")  # folders of sites: what they say decides what comes out
LIBRARIES = ("rcssmin", "rjsmin", "pyoxipng", "pillow", "brotlicffi", "zstandard")
CODINGS_OF_CLEAR_HTTP = ("gzip", "x-gzip", "deflate")  # browsers take br and zstd over TLS only
NAMES = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}  # of codings, by the arm's name for them


def prepare(site: Site, variant: Variant) -> Site:
    """Return the same site with the objects and bodies of this variant."""
    if variant == AS_ARCHIVED:
        return site
    if variant.age_s:
        recorded = prepare(site, variant.as_old_as_recorded)
        return replace(recorded, objects=tuple(aged(recorded, variant.age_s, variant.aged_for)), variant=variant.text)
    if variant.answer:
        return _with_answers(prepare(site, variant.as_recorded), variant)
    if variant != variant.without_hints:
        from lanelab.driver.site.hints import hinted  # noqa: PLC0415 - most arms need none of its libraries

        plain = prepare(site, variant.without_hints)
        page_with_hints = hinted(plain, preload=variant.preload, fetchpriority=variant.fetchpriority)
        return replace(page_with_hints, variant=variant.text)
    folder = site.content.parent / VARIANTS
    file = folder / f"{_name(site, variant)}.json"
    try:
        folder.mkdir(exist_ok=True)
        with (folder / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            objects = _read(file, site.content)
            if objects is None:
                new_objects = transform([bodies.read(site.content, each) for each in site.objects], site, variant)
                objects = bodies.store(site.content, new_objects)
                part = file.with_suffix(".part")
                part.write_text(json.dumps([each.to_json() for each in objects]))
                part.rename(file)
    except OSError as error:
        what = f"cannot prepare the site {site.name} in {folder}: {error.strerror or error}"
        raise BedError(what, "Free some space, or set LANELAB_BUILD to a folder that can be written") from error
    return replace(site, objects=objects, variant=variant.text)


def _with_answers(site: Site, variant: Variant) -> Site:
    """Return a site that answers some requests in another way than it was recorded."""
    others = {each: other for each in site.objects if (other := answered(each, variant.answer))}
    changed = dict(zip(others, bodies.store(site.content, others.values()), strict=True))
    return replace(site, objects=tuple(changed.get(each, each) for each in site.objects), variant=variant.text)


def transform(objects: Sequence[StoredObject], site: Site, variant: Variant) -> Iterable[StoredObject]:
    """Return the objects of this variant, with their bodies. Pure, but for programs that minify calls."""
    if variant.schemes != RECORDED:
        objects = unify(objects, variant.schemes)
    if variant.minify != "off":
        objects = _minified(objects, site, variant)
    if variant.compression == RECORDED:
        objects_of_site = [replace(each, object=_if_worth_it(each.object)) for each in objects]
        return [_for_clear_http(each) for each in objects_of_site] if variant.schemes == "http" else objects_of_site
    plain = [decoded(each) for each in objects]
    if variant.compression == "off":
        return [replace(each, object=replace(each.object, compressed=None)) for each in plain]
    return [replace(each, object=_compressed(each, NAMES[variant.compression])) for each in plain]


def _minified(objects: Sequence[StoredObject], site: Site, variant: Variant) -> list[StoredObject]:
    """What minify leaves alone keeps its coding."""
    from lanelab.driver.site.minify import minify, parse_minify  # noqa: PLC0415 - most arms need none of its libraries

    wish = parse_minify(variant.minify)
    if wish is None:
        return list(objects)
    wish = replace(wish, user_agent=variant.user_agent or site.user_agent or "")
    plain = [decoded(each) for each in objects]
    as_it_was = {_content(each): stored for each, stored in zip(plain, objects, strict=True)}
    minified = minify(plain, site.entry_host, site.entry_path, wish)
    return [_coded(each, as_it_was.get(_content(each), each)) for each in minified.objects]


def _content(each: StoredObject) -> tuple[SiteObject, bytes]:
    """What is served of it, whether it is late or not: minify may put off what it does not change."""
    return replace(each.object, late=False), each.body


def _coded(transformed: StoredObject, stored: StoredObject) -> StoredObject:
    return replace(stored, object=replace(stored.object, late=transformed.object.late))


def _for_clear_http(stored: StoredObject) -> StoredObject:
    """As a server would have negotiated it: gzip instead of what the browser does not take there."""
    coding = stored.object.encoding
    if coding is None or coding in CODINGS_OF_CLEAR_HTTP:
        return stored
    plain = decoded(stored)
    return stored if plain.object.encoding else encoded(plain, "gzip")


def _compressed(stored: StoredObject, coding: str) -> SiteObject:
    """Mark the object as one that the server compresses, where that makes it smaller."""
    each = stored.object
    worth = each.status == 200 and each.mime in COMPRESSED_TYPES and not each.encoding
    return _if_worth_it(replace(each, compressed=coding if worth else None))


def _if_worth_it(each: SiteObject) -> SiteObject:
    return replace(each, compressed=None) if each.size < SMALLEST_COMPRESSED else each


def _read(file: Path, content: Path) -> tuple[SiteObject, ...] | None:
    """Return the stored objects; None where they are not there or not reliable, and have to be made again."""
    try:
        objects = tuple(SiteObject.from_json(each) for each in json.loads(file.read_text()))
    except (OSError, ValueError, RecordError):
        return None
    for each in {each.sha256: each for each in objects}.values():
        path = content / each.sha256
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != each.sha256:
            path.unlink(missing_ok=True)
            return None
    return objects


def _name(site: Site, variant: Variant) -> str:
    """Name a variant by everything that decides what comes out. The manifest may say something else of the same bodies
    later: another entry or user agent for minify, other objects that are late."""
    parts = [site.entry_host, site.entry_path, site.user_agent, [each.to_json() for each in site.objects]]
    text = json.dumps([variant.text, _code(), parts], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _code() -> str:
    """The same for the same code and libraries: other ones may make other bytes."""
    digest = hashlib.sha256()
    sites = Path(__file__).parent.parent
    files = [Path(compressed_types.__file__), sites / "coding.py"]
    files += (file for name in CODE for file in (sites / name).rglob("*"))
    for file in sorted(each for each in files if each.suffix in (".py", ".js")):
        digest.update(file.read_bytes())
    digest.update(json.dumps({name: version(name) for name in LIBRARIES}).encode())
    return digest.hexdigest()
