"""k6 with lanelab's transports: users who load pages. docs/reference/load-generator.md says what its numbers are."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.coded import JsonObject
from lanelab.driver.base.errors import InputError, RecordError
from lanelab.driver.trial.load_settings import RATE_UNIT_S, SCRIPTS, LoadSettings, Stage
from lanelab.driver.trial.server_load.first_packets import KEYS
from lanelab.driver.trial.server_load.generator import OF_USERS, Generator, Invocation, Output, Results, Target
from lanelab.driver.trial.server_load.generators.k6_lines import read_lines
from lanelab.driver.trial.server_load.object_load import accepted, last_words

NAME = "k6"
PROGRAM = "lanelab-k6"
PROTOCOLS = ("http/1.1", "h2", "h3", "spdy/2", "spdy/3", "spdy/3.1")
FIGURES, LOG, SETTINGS, MAIN, SCRIPT = "load.jsonl", "k6.log", "load.json", "main.js", "script.js"
SCENARIOS = "scenarios.js"
SUMMARY = "handle-summary.json"
SOURCES = Path(__file__).parent.parent / "scripts"
FINE = (0, 99, None)  # 99: thresholds that a user's script has of its own were crossed; the load is whole
MOST_LACKING_S = 1.0  # of a trial's time, before it is one that was stopped
SHOWN_LOG_BYTES = 2000
MOST_USERS, CONNECTIONS = "most_users", "connections"  # parameters that are not for the script alone
FRESH, KEPT = "fresh", "kept"
WAIT_FOR, HANDSHAKE, TCP = "requests_wait_for", "handshake", "tcp"  # of a new connection of HTTP/1.1 with TLS
USERS_AT_ONCE = 2000  # in the open model, where nothing else is said
PATIENCE_S = 10.0  # likewise: so long, or four times the limit, may a page take before arrivals are dropped
FILES_BESIDE = 64  # of the generator, which are no connections


class K6Generator(Generator):
    name = NAME
    keys = OF_USERS
    has_users = True
    program = process = PROGRAM
    built = True
    needs: tuple[str, ...] = ()
    results: tuple[str, ...] = (FIGURES, LOG, SUMMARY, KEYS)
    threads = 1 << 10  # it takes what there is

    def check(self, settings: LoadSettings, arm: Arm) -> None:
        """Raises InputError where it cannot do this."""
        if arm.protocol not in PROTOCOLS:
            what = f"{NAME} speaks {', '.join(PROTOCOLS)}, and the arm {arm.name!r} has {arm.protocol}"
            raise InputError(what, "Write another protocol", key="protocol")
        if any(stage.target != round(stage.target) for stage in settings.users):
            raise InputError("there are only whole users", "Write a whole number", key="users")
        parameters = dict(settings.parameters)
        for name, known in ((CONNECTIONS, (KEPT, FRESH)), (WAIT_FOR, (HANDSHAKE, TCP))):
            if parameters.get(name, known[0]) not in known:
                what = f"{parameters[name][:60]!r} says nothing of {name}"
                raise InputError(what, f"Write {' or '.join(known)}", key="parameters")
        if WAIT_FOR in parameters and arm.protocol != "http/1.1":
            what = f"{WAIT_FOR} is of HTTP/1.1 with TLS, and the arm {arm.name!r} has {arm.protocol}"
            raise InputError(what, "Write an experiment of its own for such arms", key="parameters")
        most = parameters.get(MOST_USERS, "1")
        if not (most.isdecimal() and 1 <= int(most) <= 100_000):
            raise InputError(f"{most[:60]!r} is no number of users", "Write 1 to 100000", key="parameters")

    def invocation(self, target: Target) -> Invocation:
        """Return how k6 is started. It reads nothing but lanelab's own scripts."""
        ours = target.settings.script in SCRIPTS
        script = (SOURCES / f"{target.settings.script}.js").read_bytes() if ours else target.script
        argv = [
            target.program, "run", "--quiet", "--no-color", "--no-usage-report", "--address=",
            # What k6 sums up by itself stays in memory, number by number.
            *(("--summary-mode=disabled", "--no-thresholds") if ours else ()),
            f"--log-output=file={LOG},level={'error' if ours else 'info'}",
            f"--out=lab={FIGURES}",
            MAIN,
        ]  # fmt: skip
        environment = {
            "LANELAB_LOAD": SETTINGS,
            "K6_NO_USAGE_REPORT": "true",
            "K6_WEB_DASHBOARD": "false",
            "K6_AUTO_EXTENSION_RESOLUTION": "false",
        }
        files = {
            MAIN: main_script(target).encode(),
            SCRIPT: script,
            SCENARIOS: (SOURCES / SCENARIOS).read_bytes(),
            SETTINGS: settings_file(target).encode(),
        }
        # With the environment that `run` has.
        inspect = [target.program, "inspect", "--include-system-env-vars", "--no-color", "--log-format=raw", MAIN]
        return Invocation(argv, environment, files, [] if ours else inspect)

    def read(self, target: Target, output: Output) -> Results:
        """Read the output. Of a generator that died, the lines until then are of use."""
        if FIGURES not in output.files:
            return Results(None, {}, _why(output))
        lines = read_lines(output.files[FIGURES])
        report = lines.report
        if report is None:
            return Results(None, lines.series, _why(output), lines.began)
        if report.requests.begun and lines.began is None:
            raise RecordError("in the generator's figures, there is no beginning", "Run the trial again", key=FIGURES)
        if any(each and each.ended_after_warm_up is None for each in (report.requests, report.pages)):
            what = "in the generator's figures, ended_after_warm_up is missing"
            raise RecordError(what, "Run the trial again", key=FIGURES)
        if output.status not in FINE and not report.stopped:
            return Results(None, lines.series, _why(output), lines.began)
        least = target.settings.duration_s - target.settings.warm_up_s - MOST_LACKING_S
        if not report.stopped and report.seconds < least:
            report = replace(report, stopped=f"it ended after {report.seconds:.1f} s of {target.settings.duration_s:g}")
        return Results(report, lines.series, "", lines.began, lines.datagrams)


