"""False alarms of the verdicts: sound trials over several links and arms, and what speaks against them by name."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from lanelab.analysis.results.model import Run, Trial
from lanelab.analysis.results.refusals import refusals
from lanelab.driver.base import paths
from lanelab.driver.record.reasons import OF_THE_MACHINE
from tools.bench.figures import Figure
from tools.bench.trials import Options, play

# What a machine does that has other work to do. These flags are right there; all else is a false alarm.
BUSY = OF_THE_MACHINE
SOUND = """\
sites: [dummy]
links:
  - {{rate: 10mbit, rtt: 20ms, queue: 1000p}}
  - {{rate: 10mbit, rtt: 100ms, queue: 1000p}}
  - {{rate: 20mbit, rtt: 50ms}}
  - {{rate: 8mbit, rate_up: 2mbit, rtt: 60ms, loss: 1%}}
arms:
  http: {{}}
  no keepalive: {{keepalive: false}}
  https: {{tls: 1.3, dns: resolver}}
  h2: {{tls: 1.3, protocol: h2}}
  nginx: {{server: nginx}}
  nginx h2: {{server: nginx, tls: 1.2, protocol: h2}}
  warm: {{start: warm}}
  pipelined: {{pipelining: 4}}
  spdy: {{protocol: spdy/3.1}}
  gateway h2: {{protocol: h2, via: gateway, tls: 1.3}}
trials: {trials}
retries: 0
seed: 1
"""
RECORDED = """\
sites: [iana, apache-manual, debian-handbook]
links:
  - {{rate: 10mbit, rtt: 40ms, queue: 1000p}}
  - {{rate: 20mbit, rate_up: 5mbit, rtt: 80ms}}
arms:
  h1: {{}}
  https: {{tls: 1.3}}
  h2: {{tls: 1.3, protocol: h2}}
  spdy: {{tls: 1.2, protocol: spdy/3.1}}
  gateway h2: {{protocol: h2, via: gateway}}
  h3: {{server: caddy, tls: 1.3, protocol: h3}}
trials: {trials}
retries: 0
seed: 2
"""
EXPERIMENTS = (("the dummy page", SOUND, 40), ("three recorded sites", RECORDED, 36))  # the last: how many cells


def measure_verdicts(options: Options, *, trials: int, tell: Callable[[str], None]) -> list[Figure]:
    """Measure false alarms. `trials`: at least so many of each of the two experiments, in each cell as many as in the
    others."""
    figures = []
    for name, text, cells in EXPERIMENTS:
        each = -(-trials // cells)
        tell(f"{name}: {each * cells} sound trials of {cells} cells, {each} each")
        folder = paths.build_folder() / "bench" / f"verdicts-{name.replace(' ', '-')}"
        folder.parent.mkdir(parents=True, exist_ok=True)
        run = play(options, folder, text.format(trials=each), "--accept-links", "--allow-missing")
        figures += [replace(one, what=f"{name}: {one.what}") for one in (*_false_alarms(run), *_busy(run))]
    return figures


def _false_alarms(run: Run) -> list[Figure]:
    refused = Counter(str(failure.reason) for trial in run.trials for failure in trial.failures)
    flagged = Counter(str(flag.name) for trial in run.trials for flag in trial.flags if flag.name not in BUSY)
    cells = Counter(refusal.reason for list_of_refusals in refusals(run).values() for refusal in list_of_refusals)
    figures = [_figure("trials refused", len([each for each in run.trials if not each.ok]), len(run.trials))]
    figures += [_figure(f"trials refused as {name}", count, len(run.trials)) for name, count in refused.most_common()]
    figures += [_figure(f"trials flagged {name}", count, len(run.trials)) for name, count in flagged.most_common()]
    figures += [_figure(f"cells refused as {name}", count, len(run.cells)) for name, count in cells.most_common()]
    return figures


def _busy(run: Run) -> list[Figure]:
    """Return how many trials met a machine that was too busy for any trial to be sound."""
    busy = [trial for trial in run.trials if _was_busy(trial)]
    refused = [trial for trial in busy if not trial.ok]
    text = f"{len(busy)} of {len(run.trials)}, of which {len(refused)} were refused"
    return [Figure("trials flagged for a busy machine", text, "", None, ())]


def _was_busy(trial: Trial) -> bool:
    return any(flag.name in BUSY for flag in trial.flags)


def _figure(what: str, count: int, of: int) -> Figure:
    return Figure(what, f"{count} of {of}", "0", count == 0, (float(count),))
