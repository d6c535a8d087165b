"""Records of trials over HTTP/3, made by hand: sound ones, to be changed by tests."""

import copy
from typing import Any

from lanelab.driver.arm.arm import Arm
from lanelab.driver.record.evidence.packets import FlowSummary, QuicSummary
from tests.kit.records import BEGAN_US, Data, connection, record

PORT, TCP_PORT = 50010, 40010
FIRST_US = 1790000000005000  # of the made record: the first request


def flow(port: int = PORT, **more: Any) -> FlowSummary:
    """`more`: of its packets, or of the connection."""
    packets: dict[str, Any] = {
        "first_us": BEGAN_US, "last_us": BEGAN_US + 900_000, "packets_up": 25, "packets_down": 32, "bytes_up": 4000,
        "bytes_down": 40_000,
    }  # fmt: skip
    packets |= {name: more.pop(name) for name in packets if name in more}
    values: dict[str, Any] = {
        "version": "1", "first_server_id": "8394c8f03e515708", "client_id": "", "server_id": "f067a550",
        "initials_up": 2, "initials_down": 1, "retry": False, "version_negotiation": False,
        "handshake_rtt_us": 40_100, "spin_rtt_us": None, "spins": 0, "server_name": "a.test", "alpn_offered": ("h3",),
        "alpn_chosen": "h3", "tls_version": "TLS 1.3", "tls_resumed": False, "early_data_offered": False,
        "early_data_taken": False, "early_packets": 0, "short_up": 20, "short_down": 30, "ready_us": FIRST_US + 45_000,
        "moved_from": None,
    }  # fmt: skip
    quic = QuicSummary(**(values | more))
    return FlowSummary(client_port=port, server="10.10.2.2", server_port=443, quic=quic, **packets)


def quic_record(arm: Arm) -> Data:
    """A sound trial of an arm with HTTP/3; of the one that is told of it, the page itself came by HTTP/2."""
    data = record(arm)
    if arm.protocol != "h3":
        return data
    summary = data["evidence"]["packets"]["client"]
    summary["by_connection"] = []
    data["evidence"]["datagrams"] = {"received": 32, "dropped": 0, "without_room": 0}
    warm = {"early_packets": 1, "early_data_offered": True, "early_data_taken": True, "tls_resumed": True}
    summary["by_udp_flow"] = [flow(**(warm if arm.early_data else {})).to_json()]
    data["evidence"]["link"] |= {"mss_down": [], "mss_up": []}
    for line, each in zip(data["evidence"]["server"]["requests"], data["requests"], strict=True):
        each["tls"] = "QUIC"
        line |= {"protocol": "HTTP/3.0", "remote": f"10.10.1.2:{PORT}", "tls": "TLSv1.3"}
    if arm.h3_discovery == "alt-svc":
        by_tcp(data, 0)
    return copy.deepcopy(data)


def by_tcp(data: Data, number: int) -> None:
    """That request went by HTTP/2, as all say."""
    data["requests"][number] |= {"protocol": "h2", "tls": "TLS 1.3"}
    data["evidence"]["server"]["requests"][number] |= {"protocol": "HTTP/2.0", "remote": f"10.10.1.2:{TCP_PORT}"}
    data["evidence"]["packets"]["client"]["by_connection"] = [
        connection(TCP_PORT, Arm.parse("h2", {"protocol": "h2", "tls": "1.3"})).to_json()
    ]
