"""What to write into an experiment, so that a new arm loads the page of a trial without one of its hosts."""

from collections import Counter
from urllib.parse import urlsplit

import yaml

from lanelab.analysis.results.layout.markup import Html, el
from lanelab.analysis.results.layout.page import section_on_page
from lanelab.analysis.results.model import Run
from lanelab.driver.experiment.read import LONGEST_ARM_NAME
from lanelab.driver.page.language import many, say, text
from lanelab.driver.record.record import TrialRecord
from lanelab.driver.site.third_parties import BLOCK

ARMS = "arms"
LEAD = text("The lines for the experiment file. A run with both arms shows what the host costs.")


def block_section(run: Run, record: TrialRecord, arm: str) -> Html | None:
    """Return the lines for each host but the page's own; None where there is no other one."""
    hosts = [urlsplit(request.url).hostname or "" for request in record.requests]
    others = Counter(host for host in hosts if host and host != hosts[0])
    if not others:
        return None
    folds = [
        el(
            "details",
            el("summary", host, f" ({many(requests, '{n} request', '{n} requests')})"),
            el("pre", el("code", lines_of(run.experiment, arm, host)), tabindex=0),
        )
        for host, requests in others.most_common()
    ]
    return section_on_page("block", say("Block a host in a new arm"), el("p", say(LEAD), class_="note"), folds)


def lines_of(experiment: str, arm: str, host: str) -> str:
    """Return the arm as the experiment has it, under another name and without this host."""
    settings = _arm_in(experiment, arm)
    blocked = settings.get(BLOCK, [])
    hosts = [*(blocked if isinstance(blocked, list) else [blocked]), host]
    name = f"{arm} without {host}"[:LONGEST_ARM_NAME].rstrip()
    lines = {ARMS: {name: {**settings, BLOCK: hosts}}}
    return yaml.safe_dump(lines, sort_keys=False, allow_unicode=True)


def _arm_in(experiment: str, arm: str) -> dict[str, object]:
    """Return what is written of an arm; nothing where it is written in another way, as by a list of values."""
    try:
        written = yaml.safe_load(experiment)
    except yaml.YAMLError:
        return {}
    arms = written.get(ARMS) if isinstance(written, dict) else None
    settings = arms.get(arm) if isinstance(arms, dict) else None
    return dict(settings) if isinstance(settings, dict) else {}
