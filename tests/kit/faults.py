"""Set-ups that are broken on purpose after everything was found to be in order, each with the name under which the
trial's own evidence has to find it. docs/reference/faults.md is made of them."""

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lanelab.driver.base.paths import PROJECT
from tests.kit.bench import Bench, Wanted
from tests.kit.stopping import stop_beside

LINK = {"rate": "10mbit", "rtt": "40ms", "queue": "1000p"}
ADVERTISING = "third-parties"
SERVER_FOLDER = "/run/lanelab-trials/server"
PAGE = PROJECT / "docs" / "reference" / "faults.md"
TABLE = "| what is broken | found as | by |\n| --- | --- | --- |\n"
Spoil = Callable[[Bench], None]


@dataclass(frozen=True)
class Fault:
    """`asked` is what the trial is judged by; `made` differs from it in what is written there."""

    name: str
    found_as: tuple[str, ...]  # any of these is the right name, of a reason or a flag
    evidence: str
    arm: Mapping[str, Any] = field(default_factory=dict)
    link: Mapping[str, str] = field(default_factory=dict)
    made_arm: Mapping[str, Any] = field(default_factory=dict)
    made_link: Mapping[str, str] = field(default_factory=dict)
    before: Spoil = lambda _bench: None  # ahead of the trial's server, and `spoil` when all is ready for the load
    spoil: Spoil = lambda _bench: None
    undo: tuple[tuple[str, str], ...] = ()  # node, command
    asked_without: str = ""
    made_without: str = ""
    quick: bool = False  # in the usual tests too
    site: str = "dummy"
    both_ends: bool = False

    @property
    def asked(self) -> Wanted:
        return Wanted(self.arm, {**LINK, **self.link}, self.asked_without, self.site, self.both_ends)

    @property
    def made(self) -> Wanted:
        arm, link = {**self.arm, **self.made_arm}, {**LINK, **self.link, **self.made_link}
        return Wanted(arm, link, self.made_without, self.site)

    @property
    def row(self) -> str:
        names = ", ".join(f"`{name}`" for name in self.found_as)
        return f"| {self.name} | {names} | {self.evidence} |\n"


def on(node: str, text: str) -> Spoil:
    """Done before the load."""

    def spoil(bench: Bench) -> None:
        bench.run(node, text)

    return spoil


def beside(node: str, text: str) -> Spoil:
    """Goes on beside the load."""
    return lambda bench: bench.start(node, text)


def paused(which: str, pause_s: float, after_s: float = 0.0) -> Spoil:
    """Processes of the server node of which `which` is true ($p is their folder in /proc) stand still for a while."""
    find = (
        f'for p in /proc/[0-9]*; do [ "$p" != "/proc/$$" ] && {which} && echo "${{p#/proc/}}"; done 2>/dev/null; true'
    )

    def pause(bench: Bench) -> None:
        numbers = " ".join(bench.run("server", find).split())
        assert numbers, which
        if not after_s:
            bench.run("server", f"kill -STOP {numbers}")
        bench.start("server", f"sleep {after_s}; kill -STOP {numbers}; sleep {pause_s}; kill -CONT {numbers}")

    return pause


def stopped(name: str, pause_s: float, *, times: int = 1, argument: str = "") -> Spoil:
    """Programs of the bed stand still in the middle of the load."""
    return lambda bench: stop_beside(bench, name, pause_s, times=times, argument=argument)


def meanwhile(spoilt: str, sound: str, device: str = "to_client", *, word: str = "change") -> Spoil:
    """A queue of the link is spoilt when the load is under way, and soon sound again."""
    set_it = f"tc qdisc {word} dev {device} root"

    def spoil(bench: Bench) -> None:
        sent = int(bench.run("router", f"cat {SENT}"))  # before the load begins, however late the other command does
        bench.start("router", f"until={sent + 60000}; {UNDER_WAY}; {set_it} {spoilt}; sleep 0.3; {set_it} {sound}")

    return spoil


def make_extension(_bench: Bench) -> None:
    """Of a browser: it fetches three of the page's images again."""
    EXTENSION.mkdir(exist_ok=True)
    EXTENSION.chmod(0o755)
    script = {"matches": ["<all_urls>"], "js": ["again.js"], "run_at": "document_end"}
    manifest = {"manifest_version": 3, "name": "again", "version": "1", "content_scripts": [script]}
    (EXTENSION / "manifest.json").write_text(json.dumps(manifest))
    images = [f"/images/{number}.png" for number in ("01", "02", "03")]
    (EXTENSION / "again.js").write_text(f"for (const each of {images}) fetch(each, {{cache: 'no-store'}});")


