"""Hashes by which a page names what it loads (subresource integrity) and, in its policy (CSP), the scripts and styles
within it: where these were changed, the hash changes with them. Pure."""

import base64
import hashlib
import itertools
import re
from collections.abc import Sequence
from dataclasses import replace

from lanelab.driver.site.prepare.texts import CSP, TEXT_TYPES, again, plain
from lanelab.driver.site.site import StoredObject

WITH_HASHES = (CSP, f"{CSP}-report-only", "link")
PAGES = ("text/html", "application/xhtml+xml")
HASHES = ("sha256", "sha384", "sha512")  # of subresource integrity, and of policies
QUOTED = b"'sha"  # how a policy names a hash
FORMS = (base64.urlsafe_b64encode, base64.b64encode)  # the usual one last: where both are the same it is written
ROUNDS = 10  # of mending hashes: a script may hold the hash of a script that holds a hash


def mend(before: Sequence[StoredObject], after: Sequence[StoredObject]) -> list[StoredObject]:
    """A page may name the hash of what it loads, and its policy (CSP) that of scripts and styles within it: where these
    were changed, the hash changes with them."""
    result = list(after)
    known = [_hashes(each) for each in before]
    for _ in range(ROUNDS):
        new_of: dict[str, str] = {}
        for number, each in enumerate(result):
            if each.body == before[number].body:
                continue
            new = _hashes(each)
            if len(new) == len(known[number]):  # else the change has moved where a script begins or ends
                new_of |= {old: fresh for old, fresh in zip(known[number], new, strict=True) if old != fresh}
            known[number] = new
        if not new_of:
            break
        pattern = re.compile("|".join(re.escape(old) for old in new_of))
        result = [_with_hashes(each, pattern, new_of) for each in result]
    return result


def _hashes(stored: StoredObject) -> tuple[str, ...]:
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return ()
    text = plain(stored)
    if text is None:
        return ()
    hashed = [text.body, *(_inline(text.body) if _may_have_policy(stored, text.body) else ())]
    digests = ((name, hashlib.new(name, each).digest()) for each in hashed for name in HASHES)
    return tuple(f"{name}-{form(digest).decode()}" for name, digest in digests for form in FORMS)


def _may_have_policy(stored: StoredObject, body: bytes) -> bool:
    """Return whether a policy may name scripts within this page."""
    named = QUOTED in body or any(QUOTED.decode() in value for _, value in stored.object.headers)
    return stored.object.mime in PAGES and named


def _inline(page: bytes) -> list[bytes]:
    """The scripts and styles within a page, as its policy names them: by their hash with plain line ends."""
    from lanelab.driver.site.minify.html.nodes import RawText, StartTag  # noqa: PLC0415 - most sites need none of its libraries
    from lanelab.driver.site.minify.html.split import split  # noqa: PLC0415

    nodes = split(page.decode("latin-1"))
    inner = (
        after.raw
        for before, after in itertools.pairwise(nodes)
        if isinstance(before, StartTag) and before.name in ("script", "style") and isinstance(after, RawText)
    )
    return [text.replace("\r\n", "\n").replace("\r", "\n").encode("latin-1") for text in inner]


def _with_hashes(stored: StoredObject, pattern: re.Pattern[str], new_of: dict[str, str]) -> StoredObject:
    headers = tuple(
        (name, pattern.sub(lambda match: new_of[match[0]], value) if name.lower() in WITH_HASHES else value)
        for name, value in stored.object.headers
    )
    stored = replace(stored, object=replace(stored.object, headers=headers))
    if not TEXT_TYPES.fullmatch(stored.object.mime):
        return stored
    text = plain(stored)
    if text is None:
        return stored
    new = pattern.sub(lambda match: new_of[match[0]], text.body.decode("latin-1")).encode("latin-1")
    return stored if new == text.body else again(replace(text, body=new), stored.object.encoding)
