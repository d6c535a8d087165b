"""Records of trials made by hand: a sound one, to be changed by tests."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.units import Duration
from lanelab.driver.bed.addresses import CLIENT, SERVER, route_lines
from lanelab.driver.bed.addresses import Host as BedHost
from lanelab.driver.link import Host, Link
from lanelab.driver.link.hosts.host import USUAL_KERNEL
from lanelab.driver.link.shaping.expected_tc import asked_queues
from lanelab.driver.link.shaping.shaping import DEVICES
from lanelab.driver.record.evidence.packets import Connection, PacketSummary
from lanelab.driver.record.evidence.settings import HostSettings, RouteSettings, SettingsEvidence
from lanelab.driver.site.site import Site, SiteObject

HASH = "0" * 64
LINK = Link.parse({"rtt": "40ms", "rate": "10mbit"})
BEGAN_US = 1_700_000_000_000_000
Data = dict[str, Any]
TIMINGS = {"blocked": 1.0, "dns": -1.0, "connect": 40.0, "ssl": -1.0, "send": 0.1, "wait": 40.0, "receive": 9.0}
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
        "timings": dict(TIMINGS),
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
        "wire": None,
        "link_preload": False,
        "early_links": None,
        "by_early_links": False,
    }


def served(each: Data, arm: Arm) -> Data:
    """What the server's log says of that request."""
    host, slash, path = each["url"].partition("://")[2].partition("/")
    port = 40010 if arm.multiplexed else 40000 + (each["connection"] or 0)
    tls = arm.tls != "off"
    return {
        "began_us": BEGAN_US + round(1000 * each["started_ms"]), "duration_us": 1000, "host": host, "method": "GET",
        "path": slash + path, "status": 200, "body_bytes": each["body_bytes"], "sent_bytes": each["wire_bytes"],
        "received_bytes": 400, "protocol": {"h2": "HTTP/2.0"}.get(arm.protocol, "HTTP/1.1"),
        "remote": f"10.10.1.2:{port}", "local": f"10.10.2.2:{443 if tls else 80}", "keepalives": 0,
        "connection": "+" if arm.keepalive else "-",
        "encoding": None, "tls": f"TLSv{arm.tls}" if tls else None, "tls_resumed": False if tls else None,
        "spdy": arm.spdy, "match": "exact" if arm.server == "apache" else None,
    }  # fmt: skip


def agree(data: Data, arm: Arm) -> None:
    """Let the server say what the browser says: which requests it answered, and with which status. The rest of its
    lines stays as it was."""
    lines: dict[str, list[Data]] = {}
    for line in data["evidence"]["server"]["requests"]:
        lines.setdefault(f"{line['host']}{line['path']}", []).append(line)
    heard = []
    for each in data["requests"]:
        scheme, _, asked = each["url"].partition("#")[0].partition("://")
        if scheme in ("http", "https") and each["status"] is not None and not each["from_cache"]:
            same = [line for line in lines.get(asked, []) if line["status"] == each["status"]] or lines.get(asked, [])
            line = same[0] if same else served(each, arm)
            if same:
                lines[asked].remove(line)
            heard.append({**line, "status": each["status"], "method": each["method"]})
    data["evidence"]["server"]["requests"] = heard
    if data["evidence"]["packets"]:
        captured = data["evidence"]["packets"]["client"]["by_connection"]
        seen = {each["client_port"] for each in captured}
        clear = ports_of(line for line in heard if line["local"].endswith(":80"))
        for port in sorted(ports_of(heard) - seen):
            captured.append(connection(port, Arm.parse("clear", {}) if port in clear else arm).to_json())


def ports_of(lines: Iterable[Data]) -> set[int]:
    """The client's."""
    return {int(line["remote"].rpartition(":")[2]) for line in lines}


def ask(data: Data, each: Data, arm: Arm) -> None:
    """One request more, which the server has answered."""
    data["requests"].append(each)
    data["evidence"]["server"]["requests"].append(served(each, arm))


def connection(client_port: int, arm: Arm, **more: Any) -> Connection:
    """One in the client's capture."""
    clear = arm.tls == "off"
    spoken = {"spdy/3.1": "spdy/3"}.get(arm.protocol, arm.protocol) if clear else "tls"
    values: dict[str, Any] = {
        "client_port": client_port, "server": "10.10.2.2", "server_port": 80 if clear else 443, "first_us": BEGAN_US,
        "last_us": BEGAN_US + 900_000, "packets_up": 20, "packets_down": 30, "bytes_up": 3000, "bytes_down": 40_000,
        "payload_up": 1500, "payload_down": 38_000, "syn": True, "handshake": True, "handshake_rtt_us": 40_000,
        "tls": not clear, "retransmissions_up": 0, "retransmissions_down": 0, "out_of_order": 0, "copies": 0,
        "probes": 0,
        "fin_up": False, "fin_down": False, "rst_up": False, "rst_down": False, "header_down": 66,
        "data_us": BEGAN_US + 850_000, "spoken_up": spoken, "spoken_down": spoken,
        "alpn_offered": None if clear else (arm.protocol,), "tls_version": None if clear else f"TLS {arm.tls}",
        "tls_resumed": None if clear else False, "mss_up": 1460, "mss_down": 1460, "data_packets_up": 3,
        "data_packets_down": 27, "first_flight_down": 14_480, "used": True,
    }  # fmt: skip
    return Connection(**(values | more))


