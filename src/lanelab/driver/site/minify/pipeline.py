"""Every page of a site through every filter, and what is left of the site's objects after that."""

from collections.abc import Sequence
from dataclasses import replace

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.effects import Effect, Minified
from lanelab.driver.site.minify.html.page import Page
from lanelab.driver.site.minify.minify_options import Generation, Wish
from lanelab.driver.site.minify.policy import forbidden
from lanelab.driver.site.minify.resources import PAGES, Resources
from lanelab.driver.site.minify.steps import steps
from lanelab.driver.site.minify.unused_objects import objects_left
from lanelab.driver.site.minify.work import Work
from lanelab.driver.site.site import CONTENT_TYPE, Headers, StoredObject

# Of a page's header: the module forbids to keep it, and these would say otherwise.
PAGE_LOSES = frozenset({"last-modified", "content-length", "content-md5", "cache-control", "expires", "etag"})


def minify(objects: Sequence[StoredObject], entry_host: str, entry_path: str, wish: Wish) -> Minified:
    """Return the site as the module would serve it with everything in its cache. Bodies are decoded, not compressed."""
    resources = Resources(objects, wish.generation)
    effects: list[Effect] = []
    pages: dict[Address, StoredObject] = {}
    for each in resources.originals:
        if _is_page(each):
            work = _minified(each, resources, wish)
            effects += work.effects
            pages[work.address] = _page_object(each, work)
    entry = Address(entry_host.lower(), entry_path)
    return Minified(objects_left(resources, pages, entry), tuple(effects))


def _is_page(each: StoredObject) -> bool:
    return each.object.mime.lower() in PAGES and each.object.status == 200 and not each.object.encoding


def _minified(each: StoredObject, resources: Resources, wish: Wish) -> Work:
    address = Address(each.object.host.lower(), each.object.path)
    headers = each.object.sent_headers
    page = Page.read(each.body)
    refused = sorted(wish.filters & forbidden(headers, page))
    wish = replace(wish, filters=wish.filters.difference(refused))
    work = Work(page, address, each.object.scheme, resources, wish, headers)
    for name in refused:
        work.note(name, "not on this page: its Content-Security-Policy forbids it", len(each.body), len(each.body))
    for step in steps(wish.generation):
        if wish.has(*step.filters):
            step.run(work)
    return work


def _page_object(each: StoredObject, work: Work) -> StoredObject:
    """Make the page an object that the server compresses and no cache keeps, as the module serves what it has
    rewritten."""
    body = work.page.written()
    headers = page_headers(work.headers, work.wish.generation)
    return StoredObject(
        replace(each.object, size=len(body), sha256="", headers=headers, compressed=each.object.compressed or "gzip"),
        body,
    )


def page_headers(headers: Headers, generation: Generation) -> Headers:
    kept = [(name, value) for name, value in headers if name.lower() not in PAGE_LOSES]
    if not any(name.lower() == CONTENT_TYPE for name, _ in kept):
        kept.insert(0, ("Content-Type", "text/html"))
    control = "no-cache" if generation.name == "2012" else "max-age=0, no-cache"
    return (*kept, ("X-Mod-Pagespeed", generation.release), ("Cache-Control", control))
