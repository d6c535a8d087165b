"""What wrk, h2load, ApacheBench and spdy-load print, made by hand."""

import json
from typing import Any

from lanelab.driver.record.evidence.load import LoadReport
from lanelab.driver.trial.server_load.generator import Output, Target
from lanelab.driver.trial.server_load.registry import GENERATORS
from tests.kit.loads import left, target

WRK, H2LOAD, AB, SPDY_LOAD = (GENERATORS[name] for name in ("wrk", "h2load", "ab", "spdy-load"))
HEADERS = 242  # bytes of an answer's head
WRK_COUNTED: dict[str, Any] = {
    "microseconds": 2_000_000, "requests": 20_000, "bytes": 20_000 * (10_240 + HEADERS),
    "connect": 0, "read": 0, "write": 0,
    "status": 0, "timeout": 0, "latencies": [[900, 10_000], [1100, 10_000]],
}  # fmt: skip
H2LOAD_SAID = """\
starting benchmark...
spawning thread #0: 2 total client(s). 4 total requests
TLS Protocol: TLSv1.3
Cipher: TLS_AES_128_GCM_SHA256
Server Temp Key: X25519 253 bits
Application protocol: h2
progress: 25% done
progress: 100% done

finished in 1.02s, 3.92 req/s, 40.19KB/s
requests: 4 total, 4 started, 4 done, 4 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 4 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 40.43KB (41402) total, 186B (186) headers (space savings 39.39%), 40.00KB (40960) data
                     min         max         mean         sd        +/- sd
time for request:      134us      3.56ms       238us       320us    98.20%
time for connect:     1.62ms      5.65ms      3.47ms      1.36ms    60.00%
time to 1st byte:     5.47ms      6.34ms      5.77ms       288us    70.00%
req/s           :    5966.36     6169.78     6057.91       57.68    70.00%
"""
H2LOAD_LOG = "1000000\t200\t2000\n1000100\t200\t4000\n1900000\t200\t3000\n2000000\t200\t1000\n"
AB_SAID = """\
This is ApacheBench, Version 2.3 <$Revision$>

Benchmarking 10.10.2.2 (be patient).....done


Server Software:        nginx/1.22.1
Server Hostname:        10.10.2.2
Server Port:            443
SSL/TLS Protocol:       TLSv1.2,ECDHE-RSA-AES256-GCM-SHA384,2048,256
Server Temp Key:        X25519 253 bits
TLS Server Name:        load.test

Document Path:          /a.bin
Document Length:        10240 bytes

Concurrency Level:      2
Time taken for tests:   0.009 seconds
Complete requests:      4
Failed requests:        0
Keep-Alive requests:    4
Total transferred:      41928 bytes
HTML transferred:       40960 bytes
Requests per second:    412.92 [#/sec] (mean)
Time per request:       4.843 [ms] (mean)
Time per request:       2.422 [ms] (mean, across all concurrent requests)
Transfer rate:          116826.39 [Kbytes/sec] received
"""
AB_PERCENTAGES = "Percentage served,Time in ms\n" + "".join(f"{each},{1 + each / 100:.3f}\n" for each in range(101))
AB_LOG = "starttime\tseconds\tctime\tdtime\tttime\twait\n" + "".join(
    f"Mon Nov 23 04:00:4{second} 2026\t179540644{second}\t0\t1\t{took}\t1\n"
    for second, took in ((4, 1), (5, 1), (6, 2), (7, 2))
)
TIMES = {"min": 1.0, "p50": 2.0, "p90": 3.0, "p95": 3.5, "p99": 4.0, "p99_9": 4.5, "max": 5.0, "mean": 2.5}
SPDY_LOAD_SAID: dict[str, Any] = {
    "load": {"url": "http://load.test/a.bin", "protocol": "spdy/3.1", "tls": False, "clients": 2, "streams": 1,
             "requests": 4, "body_bytes": 0},
    "seconds": 2.05, "tls_version": "", "connections": 3, "succeeded": 4, "failed": 0, "reconnections": 1,
    "requests_per_second": 1.95, "body_bytes": 40_960, "wire_bytes": 41_500, "megabytes_per_second": 0.02,
    "latency_ms": TIMES, "first_byte_ms": TIMES,
    "histogram": [{"end_ms": 2.0, "count": 3}, {"end_ms": 5.0, "count": 1}],
    "statuses": {"200": 4}, "errors": {}, "timed_out": 0, "completions": [1] + [0] * 14 + [2] + [0] * 4 + [1],
    "completions_every_ms": 100.0,
}  # fmt: skip


def of_wrk(**changes: Any) -> Output:
    return left(wrk_json=json.dumps({**WRK_COUNTED, **changes}))


def of_h2load(*changes: tuple[str, str], log: str = H2LOAD_LOG) -> Output:
    said = H2LOAD_SAID
    for old, new in changes:
        assert old in said
        said = said.replace(old, new)
    return left(said, h2load_log=log)


def of_ab(*changes: tuple[str, str], percentages: str = AB_PERCENTAGES, log: str = AB_LOG) -> Output:
    said = AB_SAID
    for old, new in changes:
        assert old in said
        said = said.replace(old, new)
    return left(said, ab_csv=percentages, ab_log=log)


def of_spdy_load(**changes: Any) -> Output:
    return left(json.dumps({**SPDY_LOAD_SAID, **changes}), status=1 if changes.get("failed") else 0)


FOUR: dict[str, Any] = {"requests": 4, "connections": 2}
TARGETS: dict[str, Target] = {
    "wrk": target(WRK, connections=10),
    "h2load": target(H2LOAD, {"protocol": "h2", "tls": "1.3"}, **FOUR),
    "ab": target(AB, {"tls": "1.2"}, **FOUR),
    "spdy-load": target(SPDY_LOAD, {"protocol": "spdy/3.1"}, **FOUR),
}
SOUND = {"wrk": of_wrk(), "h2load": of_h2load(), "ab": of_ab(), "spdy-load": of_spdy_load()}


def report(name: str, output: Output) -> LoadReport:
    made = GENERATORS[name].read(TARGETS[name], output).report
    assert made
    return made