def packets(connections: Sequence[Connection]) -> PacketSummary:
    return PacketSummary(
        packets=900, bytes=sum(each.bytes_up + each.bytes_down for each in connections), bytes_down=1_900_000,
        bytes_up=100_000, other_packets=0, first_us=BEGAN_US,
        last_us=BEGAN_US + 5_000_000, snaplen=262144, incomplete=None, by_connection=tuple(connections),
        by_udp_flow=(),
    )  # fmt: skip


def link_evidence(rtt_ms: float = 40.0) -> Data:
    """What a client's capture tells of a link with this round trip, at whatever rate."""
    windows, losses = {"least": 3, "stopped": None, "connections": 3}, {"told": 30, "lost": 0, "overflowed": 0}
    return {
        "round_trips": [{"us": round(rtt_ms * 1000) + 120, "up_bytes": 74, "down_bytes": 74}],
        "down": {"frames": 90, "blocks": [], "spacing": None, "spaced": 0, "silences": [], "spread": None, "full": 0},
        "up": None,
        "window_down": {**windows}, "window_up": windows, "mss_down": [1460], "mss_up": [1460],
        "largest_down": 1514, "largest_up": 600, "losses_down": {**losses}, "losses_up": losses,
    }  # fmt: skip


def browser(plt_ms: float = 5000.0, plt_navigation_ms: float = 4990.0) -> Data:
    """What the browser tells of a load, but for the requests."""
    return {
        "facts": {
            "product": "Chromium/140.0", "chromedriver": "140.0", "program": "/usr/bin/chromium",
            "user_agent": "Mozilla/5.0", "flags": ["--headless=new"], "start": "fresh-process", "loads_before": 0,
            "sandbox": True, "settled_s": 0.1,
        },
        "times": {
            "plt_ms": plt_ms, "plt_navigation_ms": plt_navigation_ms, "ttfb_ms": 90.0, "dcl_ms": 300.0,
            "first_paint_ms": 310.0, "fcp_ms": 310.0, "lcp_ms": 400.0,
        },
        "navigation": {"loadEventEnd": plt_navigation_ms},
        "console": [],
        "clock": {"asked": 1790000000000000, "navigation": 1790000000004000, "first_request": 1790000000005000},
        "view": {"width": 1366, "pixel_ratio": 1.0, "touch_points": 0}, "slowdown": None,
        "sockets": [],
    }  # fmt: skip


def settings(link: Link) -> SettingsEvidence:
    """A bed that is set to this link."""
    compensation = Duration.parse("150us")

    def host(of: BedHost, own: Host) -> HostSettings:
        metrics = {"congestion": own.congestion_control, "initcwnd": str(own.initial_window)}
        metrics |= {} if own.delayed_ack else {"quickack": "1"}
        metrics |= {} if own.minimum_rto.ns == 200_000_000 else {"rto_min": str(own.minimum_rto.ns // 1_000_000)}
        metrics |= {"initrwnd": str(own.initial_receive_window)} if own.initial_receive_window else {}
        routes = tuple(RouteSettings(line.split()[2], metrics) for line in route_lines(of))
        kernel = {**USUAL_KERNEL, "net.ipv4.tcp_no_metrics_save": "1", "net.ipv4.tcp_rmem": "4096 131072 6291456"}
        kernel |= dict(line.text.split("=") for line in own.kernel())
        return HostSettings(link.mtu, routes, kernel, (), (own.congestion_control,))

    return SettingsEvidence(
        client=host(CLIENT, link.client), server=host(SERVER, link.server),
        queues=tuple(asked_queues(link, compensation)), mtus=dict.fromkeys(DEVICES, link.mtu),
        compensation_us=compensation.ns // 1000, changed=(), content_changed=(), clock_step_us=12,
        queues_changed=(),
    )  # fmt: skip


def record(arm: Arm, site: Site = SITE, link: Link | None = None) -> Data:
    """A sound trial of that site, as JSON."""
    requests = [
        request(each.url, number, arm, body=each.size, kind="Image" if number else "Document")
        for number, each in enumerate(site.objects)
    ]
    encoding = {"gzip": "gzip", "brotli": "br", "zstd": "zstd"}.get(arm.compression)
    for each in requests[:2] if encoding else []:
        each |= {"body_bytes": 90, "response_headers": [["content-encoding", encoding]]}
    heard = [served(each, arm) for each in requests]
    return {
        "workload": "page_load",
        "started_utc": "2026-11-20T09:30:00.000Z",
        "measures": {},
        "series": {},
        "requests": requests,
        "failures": [],
        "artifacts": [],
        "marks": {},
        "evidence": {
            "browser": browser(),
            "server": {
                "program": "Apache/2.4", "configuration": "", "error_lines": [],
                "requests": heard, "unplaced": [],
            },
            "resolver": None,
            "gateway": None,
            "router": {"lost_at_input": 0, "stalls": []},
            "settings": settings(link or LINK).to_json(),
            "capture": {"client": {"file": "client.pcap", "captured": 90, "received": 90, "dropped": 0}},
            "packets": {"client": packets([connection(port, arm) for port in sorted(ports_of(heard))]).to_json()},
            "witnesses": None,
            "parts": None,
            "one_clock": True,
            "link": link_evidence(),
            "emulation": None,
            "moving": None,
        },
        "flags": [],
        "recordings": {},
    }  # fmt: skip
