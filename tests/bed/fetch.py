"""A small HTTP/1.1 client for the client node: reads a plan from its argument, prints what came of it.

Standard library only. Each connection of the plan: {"address", "port", "name" (for TLS), "host" (if another than the
name), "tls": null or [lowest, highest version], "alpn": [...], "get": [paths], "headers": {}, "resume": true to offer
the session of the connection before it}
"""

import gzip
import hashlib
import http.client
import json
import socket
import ssl
import sys
import time
from typing import Any

session: ssl.SSLSession | None = None
context: ssl.SSLContext | None = None


def secured(line: socket.socket, plan: dict[str, Any]) -> ssl.SSLSocket:
    global context  # noqa: PLW0603 - a session belongs to its context
    if context is None or not plan.get("resume"):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.minimum_version, context.maximum_version = (ssl.TLSVersion[name] for name in plan["tls"])
        context.set_alpn_protocols(plan.get("alpn") or ["http/1.1"])
    offered = session if plan.get("resume") else None
    return context.wrap_socket(line, server_hostname=plan["name"], session=offered)


def got(line: socket.socket, path: str, plan: dict[str, Any]) -> dict[str, Any]:
    words = "".join(f"{name}: {value}\r\n" for name, value in (plan.get("headers") or {}).items())
    line.sendall(f"GET {path} HTTP/1.1\r\nHost: {plan.get('host') or plan['name']}\r\n{words}\r\n".encode())
    response = http.client.HTTPResponse(line)
    response.begin()
    body = response.read()
    encoding = response.getheader("Content-Encoding")
    whole = gzip.decompress(body) if encoding == "gzip" else body
    return {
        "path": path,
        "status": response.status,
        "type": response.getheader("Content-Type"),
        "encoding": encoding,
        "bytes": len(body),
        "sha256": hashlib.sha256(whole).hexdigest(),
        "closed": response.getheader("Connection") == "close",
        "headers": dict(response.getheaders()),
        "names": [name.lower() for name, _ in response.getheaders()],
        "cookies": response.headers.get_all("Set-Cookie") or [],
    }


def connection(plan: dict[str, Any]) -> dict[str, Any]:
    global session  # noqa: PLW0603
    found: dict[str, Any] = {"responses": []}
    began = time.monotonic()
    try:
        plain: socket.socket = socket.create_connection((plan["address"], plan["port"]), 10)
        found["connect_s"] = time.monotonic() - began
        line = plain
        if plan.get("tls"):
            line = secured(plain, plan)
            found |= {"tls": line.version(), "alpn": line.selected_alpn_protocol(), "resumed": line.session_reused}
            found["certificate_sha256"] = hashlib.sha256(line.getpeercert(binary_form=True) or b"").hexdigest()
        found["local_port"] = line.getsockname()[1]
        for path in plan.get("get") or []:
            found["responses"].append(got(line, path, plan))
        if isinstance(line, ssl.SSLSocket):
            session = line.session
            found["tickets"] = bool(session and session.has_ticket)
        line.close()
    except OSError as error:
        found["error"] = str(error) or repr(error)
    except http.client.HTTPException as error:
        found["error"] = repr(error)
    return found


if __name__ == "__main__":
    print(json.dumps([connection(plan) for plan in json.loads(sys.argv[1])]))
