"""lanelab study: published works that are reproduced. One file for each command below it."""

import click

from lanelab.driver.cli.lazy import LazyGroup

# A new command is a file here and its row in this table.
TABLE = {
    "list": (".list:list_studies", "List the studies in experiments/, with what they take."),
    "show": (".show:show_study", "Show what the study NAME claims, what checks it, and what its figures take."),
    "run": (".run:run_study", "Run the study NAME: each of its figures, one after the other."),
    "new": (".new:new_study", "Write a commented skeleton of a study into FOLDER, to be changed to a paper of yours."),
    "report": (
        ".report:report_study",
        "Write the report of a study's run: verdicts, each figure then and now, and methods.",
    ),
    "compare": (
        ".compare:compare_runs_of_study",
        "Two runs of one study side by side: two variants, two machines, two dates.",
    ),
    "matrix": (
        ".matrix:matrix",
        "Show all studies on one page: what each work said, and what of it holds.",
    ),
    "artifact": (
        ".artifact:artifact",
        "Pack a study's run as an artifact: all that another lab needs to run the same.",
    ),
    "check": (".check:check", "Run the study of an artifact on this machine, and compare."),
}


@click.group("study", cls=LazyGroup, package=__package__, table=TABLE)
def group() -> None:
    """Studies, each of which reproduces a published work: look at them, run them, say which claims hold."""
