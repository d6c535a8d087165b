"""Folders of studies for tests of what reads and runs them."""

from collections.abc import Mapping
from pathlib import Path

STUDY = """\
title: Made for tests
source: A. Author, Proceedings of the Made Workshop, 2012
variants: {period: the software of then, today: that of today}
figures:
  1: {file: one.yaml, title: The first figure}
  2: {file: two.yaml, title: The second figure, caption: without numbers}
claims:
  1: H2 is faster
  2: {says: Users are happier, note: no user takes part}
differences:
  - {what: browser, then: Chromium 20, now: Chromium 140, effect: fewer connections}
"""
EXPERIMENT = """\
sites: dummy
links: {{rtt: {rtt}}}
defaults: {{start: fresh-context}}
arms: {{http: {{}}, h2: {{tls: 1.3, protocol: h2}}}}
variants:
  period: {{links: {{initial_window: 3}}}}
  today: {{}}
trials: 2
capture: off
claims:
  {claim}:
    source: made#1
    change: {{of: h2, to: http}}
    expect: lower
"""


def texts(rtt: tuple[str, str] = ("20ms", "40ms")) -> dict[str, str]:
    """The files of a study with two figures."""
    return {
        "study.yaml": STUDY,
        "one.yaml": EXPERIMENT.format(rtt=rtt[0], claim="faster-near"),
        "two.yaml": EXPERIMENT.format(rtt=rtt[1], claim="faster-far"),
    }


def write_study(above: Path, files: Mapping[str, str] | None = None) -> Path:
    """The folder `made`."""
    folder = above / "made"
    folder.mkdir()
    for name, text in (texts() if files is None else files).items():
        (folder / name).write_text(text)
    return folder