def flow(bench: Bench) -> None:
    """300 kB beside the page."""
    bench.start("server", LISTEN)
    bench.start("client", "sleep 0.3; " + SPEAK.format(port=5001, says='b"x"'))


TIMESTAMPS = "/proc/sys/net/ipv4/tcp_timestamps"


def timestamps_come_back(bench: Bench) -> None:
    """The server's are off when the page's first connections open, and on again before anything is read back."""
    bench.run("server", f"echo 0 > {TIMESTAMPS}")
    bench.start("server", f"sleep 0.4; echo 1 > {TIMESTAMPS}")


TC, CAPTURE = "`tc` as read back after the load", "the capture"
BOTH = f"{CAPTURE}, and {TC}"
SENT = "/sys/class/net/to_client/statistics/tx_bytes"
UNDER_WAY = f"for n in $(seq 200); do read -r bytes <{SENT}; [ $bytes -gt $until ] && break; sleep 0.03; done"
FILES_CHANGED = "when the server's kernel last saw files change, read back"
POOLED = "the captures of a cell's trials together"
SPEAK = (
    'python3 -c \'import socket; s = socket.create_connection(("10.10.2.2", {port}));'
    " s.sendall({says}); n = 1\nwhile n: n = len(s.recv(65536))'"
)
LISTEN = (
    'python3 -c \'import socket; l = socket.create_server(("10.10.2.2", 5001)); l.settimeout(20);'
    ' c, _ = l.accept(); c.sendall(b"z" * 300000); c.close()\''
)
ASK = 'b"GET /elsewhere HTTP/1.1\\r\\nHost: HOST\\r\\nConnection: close\\r\\n\\r\\n"'
HOG = "for n in $(seq 1 $(($(nproc) * 3))); do timeout 15 sh -c 'while :; do :; done' & done; wait"
CHANGE = """
for file in $(find {folder}/sites -type f -size +100k); do
    printf x | dd of="$file" bs=1 seek=100000 conv=notrunc 2>/dev/null
done
"""
OF_CAPTURE = '[ "$(cat "$p/comm")" = tcpdump ] && [ "$(readlink "$p/ns/net")" = "$(readlink /proc/self/ns/net)" ]'
REPLACE = """
file=$(find {folder}/sites -type f -name '*.png' | head -n 1)
cp -p "$file" {folder}/other
printf x | dd of={folder}/other bs=1 seek=1000 conv=notrunc 2>/dev/null
touch -d 2019-01-01 {folder}/other
mv {folder}/other "$file"
"""
OF_APACHE = f'[ "$(readlink "$p/cwd")" = "{SERVER_FOLDER}/apache" ]'
SHORTEN = (
    "file=$(find {folder}/sites -type f -name '*.jpg' -o -type f -name '*.png' | head -n 1); truncate -s -1 \"$file\""
)
RENEW = f"rm -rf {SERVER_FOLDER}/sites"
TLS = {"tls": "1.3"}
EXTENSION = Path(tempfile.gettempdir()) / f"lanelab-faults-{os.getpid()}"
EXTENDED = {"browser_flags": [f"--disable-extensions-except={EXTENSION}", f"--load-extension={EXTENSION}",
                              "--disable-features=DisableLoadExtensionCommandLineSwitch"]}  # fmt: skip

