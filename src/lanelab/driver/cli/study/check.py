"""lanelab study check: runs the study of an artifact here, and compares."""

import sys
from pathlib import Path

import click

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.api.check_study import open_check
from lanelab.driver.api.session import Means
from lanelab.driver.api.studies import MOST_TRIALS
from lanelab.driver.base.errors import EXIT_FAILED, EXIT_INCOMPLETE, InputError
from lanelab.driver.base.settings.kinds import MOST_BEDS
from lanelab.driver.cli.bed_options import bed_options
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.interrupts import stopping
from lanelab.driver.cli.output import note
from lanelab.driver.cli.progress import watching
from lanelab.driver.cli.study.compare import show


@click.command("check")
@click.argument("archive", type=click.Path(path_type=Path))
@click.option("--figure", "figures", type=int, multiple=True, metavar="N", help="Only this one; may be given again")
@click.option(
    "--trials", type=click.IntRange(1, MOST_TRIALS), metavar="N", help="Of each cell, instead of what was run there"
)
@click.option(
    "--beds",
    type=click.IntRange(1, MOST_BEDS),
    metavar="N",
    help="Over how many fresh beds rounds are divided, likewise",
)
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the check (default: runs/check-ARCHIVE)")
@click.option(
    "--no-run",
    "there_already",
    metavar="RUN",
    shell_complete=complete_study_run,
    help="Run nothing: compare with this run of the study",
)
@click.option("--run-programs", is_flag=True, help="Run programs of the archive that make its sites: they are others'")
@click.option("--accept-links", is_flag=True, help="Go on where a link is out of tolerance; results then say so")
@bed_options
def check(  # noqa: PLR0913 - an option each
    archive: Path,
    figures: tuple[int, ...],
    trials: int | None,
    beds: int | None,
    out: Path | None,
    there_already: str | None,
    *,
    run_programs: bool,
    options: BedOptions,
) -> None:
    """Run the study of an artifact on this machine, and compare: each claim's verdict, and each cell's median.

    Verifies every file of ARCHIVE, runs its experiments with its sites, and writes the comparison to check.md in the
    folder of the check. The same command again goes on with a check that was stopped.

    Exit status: 0 where all verdicts agree, 3 where some differ, were not tested, are inconclusive in both or are
    missing, 2 for bad input, 1 for a failure or an archive that is damaged, 130 after Ctrl-C.

    \b
    Examples:
      lanelab study check spdy-vs-http-2012-period-artifact.tar.gz
      lanelab study check artifact.tar.gz --figure 4 --trials 6
      lanelab study check artifact.tar.gz --no-run latest
    """

    if there_already and (trials or beds or run_programs or not options.is_default):
        raise InputError("nothing is run", "Leave --trials, --beds and the options of beds out", key="--no-run")
    check = open_check(archive, out)
    note(f"every file of {archive} is as its digest says; unpacked into {check.unpacked.folder}")
    wanted = check.figures(figures)
    failed = False
    if not there_already:
        with watching(as_json=False) as tell, stopping() as stop:
            means = Means(tell, stop, command=sys.argv[1:])
            failed = check.run(wanted, options, means, trials=trials, beds=beds, run_programs=run_programs)
    agreement = check.compare(wanted, there_already)
    show(agreement)
    note(f"the comparison is {check.write(agreement)}")
    if failed:
        sys.exit(EXIT_FAILED)
    if not agreement.all_agree:
        sys.exit(EXIT_INCOMPLETE)
