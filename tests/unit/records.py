"""Records of trials made by hand: a sound one, to be changed by tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driver.experiment.arm import Arm
from model.site.site import Site, SiteObject

HASH = "0" * 64
OBJECTS = (
    SiteObject("a.test", "/index.html", 1000, "text/html", HASH),
    SiteObject("a.test", "/style.css?v=1", 200, "text/css", HASH),
    SiteObject("b.test", "/logo.png", 5000, "image/png", HASH),
)
SITE = Site("tiny", "Two origins, three objects", "a.test", "/index.html", OBJECTS, Path("/nowhere"))


def request(url: str, number: int, arm: Arm, *, body: int = 0, kind: str = "Image") -> dict[str, Any]:
    """One that went well, on a connection of its own."""
    return {
        "url": f"{arm.scheme}://{url}",
        "method": "GET",
        "status": 200,
        "type": kind,
        "mime": "image/png",
        "protocol": arm.protocol,
        "connection": 10 + number,
        "reused": False,
        "priority": "High",
        "remote": "10.10.2.2:80",
        "from_cache": False,
        "started_ms": 50.0 * number,
        "ended_ms": 50.0 * number + 150,
        "timings": {},
        "request_headers": [],
        "response_headers": [["Server", "Apache"]],
        "request_header_bytes": 400,
        "response_header_bytes": 250,
        "body_bytes": body,
        "wire_bytes": body + 250,
        "error": None,
        "tls": None if arm.tls == "off" else f"TLS {arm.tls}",
        "initiator": "parser",
        "before_load": True,
    }


def record(arm: Arm, site: Site = SITE) -> dict[str, Any]:
    """A sound trial of that site."""
    requests = [
        request(each.url, number, arm, body=each.size, kind="Image" if number else "Document")
        for number, each in enumerate(site.objects)
    ]
    encoding = {"gzip": "gzip", "brotli": "br"}.get(arm.compression)
    for each in requests[:2] if encoding else []:
        each |= {"body_bytes": 90, "response_headers": [["content-encoding", encoding]]}
    return {
        "version": 1,
        "plt_ms": 5000.0,
        "plt_navigation_ms": 4990.0,
        "requests": requests,
        "server": {"error_lines": []},
        "capture": {"client": {"file": "client.pcap", "captured": 90, "received": 90, "dropped": 0}},
        "dns": None,
        "failures": [],
    }
