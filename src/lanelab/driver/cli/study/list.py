"""lanelab study list."""

import click

from lanelab.driver.api.study import StudyLine, UnreadableStudy, studies, study
from lanelab.driver.base.amounts import from_to
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table


@click.command("list")
@json_option
def list_studies(*, as_json: bool) -> None:
    """List the studies in experiments/, with what they take."""
    rows: list[tuple[str, ...]] = []
    listed: list[StudyLine | UnreadableStudy] = []
    for name in studies():
        try:
            each = study(name)
        except LanelabError as error:
            note(f"{name} cannot be read: {error}")
            listed.append({"name": name, "problem": str(error)})
            continue
        line = each.line()
        numbers = (str(line["figures"]), str(line["published_claims"]), str(line["claims"]))
        rows.append((name, line["title"], *numbers, ", ".join(line["variants"]) or "-", from_to(*each.seconds)))
        listed.append(line)
    if as_json:
        print_json(listed)
        return
    columns = ("study", "title", "figures", "published claims", "claims checked", "variants", "time of one variant")
    console().print(table(columns, rows, right=columns[2:5]))
