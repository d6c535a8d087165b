"""Makes the folders of studies' runs, by writing their format directly: for tests of what reads them."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from lanelab.analysis.results.claims.verdict import Effect, Interval, Judged, JudgedPlace, Verdict
from lanelab.driver.experiment.claim import Claim, Place, Point
from lanelab.driver.run.study.study import (
    STUDY_RUN_FILE,
    STUDY_RUN_FORMAT,
    Difference,
    FigureRun,
    PublishedClaim,
    Study,
    StudyFigure,
    StudyRun,
)
from tests.kit.changed_run import digest_all
from tests.kit.made_run import Made, make_run
from tests.kit.stored_run import stamp

PUBLISHED = {
    "source": "the made figure, read off with a ruler",
    "axis": 4000.0,
    "points": [["http", "20ms", 1600.0], ["http", "100ms", 2900.0], ["h2", "20ms", 1300.0], ["h2", "100ms", 1900.0]],
}


def study(figures: int = 2) -> Study:
    return Study(
        name="made-study",
        title="Made for tests",
        source="A. Author: On made things. Proceedings of the Made Workshop, 2012",
        description="Two figures of a work that never was.",
        variants={"period": "the software of 2012", "today": "today's"},
        figures=tuple(
            StudyFigure(number, f"Load times, part {number}", f"figure-{number}.yaml", f"The caption of {number}.")
            for number in range(1, figures + 1)
        ),
        claims=(
            PublishedClaim(1, "H2 makes pages faster", ""),
            PublishedClaim(2, "The gain grows with the round trip", "Only two round trips are known."),
            PublishedClaim(3, "Users are happier", "No user takes part."),
        ),
        differences=(Difference("browser", "Chromium 20", "Chromium 140", "Fewer connections at once."),),
    )


def claims(number: int) -> tuple[Claim, ...]:
    """Of a figure of the study, over the cells of `Made()`: http, http keepalive, https, h2 on each of two links."""
    places = tuple(
        Place(words, (Point(f"h2 against http, {words}", f"{cell:016x}", f"{cell - 3:016x}", None),))
        for cell, words in ((4, "rtt 20 ms"), (8, "rtt 100 ms"))
    )
    change = Claim(
        name=f"h2-faster-{number}", says="H2 is 33% faster at every round trip", source="made-study#1", kind="change",
        of="h2 against http", metric="plt_ms", over=None, published=(0.67,), margin="10pp", because="read off by eye",
        low=0.57, high=0.77, side=-1, at_least=0.01, equivalent=False, quantifier="every", exceptions=0, places=places,
    )  # fmt: skip
    value = Claim(
        name=f"connections-{number}", says="H2 uses one connection", source="made-study#1", kind="value",
        of="h2", metric="connections", over=None, published=(1.0,), margin="0", because="counts",
        low=1.0, high=1.0, side=0, at_least=0.01, equivalent=False, quantifier="one", exceptions=0,
        places=(Place("rtt 20 ms", (Point("h2, rtt 20 ms", f"{4:016x}", None, None),)),),
    )  # fmt: skip
    return change, value


def make_study_run(
    folder: Path,
    *,
    about: Study | None = None,
    begun: Sequence[int] | None = None,
    made: Callable[[int], Made] = lambda number: Made(),  # noqa: ARG005 - a figure's number
) -> Path:
    """The folder, with a run of each figure that has begun (None: all)."""
    about = about or study()
    folder.mkdir(parents=True)
    numbers = [figure.number for figure in about.figures]
    run = StudyRun(
        STUDY_RUN_FORMAT, about, next(iter(about.variants)), stamp(0), "0.1.0", 7, None, None, None,
        {"router": "auto", "pinned": {}}, tuple(FigureRun(number, f"figure-{number}", "0" * 64) for number in numbers),
    )  # fmt: skip
    (folder / STUDY_RUN_FILE).write_text(json.dumps(run.to_json(), indent=1))
    for number in numbers if begun is None else begun:
        what = made(number)
        what = replace(
            what,
            name=f"figure-{number}",
            variant=run.variant,
            claims=what.claims or claims(number),
            figures=[{**figure, "published": PUBLISHED} for figure in what.figures],
        )
        make_run(folder / f"figure-{number}", what)
    return folder


OF_STUDY = """\
sites: [dummy]
links: {rate: 10mbit, rtt: 20ms}
arms: {http: {protocol: http/1.1}, h2: {protocol: h2}}
variants: {period: {}, today: {}}
trials: 8
claims:
  faster: {says: H2 is faster, source: made-study#1, change: {of: h2, to: http}, expect: lower}
"""


def with_copies(run: Path, text: str = OF_STUDY) -> Path:
    """Give the run of a study the copies that a real one keeps: each figure's experiment has this text."""
    about = json.loads((run / STUDY_RUN_FILE).read_text())
    copies = run / "study" / about["study"]["name"]
    copies.mkdir(parents=True, exist_ok=True)
    for figure in about["study"]["figures"]:
        (copies / figure["file"]).write_text(text)
    for begun in about["figures"]:
        begun["experiment_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    (run / STUDY_RUN_FILE).write_text(json.dumps(about))
    return run


EXPERIMENT = """\
name: figure
sites: [dummy]
links: {rate: 10mbit, rtt: 20ms}
arms: {http: {protocol: http/1.1}, h2: {protocol: h2}}
trials: 8
"""


def make_packable_run(folder: Path, made: Callable[[int], Made], *, began: str = "") -> Path:
    """A run of one figure with the copies that a real run keeps, so that it can be packed as an artifact."""
    about = replace(study(1), variants={"": ""})
    place = with_copies(make_study_run(folder, about=about, made=made), EXPERIMENT)
    (place / "study" / about.name / "study.yaml").write_text("title: Made for tests\n")
    data = json.loads((place / STUDY_RUN_FILE).read_text())
    data["created_utc"] = began or data["created_utc"]
    (place / STUDY_RUN_FILE).write_text(json.dumps(data))
    with closing(sqlite3.connect(place / "figure-1" / "run.sqlite")) as database, database:
        database.execute("DELETE FROM meta WHERE key = 'sites'")
        database.execute("INSERT INTO meta VALUES ('sites', '{}')")
        digest_all(database)
    return place


def judged(claim: Claim, verdict: Verdict = Verdict.REPRODUCED, *, changed: bool = False) -> Judged:
    """What a judge might say of it: for tests of what shows verdicts, and not of judges."""
    middle = claim.published[0]
    around = Interval(middle * 0.97, middle * 1.03)
    effect = Effect(6, 3, True, middle * 1.01, around, Interval(middle * 0.95, middle * 1.05), 0.01, 0.001, 0.9, 0.8)
    places = tuple(JudgedPlace(place, verdict, "", effect, (4, 8, 9, 10), None) for place in claim.places)
    return Judged(claim, verdict, "", 0.012, places, "Slow start took most of it.", changed)
