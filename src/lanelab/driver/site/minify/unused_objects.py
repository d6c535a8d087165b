"""Which objects a minified site still has: nothing that no page asks for any more."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lanelab.driver.site.minify.addresses import Address
from lanelab.driver.site.minify.css.scan import references as css_references
from lanelab.driver.site.minify.html.page import Page
from lanelab.driver.site.minify.resources import CSS, SCRIPTS, Resource, Resources
from lanelab.driver.site.site import StoredObject

WORDS, PARTS = re.compile(r"[\s\"'()<>]+"), re.compile(r"[/\\=,?#;&]+")
OUR_PARTS = re.compile(r"[/\\?#;&]+")  # names of rewritten objects may have = and , in them
NOT_LOADED = frozenset({"a", "area", "form", "base", "meta"})  # an address in these loads nothing by itself
TEXTS = CSS | SCRIPTS | {"text/html", "application/xhtml+xml", "application/json", "text/plain"}


def objects_left(
    resources: Resources, pages: Mapping[Address, StoredObject], entry: Address
) -> tuple[StoredObject, ...]:
    """Return what is left, in the original order, each rewritten object in the place of its first source.

    An original that was replaced goes, unless something still refers to it. Where that can only be a script, it stays
    as one that a load may do without.
    """
    originals = {Address(each.object.host.lower(), each.object.path): each for each in resources.originals}
    kept = {address: pages.get(address, each) for address, each in originals.items()}
    new_objects = {address: StoredObject(each.object, each.body) for address, each in resources.additions.items()}
    candidates = (resources.replaced - {entry} - set(pages)) & set(originals)
    wanted = _reached(kept, new_objects, candidates)
    left: list[StoredObject] = []
    for each in resources.originals:  # not by address: a POST may have the same
        address = Address(each.object.host.lower(), each.object.path)
        if each.object.method != "GET" or address not in candidates:
            left.append(pages.get(address, each) if each.object.method == "GET" else each)
        elif address in wanted:
            left.append(each if wanted[address] else _late(each))
        left += [
            new_objects.pop(new)
            for new in _results_of(resources.additions.values(), address)
            if new in wanted and new in new_objects
        ]
    return tuple(_with_late(left, resources, entry))


def _with_late(objects: Sequence[StoredObject], resources: Resources, entry: Address) -> Iterator[StoredObject]:
    """A load may do without what filters have put off until after it."""
    due = _due(objects, resources.later, entry) if resources.scripts_later else None
    for each in objects:
        address = Address(each.object.host.lower(), each.object.path)
        put_off = address in resources.later or (due is not None and address not in due)
        yield _late(each) if put_off and not each.object.late else each


def _due(stored: Iterable[StoredObject], later: set[Address], entry: Address) -> set[Address]:
    """Return what markup and style sheets ask for, beginning with the entry."""
    objects = {Address(each.object.host.lower(), each.object.path): each for each in stored}
    due, waiting = {entry}, [entry]
    while waiting:
        address = waiting.pop()
        new = (_mentions(objects[address], address)[0] & set(objects)) - later - due
        due |= new
        waiting += new
    return due


def _results_of(results: Iterable[Resource], address: Address) -> list[Address]:
    return [each.address for each in results if each.sources[0] == address]


def _late(each: StoredObject) -> StoredObject:
    return StoredObject(replace(each.object, late=True), each.body)


def _reached(
    kept: Mapping[Address, StoredObject], results: Mapping[Address, StoredObject], candidates: set[Address]
) -> dict[Address, bool]:
    """Find which results and candidates are referred to from what stays. True: by a reference in markup or a style
    sheet; False: a text holds its name."""
    wanted: dict[Address, bool] = {}
    waiting = [address for address in kept if address not in candidates]
    open_ones = {**{each: kept[each] for each in candidates}, **results}
    seen = set(waiting)
    while waiting:
        address = waiting.pop()
        each = results[address] if address in results else kept[address]
        exact, names = _mentions(each, address)
        for other in open_ones:
            certain = other in exact
            leaf = other.leaf.split("?")[0]
            if certain or (leaf and leaf in names):
                wanted[other] = wanted.get(other, False) or certain
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
    return wanted


def _mentions(each: StoredObject, address: Address) -> tuple[set[Address], frozenset[str]]:
    """Return the addresses that an object refers to, and words of it that could be the last part of one."""
    if each.object.mime.lower() not in TEXTS:
        return set(), frozenset()
    text = each.body.decode("latin-1")
    if each.object.mime.lower() in CSS:
        exact = {
            address_of_reference
            for written in css_references(text)
            if (address_of_reference := address.resolve(written))
        }
    elif "html" in each.object.mime:
        exact = _page_references(Page.read(each.body), address)
    else:
        exact = set()
    # Names of rewritten objects hold those of the originals, which they are no reference to.
    words = [(word, OUR_PARTS if ".pagespeed." in word else PARTS) for word in WORDS.split(text)]
    return exact, frozenset(part for word, parts in words for part in parts.split(word))


def _page_references(page: Page, address: Address) -> set[Address]:
    base = (address.resolve(page.base) if page.base else None) or address
    written: list[str] = []
    for element in page.elements():
        tag = element.tag
        if element.in_noscript or tag.name in NOT_LOADED:
            continue  # a browser that runs scripts reads noscript as text
        for each in tag.attributes:
            value = each.value or ""
            if each.name == "style":
                written += css_references(value)
            elif each.name == "srcset":
                written += [part.split()[0] for part in value.split(",") if part.split()]
            elif not value.startswith("data:"):
                written.append(value)
        if tag.name == "style":
            written += css_references(page.text_in(element.index) or "")
    return {address_of_target for each in written if each and (address_of_target := base.resolve(each))}
