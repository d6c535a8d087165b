"""The file that Apache's RewriteMap reads: where the objects are that a file name cannot say. Pure."""

from __future__ import annotations

from driver.servers.layout import Layout

MAP_FILE = "objects.map"


def map_text(layout: Layout) -> str:
    """Neither hosts nor paths of a manifest have spaces."""
    lines = [
        f"{host}{path} {name}" for host, names in sorted(layout.maps.items()) for path, name in sorted(names.items())
    ]
    return "".join(line + "\n" for line in lines)