LINK_FAULTS = (
    Fault("rates of the two directions swapped", ("link-rate", "link-settings"), BOTH,
          link={"rate_down": "8mbit", "rate_up": "2mbit"}, made_link={"rate_down": "2mbit", "rate_up": "8mbit"}),
    Fault("rate too high", ("link-rate", "link-settings"), BOTH, made_link={"rate": "20mbit"}),
    Fault("rate too low", ("link-rate", "link-settings"), BOTH,
          spoil=on("router", "tc qdisc change dev queue_down root netem rate 5mbit limit 1000")),
    Fault("round trip too long", ("link-rtt", "link-settings"), BOTH, made_link={"rtt": "100ms"}, quick=True),
    Fault("round trip too short", ("link-rtt", "link-settings"), BOTH, made_link={"rtt": "20ms"}),
    Fault("delay on one side only", ("link-settings", "link-delay"), TC,
          made_link={"rtt": "40ms", "delay_down": "39ms", "delay_up": "1ms"}),
    Fault("loss that nobody asked for", ("link-settings", "link-loss"), f"{TC}; over the trials of a cell the capture",
          spoil=on("router", "tc qdisc change dev to_client root netem limit 1458 delay 19850us loss 2%")),
    Fault("loss missing", ("link-settings", "link-loss"), f"{TC}; over the trials of a cell the capture",
          link={"loss_down": "2%"}, made_link={"loss_down": "0%"}),
    Fault("queue too short", ("link-settings",), TC, made_link={"queue": "20p"}),
    Fault("queue too long", ("link-queue",), "captures at both ends", both_ends=True,
          link={"queue": "10p"}, made_link={"queue": "1000p"}),
    Fault("another discipline of the queue", ("link-settings",), TC, made_link={"discipline": "fq_codel"}),
    Fault("jitter that nobody asked for", ("link-settings",), TC, made_link={"jitter": "3ms"}),
    Fault("packets doubled", ("link-settings",), TC, made_link={"duplicate": "5%"}),
    Fault("packets out of order", ("link-settings",), TC, made_link={"reorder": "5%"}),
    Fault("MTU wrong", ("link-mtu", "link-settings"), f"{CAPTURE} (MSS), and interfaces as read back",
          made_link={"mtu": "1400"}),
    Fault("congestion control wrong", ("link-settings",), "routes as read back",
          made_link={"congestion_control": "reno"}),
    Fault("initial window wrong", ("initial-window", "link-settings"),
          f"{CAPTURE} (first flight), and routes as read back",
          spoil=on("server", "ip route change 10.10.0.0/16 via 10.10.2.1 dev eth0 congctl cubic initcwnd 40")),
    Fault("acknowledgements not delayed", ("link-settings",), "routes as read back",
          made_link={"delayed_ack_client": "false"}),
    Fault("TCP without timestamps", ("tcp-options", "link-settings"), f"{CAPTURE}, and `/proc/sys` as read back",
          made_link={"timestamps_client": "false"}),
    Fault("TCP without timestamps, but only until the page loads", ("tcp-options",), CAPTURE,
          spoil=timestamps_come_back, quick=True, undo=(("server", f"echo 1 > {TIMESTAMPS}"),)),
    Fault("no tail loss probe", ("link-settings",), "`/proc/sys` as read back",
          made_link={"tail_loss_probe_server": "false"}),
    Fault("segmentation offload left on", ("settings-changed",), "`ethtool` as read back",
          spoil=on("server", "ethtool -K eth0 tx on tso on gso on"),
          undo=(("server", "ethtool -K eth0 tx off tso off gso off"),)),
    Fault("receive offload left on", ("settings-changed",), "`ethtool` as read back",
          spoil=on("client", "ethtool -K eth0 gro on"), quick=True, undo=(("client", "ethtool -K eth0 gro off"),)),
    Fault("kernel's TCP set otherwise", ("settings-changed",), "`/proc/sys` as read back",
          spoil=on("server", "echo 0 > /proc/sys/net/ipv4/tcp_autocorking"),
          undo=(("server", "echo 1 > /proc/sys/net/ipv4/tcp_autocorking"),)),
)  # fmt: skip

