"""One word for what a site answers."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import replace

from lanelab.driver.site.site import SiteObject


def digest_of(objects: Iterable[SiteObject]) -> str:
    """The same for the same objects, wherever they are from; `late` says nothing about their content."""
    listed = sorted(json.dumps(replace(each, late=False).to_json(), sort_keys=True) for each in objects)
    return hashlib.sha256("\n".join(listed).encode()).hexdigest()
