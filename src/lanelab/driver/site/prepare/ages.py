"""Answers that say that they are older than they are, by the header Age (RFC 9111, 5.1): on its next visit a browser
takes what it kept for as old, though no time has passed. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from lanelab.driver.site.site import Headers, SiteObject

AGE = "Age"


def aged(objects: Iterable[SiteObject], age_s: int) -> Iterator[SiteObject]:
    """Yield the objects, each answer to a GET with that age instead of a recorded one."""
    for each in objects:
        yield replace(each, headers=_with_age(each, age_s)) if each.method == "GET" else each


def _with_age(each: SiteObject, age_s: int) -> Headers:
    headers = each.headers or (("Content-Type", each.mime), *each.file_headers)
    return (*((name, value) for name, value in headers if name.lower() != AGE.lower()), (AGE, str(age_s)))
