"""Experiments for tests: short texts, and arms for property tests."""

from collections.abc import Mapping

from hypothesis import settings
from hypothesis import strategies as st

from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment

PATIENT = settings(deadline=None)  # a busy machine is not a failure
SITES = ("dummy", "shop")
ARMS = "arms: {http: {}, h2: {protocol: h2, tls: 1.3}}\n"
SMALL = f"sites: dummy\nlinks: {{rate: 10mbit, rtt: [20ms, 100ms]}}\n{ARMS}"


def read(text: str) -> Experiment:
    return parse_experiment(text, "exp.yaml", SITES)


MPMS = {"event": 25, "worker": 25, "prefork": 1}


@st.composite
def arm_settings(draw: st.DrawFn) -> dict[str, object]:
    """Settings of an arm that can be, each present or not."""
    server = draw(st.sampled_from(["apache", "nginx"]))
    mpm = draw(st.sampled_from(sorted(MPMS))) if server == "apache" else None
    tls = draw(st.sampled_from(["off", "1.2", "1.3"]))
    settings: dict[str, object] = {"mpm": mpm, "tls": tls} if mpm else {"server": server, "tls": tls}
    if tls != "off":
        settings |= draw(optional({"tls_resumption": st.booleans(), "tls_certificate": st.just("rsa-2048")}))
        settings |= draw(optional({"compression": st.just("brotli")}))
    spdy = ["spdy/3.1", "spdy/3", "spdy/2"] if mpm else []
    if mpm != "prefork":
        settings |= draw(optional({"protocol": st.sampled_from(["h2", *spdy])}))
    if "protocol" not in settings:
        settings |= draw(optional({"connections_per_host": st.sampled_from([2, 6, 12])}))
    else:
        settings |= draw(optional({"coalescing": st.sampled_from(["address", "origin"])}))
    if "protocol" not in settings and draw(st.booleans()):
        settings["keepalive"] = False
    else:
        if "protocol" not in settings:
            settings |= draw(optional({"pipelining": st.integers(1, 8)}))
            if int(str(settings.get("pipelining", 1))) > 1:
                policies = ["firefox", "chromium"] if tls == "off" else ["firefox"]  # Chromium's is for clear HTTP
                settings |= draw(optional({"pipelining_policy": st.sampled_from(policies)}))
        timeouts = st.integers(1, 1_000_000).map(lambda ms: f"{ms}ms")
        settings |= draw(optional({"keepalive_timeout": timeouts}))
        if not str(settings.get("protocol")).startswith("spdy/"):
            settings |= draw(optional({"keepalive_requests": st.integers(0, 1000)}))
    if mpm is None:
        workers = {"worker_processes": st.sampled_from(["auto", 1, 8]), "worker_connections": st.integers(32, 4096)}
        settings |= draw(optional(workers))
    elif mpm != "prefork":
        threads = draw(st.integers(1, 100))
        settings |= {
            "threads_per_child": threads,
            "max_workers": threads * draw(st.integers(5, 40)),
            "start_servers": 5,
        }
    lines = ["Timeout 10", "H2Push off", "<Location />"] if mpm else ["sendfile on;", 'add_header X "y z";']
    texts = st.lists(st.sampled_from(lines), min_size=1, max_size=3)
    further = {
        "server_directives": texts,
        "browser_flags": st.lists(
            st.sampled_from(["--mute-audio", "--blink-settings=imagesEnabled=false"]), min_size=1, max_size=2
        ),
        "start": st.sampled_from(["fresh-process", "fresh-context", "warm"]),
        "display": st.sampled_from(["headless", "headful"]),
        "user_agent": st.sampled_from(["Mozilla/5.0 (X)", "default"]),
        "viewport": st.sampled_from(["412x823", "1920x1080"]),
        "via": st.sampled_from(["automatic", "gateway"]),
    }
    return settings | draw(optional(further))


def optional(choices: Mapping[str, st.SearchStrategy[object]]) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries({}, optional=dict(choices))
