"""Objects whose text is changed before they are served. Pure."""

import re
from dataclasses import replace

from lanelab.driver.base.errors import InputError
from lanelab.driver.site.coding import CODINGS, decoded, encoded
from lanelab.driver.site.site import StoredObject

TEXT_TYPES = re.compile(r"text/.*|.*[/+](json|xml|javascript|ecmascript|x-javascript|manifest)|image/svg\+xml")
CSP = "content-security-policy"


def plain(stored: StoredObject) -> StoredObject | None:
    """Decode a body. None: the coding is unknown, or the body is damaged. The browser will fare as when it was
    recorded."""
    try:
        body = decoded(stored)
    except InputError:
        return None
    return None if body.object.encoding else body


def again(text: StoredObject, encoding: str | None) -> StoredObject:
    """Encode a body with the coding that it had. Several at once are left as they are sent: plain."""
    sized = replace(text, object=replace(text.object, size=len(text.body)))
    return encoded(sized, encoding) if encoding in CODINGS else sized