def main_script(target: Target) -> str:
    """Return what k6 runs: the script on our transport, with the options of the experiment file over its own."""
    settings = target.settings
    multiplexed = target.arm.protocol != "http/1.1"
    usual = {
        "batch": max(20, len(target.urls)),
        "batchPerHost": 0 if multiplexed else target.arm.connections_per_host,
        "discardResponseBodies": settings.script in SCRIPTS,
        "userAgent": target.arm.user_agent or "lanelab",
    }
    if settings.script in SCRIPTS:
        usual["systemTags"] = ["scenario"]  # the others cost time, and nobody reads them
    ours = {"noVUConnectionReuse": False, "noConnectionReuse": False}
    return f"""\
// Written by lanelab: {SCRIPT} as the experiment file says.
import lab from 'k6/x/lab';
import * as script from './{SCRIPT}';
import {{ divided, functionsOf }} from './{SCENARIOS}';

export * from './{SCRIPT}';

const usual = {_js(usual)};
const ours = {_js(ours)};
const load = {_js(scenario(settings))};

// How many users there are, and for how long, is the experiment file's to say. The script's scenarios share them.
const {{ scenarios, stages, vus, duration, iterations, ...own }} = script.options || {{}};
const functions = functionsOf(script, scenarios);
// Dropped arrivals are told apart by this tag.
if (Array.isArray(own.systemTags)) own.systemTags = [...new Set([...own.systemTags, 'scenario'])];
// k6 reads the options of the first instance alone: users need none.
export const options = {{ ...usual, ...own, ...ours, scenarios: __VU ? {{}} : divided(load, scenarios) }};

export function setup() {{
  lab.connect();
  return script.setup ? script.setup() : undefined;
}}

export function teardown(data) {{
  lab.over();
  return script.teardown ? script.teardown(data) : undefined;
}}

export default function (data) {{
  return script[functions[lab.begin()]](data);
}}

export function handleSummary(data) {{
  const made = script.handleSummary ? script.handleSummary(data) : null;
  return made ? {{ '{SUMMARY}': JSON.stringify(made, null, 1) }} : {{}};
}}
"""


