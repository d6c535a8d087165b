"""Checks of proxies with Tomcat and Jetty behind them; test_java_behind.py runs them."""

import json

from tests.bed.proxies import HERE, on_way, proxied
from tests.bed.serving import ADDRESS
from tests.kit.inside import Check, InsideBed, main

OLD_JETTY = {"server": "jetty", "jetty_version": "9.2"}
WAYS = (
    ("apache", "ajp", {"server": "tomcat"}),
    ("apache", "http/1.1", {"server": "tomcat"}),
    ("apache", "h2", {"server": "jetty"}),
    ("nginx", "http/1.1", {"server": "jetty"}),
    ("haproxy", "h2", {"server": "jetty"}),
    ("gateway", "h2", {"server": "jetty"}),
    ("gateway", "spdy/3", OLD_JETTY),
)
MANY = 120  # more than a browser's limits let through on one connection
ASK_SLOWLY = f"""
import asyncio, json
async def ask(number):
    reader, writer = await asyncio.open_connection("{ADDRESS}", 80)
    path = "/lanelab/slow?lines=3&every_ms=500"
    writer.write(f"GET {{path}} HTTP/1.1\\r\\nHost: a.test\\r\\nConnection: close\\r\\n\\r\\n".encode())
    return (await reader.read(-1)).decode()
async def all_at_once():
    print(json.dumps(await asyncio.gather(*map(ask, range({MANY})))))
asyncio.run(all_at_once())
"""


def many_slow_requests_are_answered(bed: InsideBed) -> None:
    with proxied(bed, **bed.kept["behind"]) as served:
        answers = json.loads(bed.client.run([*bed.client.python, "-c", ASK_SLOWLY]).stdout)
        assert {answer.split(" ")[1] for answer in answers} == {"200"}
        assert len(answers) == MANY
        assert served.proxy
        assert served.proxy.error_lines() == []
        assert served.server.error_lines() == []
    if bed.kept["proxy"] == "gateway":  # whose log is whole when it has ended
        lines = [json.loads(line) for line in served.proxy.files()["access.log"].splitlines()]
        assert max(line["most_in_flight"] for line in lines if line["event"] == "connection") == MANY


CHECKS: list[Check] = [on_way(*way, many_slow_requests_are_answered) for way in WAYS if way[0] in HERE]

if __name__ == "__main__":
    main(*CHECKS)
