"""lanelab study artifact: everything that another lab needs to run the same, in one archive."""

from pathlib import Path

import click

from lanelab.driver.api.artifacts import write_artifact
from lanelab.driver.api.study_run import open_study_run
from lanelab.driver.cli.completions import complete_study_run
from lanelab.driver.cli.output import note
from lanelab.driver.cli.study.report import tell_unwritten


@click.command("artifact")
@click.argument("name", metavar="RUN", shell_complete=complete_study_run)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The archive (default: STUDY-VARIANT-artifact.tar.gz)",
)
@click.option("--captures", is_flag=True, help="With the captures and logs of every trial, not only their digests")
def artifact(name: str, *, output: Path | None, captures: bool) -> None:
    """Pack a study's run as an artifact: one archive with everything that another lab needs to run the same.

    RUN is a folder, the name of a run in ./runs, the name of a study, or `latest`. The same run gives the same bytes.
    Names of this machine and folders of its user stay out.

    \b
    Examples:
      lanelab study artifact latest
      lanelab study artifact spdy-vs-http-2012 --output artifact.tar.gz --captures
    """
    run = open_study_run(name)
    packed = write_artifact(run.data, output, captures=captures)
    tell_unwritten(run.unwritten)
    note(f"written: {packed.file}, {packed.bytes / 1e6:.1f} MB, {packed.files} files")
