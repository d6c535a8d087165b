"""lanelab verify: whether a run folder holds what was stored there."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from lanelab.analysis.results.run_folder import read_meta
from lanelab.analysis.results.runs import find_run
from lanelab.analysis.results.study.run import read_about
from lanelab.analysis.results.study.runs import find_study_run
from lanelab.analysis.results.verification import Verification
from lanelab.analysis.results.verification import verify as verified
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import EXIT_FAILED, InputError, LanelabError
from lanelab.driver.cli.common import json_option, run_argument
from lanelab.driver.cli.output import note, print_json
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.start import digests_now

MOST = 20


@click.command("verify")
@run_argument
@json_option
def verify(name: str, *, as_json: bool) -> None:
    """Compare a run folder with what was stored there: records, measures, verdicts, self-tests, files, experiment.

    RUN is a folder, the name of a run in ./runs, or `latest`; of a study's run, every figure is verified. Says what was
    compared, and whether the sites are still what the run loaded.

    Exit status: 0; 1 where something is not what was stored.

    \b
    Examples:
      lanelab verify latest
      lanelab verify runs/20261120T101500Z-quickstart --json
    """

    rows = [(folder, verified(folder), list(_sites(folder))) for folder in _folders(name)]
    if as_json:
        print_json([_json(one, sites) for _, one, sites in rows])
    else:
        for folder, one, sites in rows:
            note(f"{folder}:")
            for sentence in (*one.sentences(), *sites, *_verdict(one)):
                click.echo(f"  {sentence}")
    if any(one.wrong for _, one, _ in rows):
        sys.exit(EXIT_FAILED)


def _folders(name: str) -> list[Path]:
    """Return the folder of the run, or those of the figures of a study's run."""

    try:
        return [find_run(name)]
    except InputError as no_run:
        try:
            folder = find_study_run(name)
        except InputError:
            raise no_run from None
        figures = [folder / each.folder for each in read_about(folder).figures]
        return [figure for figure in figures if (figure / run_format.DATABASE).is_file()]


def _verdict(one: Verification) -> Iterator[str]:
    if not one.wrong:
        yield "nothing differs"
        return
    yield f"{counted(len(one.wrong), 'differs', 'differ')}:"
    yield from (f"  {what}" for what in one.wrong[:MOST])
    if len(one.wrong) > MOST:
        yield f"  and {len(one.wrong) - MOST} more (--json lists all)"


def _json(one: Verification, sites: list[str]) -> dict[str, object]:
    numbers = {key: getattr(one, key) for key in ("trials", "self_tests", "files", "bytes")}
    return {"folder": str(one.folder), **numbers, "experiment": one.experiment, "sites": sites, "wrong": one.wrong}


def _sites(folder: Path) -> Iterator[str]:
    """Yield whether each site of the archive is what the run loaded. It is no fault of the run where one is not."""

    meta = read_meta(folder)
    then = json.loads(meta.get("sites") or "{}")
    try:
        now = digests_now(folder, meta)
    except LanelabError as error:
        yield f"whether sites are still what the run loaded cannot be said: {error}"
        return
    same = sorted(name for name in then if now.get(name) == then[name])
    other = sorted(name for name in then if now.get(name) != then[name])
    if same:
        yield f"sites that are still what the run loaded: {', '.join(same)}"
    if other:
        yield f"sites that were changed since the run loaded them: {', '.join(other)}"