def scenario(settings: LoadSettings) -> JsonObject:
    """Users or arrivals as k6 has them. At the end nobody is waited for."""
    if settings.users:
        return {
            "executor": "ramping-vus",
            "startVUs": round(settings.users[0].target),
            "stages": _stages(settings.users[1:], 1),
            "gracefulStop": "0s",
            "gracefulRampDown": _duration(settings.request_timeout_s),
        }
    whole = all(stage.target == round(stage.target) for stage in settings.arrivals)
    unit = 1 if whole else RATE_UNIT_S
    users = most_at_once(settings)
    return {
        "executor": "ramping-arrival-rate",
        "startRate": round(settings.arrivals[0].target * unit),
        "timeUnit": f"{unit}s",
        "stages": _stages(settings.arrivals[1:], unit),
        "preAllocatedVUs": users,
        "maxVUs": users,
        "gracefulStop": "0s",
    }


def most_at_once(settings: LoadSettings) -> int:
    """Users who may be there at the same time."""
    if settings.users:
        return round(settings.most_users)
    most = dict(settings.parameters).get(MOST_USERS)
    if most:
        return int(most)
    rate = max(stage.target for stage in settings.arrivals)
    return max(1, min(USERS_AT_ONCE, math.ceil(rate * max(PATIENCE_S, 4 * settings.limit_ms / 1000))))


def files_and_ports_needed(settings: LoadSettings, arm: Arm) -> tuple[int, int]:
    """Return how many open files and ports a trial takes at most: a connection has one of each."""
    if settings.has_users:
        each = 1 if arm.protocol != "http/1.1" else arm.connections_per_host
        connections = each * most_at_once(settings)
    else:
        connections = settings.connections
    return connections + FILES_BESIDE, connections


def settings_file(target: Target) -> str:
    """Return what our transports are told."""
    settings, arm = target.settings, target.arm
    encoding = accepted(arm)
    usual = FRESH if settings.open_model and settings.script == "page" else KEPT
    settings_given = {
        "protocol": arm.protocol,
        "tls": arm.tls,
        "tls_resumption": arm.tls_resumption,
        "tls_key_share": arm.tls_key_share,
        "authority": target.authority,
        "address": target.address,
        "port": target.port,
        "connections": arm.connections_per_host,
        "wait_for_tcp": dict(settings.parameters).get(WAIT_FOR, HANDSHAKE) == TCP,
        "fresh": dict(settings.parameters).get(CONNECTIONS, usual) == FRESH,
        "stream_window": arm.stream_window,
        "urls": target.urls,
        "sizes": {} if encoding else _sizes(target),
        "headers": {"Accept-Encoding": encoding} if encoding else {},
        "think_s": settings.think_s,
        "parameters": dict(settings.parameters),
        "seed": target.seed & ((1 << 63) - 1),
        "warm_up_s": settings.warm_up_s,
        "duration_s": settings.duration_s,
        "request_timeout_s": settings.request_timeout_s,
        "key_log": KEYS if arm.protocol == "h3" else "",
        "arrivals": [stage.to_json() for stage in settings.arrivals],
    }
    return json.dumps(settings_given, indent=1) + "\n"


def _sizes(target: Target) -> Mapping[str, int]:
    pairs = zip(target.urls, target.body_sizes, strict=True)
    return {url: size for url, size in pairs if size is not None}


def _stages(stages: Sequence[Stage], unit: int) -> list[JsonObject]:
    return [{"target": round(stage.target * unit), "duration": _duration(stage.over_s)} for stage in stages]


def _duration(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


def _js(value: object) -> str:
    return json.dumps(value, indent=2)


def _why(output: Output) -> str:
    """k6 says it in its log."""
    log = output.files.get(LOG, b"")[-SHOWN_LOG_BYTES:].decode(errors="replace")
    return last_words(Output(output.status, output.stdout, f"{output.stderr}\n{log}", {}))
