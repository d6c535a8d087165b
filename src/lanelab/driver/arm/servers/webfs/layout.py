"""Where a site's objects are for webfs, which knows files, one table of types, and nothing else. Pure.

It takes a file's name from the address without its query, and its type from the name's last extension. What cannot be
found so is not answered as it is in the site.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from lanelab.driver.arm.servers.layout import HOSTS, OK, Layout, answered, extension_types, natural_path
from lanelab.driver.site.site import Site, SiteObject

WITHOUT_TYPE = "text/plain"  # what webfs calls a file whose extension it does not know
LONGEST_NAME = 255  # bytes, of a file or a folder
_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z/-]+")


@dataclass(frozen=True, slots=True)
class WebfsLayout:
    """A site for webfs."""

    layout: Layout
    types: Mapping[str, str]  # extension without its point -> type, of all hosts
    lost: tuple[str, ...]  # method and address of what it does not answer as it is in the site, and why


def lay_out(site: Site) -> WebfsLayout:
    types = {extension[1:]: mime for extension, mime in extension_types(answered(site.objects)).items()}
    files: dict[str, SiteObject] = {}
    lost: list[str] = []
    for each in site.objects:
        name = file_name(each.path)
        why = _why_not(each, name, types)
        taken = files.get(f"{HOSTS}/{each.host}{name}", each)
        if not why and taken.sha256 != each.sha256:
            why = f"webfs answers it as {taken.url}"
        if why:
            lost.append(f"{each.method} {each.url}: {why}")
        else:
            files[f"{HOSTS}/{each.host}{name}"] = each
    folders = {name[: match.start()] for name in files for match in re.finditer("/", name)}
    lost += [f"GET {each.url}: others are in a folder of that name" for name, each in files.items() if name in folders]
    kept = {name: each for name, each in files.items() if name not in folders}
    return WebfsLayout(Layout(kept, {}, (), {}, {}, {}), types, tuple(lost))


def headers_not_sent(site: Site) -> tuple[str, ...]:
    """Return what it leaves out of answers that it gives, in words."""
    return tuple(
        f"{each.method} {each.url}: its recorded headers are not sent" for each in site.objects if each.headers
    )


def file_name(path: str) -> str:
    """Return the name of a file below the folder of its host, with a slash before it. Several slashes in a row lead to
    the same file as one."""
    name = unquote_to_bytes(natural_path(path.partition("?")[0])).decode(errors="surrogateescape")
    return re.sub("/+", "/", name)


def _why_not(each: SiteObject, name: str, types: Mapping[str, str]) -> str:
    parts = name[1:].split("/")
    if each.method != "GET":
        return f"webfs does not answer {each.method}"
    if each.status != OK:
        return f"webfs answers with status {OK} alone, not {each.status}"
    if each.encoding or each.compressed:
        return "webfs says nothing of compression"
    long = any(len(part.encode(errors="surrogateescape")) > LONGEST_NAME for part in parts)
    if long or not name.isprintable() or not {".", ".."}.isdisjoint(parts):
        return "no file can be called so"
    type_sent = _type(parts[-1], types)
    return (
        ""
        if type_sent == each.mime and _TYPE.fullmatch(each.mime)
        else f"webfs says {type_sent} of it, not {each.mime}"
    )


def _type(name: str, types: Mapping[str, str]) -> str:
    return types.get(name.rpartition(".")[2].lower() if "." in name else "", WITHOUT_TYPE)