ARM_FAULTS = (
    Fault("protocol downgraded", ("protocol-fallback",), "browser, server's log",
          arm={**TLS, "protocol": "h2"}, made_arm={"protocol": "http/1.1"}),
    Fault("TLS of another version", ("tls-fallback",), "browser, server's log, ServerHello",
          arm=TLS, made_arm={"tls": "1.2"}),
    Fault("sessions resumed", ("resumption-ignored",), "server's log, ServerHello",
          arm={**TLS, "tls_resumption": False}, made_arm={"tls_resumption": True}),
    Fault("keepalive off at the server", ("keepalive-ignored",), "server's log",
          made_arm={"keepalive": False}, quick=True),
    Fault("keepalive off at the server (nginx)", ("keepalive-ignored",), "server's log",
          arm={"server": "nginx"}, made_arm={"keepalive": False}),
    Fault("a server that gives connections up after three requests", ("keepalive-ignored",), "server's log",
          made_arm={"keepalive_requests": 2}),
    Fault("keepalive on where it is to be off", ("keepalive-ignored",), "browser, server's log, capture",
          arm={"keepalive": False}, made_arm={"keepalive": True}),
    Fault("compression off", ("compression-ignored",), "response headers",
          arm={"compression": "gzip"}, made_arm={"compression": "off"}),
    Fault("compression on", ("compression-ignored",), "response headers",
          arm={"compression": "off"}, made_arm={"compression": "gzip"}),
    Fault("cache warm", ("from-cache",), "the browser", made_arm={"start": "warm"}),
    Fault("more connections than the arm has", ("connections-exceeded",), "gateway's log, capture",
          arm={"via": "gateway", "connections_per_host": 2}, made_arm={"connections_per_host": 6}),
    Fault("requests not sent ahead of answers", ("pipelining-ignored",), "gateway's log",
          arm={"pipelining": 4, "connections_per_host": 2}, made_arm={"pipelining": 1}),
    Fault("another version of SPDY", ("protocol-fallback",), "gateway's log, server's log, capture",
          arm={"protocol": "spdy/3.1"}, made_arm={"protocol": "spdy/2"}),
    Fault("a blocked host that is fetched", ("third-parties",), "browser, server's log",
          arm={"block": "*.ads.test"}, made_arm={"block": ()}, site=ADVERTISING),
    Fault("a dead host that answers", ("third-parties",), "browser, server's log, capture",
          arm={"unreachable": "tag.ads.test"}, made_arm={"unreachable": ()}, site=ADVERTISING),
    Fault("an answer that waits too little", ("third-parties",), "browser, server's log",
          arm={"answer_delay": {"tag.ads.test": "300ms"}}, made_arm={"answer_delay": {"tag.ads.test": "100ms"}},
          site=ADVERTISING, quick=True),
    Fault("an answer with another status", ("third-parties",), "browser, server's log",
          arm={"answer": {"tag.ads.test": 503}}, made_arm={"answer": {"tag.ads.test": 500}}, site=ADVERTISING),
)  # fmt: skip

CONTENT_FAULTS = (
    Fault("object changed, of the same size", ("content-changed",), FILES_CHANGED,
          spoil=on("server", CHANGE.format(folder=SERVER_FOLDER)), undo=(("server", RENEW),)),
    Fault("object replaced by one of the same size and with an older time", ("content-changed",), FILES_CHANGED,
          arm={"server": "nginx"}, spoil=on("server", REPLACE.format(folder=SERVER_FOLDER)), quick=True,
          undo=(("server", RENEW),)),
    Fault("a file more than the site has", ("content-changed",),
          FILES_CHANGED, arm={"server": "nginx"}, undo=(("server", RENEW),),
          spoil=on("server", f"for each in {SERVER_FOLDER}/sites/*/; do mkdir ${{each}}new; done")),
    Fault("object cut short", ("failed-object", "content-changed"), f"browser; {FILES_CHANGED}",
          arm={"server": "nginx"}, spoil=on("server", SHORTEN.format(folder=SERVER_FOLDER)), undo=(("server", RENEW),)),
    Fault("object missing", ("failed-object",), "browser", made_without=".png"),
    Fault("a request that the site does not have", ("extra-request",), "browser", asked_without=".png"),
    Fault("objects fetched twice", ("fetched-twice",), "the browser", made_arm=EXTENDED, before=make_extension,
          quick=True, undo=(("client", f"rm -rf {EXTENSION}"),)),
    Fault("a request by somebody else", ("wire-mismatch",), "server's log beside the browser's word",
          spoil=beside("client", SPEAK.format(port=80, says=ASK))),
    Fault("another flow on the link", ("cross-traffic",), CAPTURE,
          spoil=flow),
    Fault("packets to the outside", ("outside-request",), CAPTURE,
          spoil=beside("client", "ip route add 192.0.2.0/24 via 10.10.1.1; python3 -c 'import socket;"
                       ' socket.socket(2, 2).sendto(b"x", ("192.0.2.1", 9))\'; ip route del 192.0.2.0/24')),
)  # fmt: skip

MACHINE_FAULTS = (
    Fault("processors busy with something else", ("processors-contended",), "recorder `machine`",
          spoil=beside("client", HOG)),
    Fault("server stopped for 300 ms, with HTTP/2", ("program-stopped", "server-slow"), "recorder `machine`",
          arm={**TLS, "protocol": "h2"}, spoil=stopped("apache2", 0.3)),
    Fault("browser stopped for 400 ms", ("program-stopped",), "recorder `machine`", spoil=stopped("chrom", 0.4)),
    Fault("the page's own process stopped for 400 ms", ("program-stopped",), "recorder `machine`",
          spoil=stopped("chrom", 0.4, argument="--type=renderer"), quick=True),
    Fault("tcpdump stopped for 300 ms", ("program-stopped",), "recorder `machine`", spoil=stopped("tcpdump", 0.3)),
    Fault("server stopped for half a second", ("server-slow",), "server's log beside the capture",
          spoil=paused(OF_APACHE, 0.5, 0.25)),
    Fault("resolver slow", ("dns-slow",), CAPTURE, arm={"dns": "resolver"},
          spoil=paused('grep -q dnsmasq.conf "$p/cmdline"', 0.6)),
    Fault("a child of the server killed", ("server-error-log",), "server's error log",
          spoil=on("server", f"for p in /proc/[0-9]*; do {OF_APACHE} && last=${{p#/proc/}}; done; kill -SEGV $last")),
    Fault("capture ended in the middle of the load", ("capture-lost-packets",), "its process", quick=True,
          spoil=beside("client", f"sleep 0.5; for p in /proc/[0-9]*; do {OF_CAPTURE} && kill ${{p#/proc/}}; done")),
    Fault("server ended", ("server-failed",), "its process",
          spoil=on("server", f"for p in /proc/[0-9]*; do {OF_APACHE} && kill -9 ${{p#/proc/}}; done; true")),
)  # fmt: skip
# Seen in the trials of a cell together: each trial alone is too short to tell.
CELL_FAULTS = (
    Fault("a router that forwards nothing now and then", ("link-loss",), POOLED,
          spoil=beside("router", "for n in 1 2 3 4; do sleep 0.2; echo 0 > /proc/sys/net/ipv4/ip_forward; sleep 0.04;"
                       " echo 1 > /proc/sys/net/ipv4/ip_forward; done")),
)  # fmt: skip
SOUND, LOSSY = "netem limit 1458 delay 19850us", "netem limit 1458 delay 19850us loss random 10%"
SOUND_QUEUE = "netem limit 1000 rate 10mbit"
ANNOUNCED = "the router's kernel, which announces each change"
# As the link asks for before the load and after it.
MEANWHILE_FAULTS = (
    Fault("packets lost in the middle of the load", ("link-settings",), ANNOUNCED,
          spoil=meanwhile(LOSSY, f"{SOUND} loss 0%")),
    Fault("loss missing in the middle of the load", ("link-settings",), ANNOUNCED, link={"loss_down": "10%"},
          spoil=meanwhile(f"{SOUND} loss 0%", LOSSY)),
    Fault("delay shorter for 0.3 s", ("link-settings",), ANNOUNCED,
          spoil=meanwhile("netem limit 1458 delay 9850us", SOUND), quick=True),
    Fault("rate higher for 0.3 s", ("link-settings",), ANNOUNCED,
          spoil=meanwhile("netem limit 1000 rate 20mbit", SOUND_QUEUE, "queue_down")),
    Fault("another discipline for 0.3 s", ("link-settings",), ANNOUNCED,
          spoil=meanwhile("fq_codel", SOUND_QUEUE, "queue_down", word="replace")),
)  # fmt: skip
PINGS = "pings that the router answers late, and the time its process ran or waited"
ROUTER_FAULTS = (
    Fault("router stopped for a second", ("router-stopped",), PINGS, spoil=stopped("linux.uml", 1.0), quick=True),
    Fault("router stopped for 300 ms, twice", ("router-stopped",), PINGS, spoil=stopped("linux.uml", 0.3, times=2)),
    Fault("router stopped for 50 of 100 ms, eight times", ("router-stopped",), PINGS,
          spoil=stopped("linux.uml", 0.05, times=8)),
    Fault("router stopped for a second, with HTTP/2", ("router-stopped",), PINGS, arm={**TLS, "protocol": "h2"},
          spoil=stopped("linux.uml", 1.0)),
)  # fmt: skip
CLOCK = Fault("clock set during the load", ("clock-stepped",), "the wall clock beside the steady one")
FAULTS = (*LINK_FAULTS, *MEANWHILE_FAULTS, *ROUTER_FAULTS, *ARM_FAULTS, *CONTENT_FAULTS, *MACHINE_FAULTS)
ALL = (*FAULTS, *CELL_FAULTS, CLOCK)
