"""lanelab study list."""

import click

from lanelab.driver.base.amounts import from_to
from lanelab.driver.base.errors import LanelabError
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.output import console, note, print_json, table
from lanelab.driver.experiment.shipped import studies
from lanelab.driver.run.study.figures import chosen_variant
from lanelab.driver.run.study.read import read_study_folder
from lanelab.driver.run.study.study_progress import costs


@click.command("list")
@json_option
def list_studies(*, as_json: bool) -> None:
    """List the studies in experiments/, with what they take."""
    rows: list[tuple[str, ...]] = []
    listed: list[dict[str, object]] = []
    for name in studies():
        try:
            read = read_study_folder(name)
        except LanelabError as error:
            note(f"{name} cannot be read: {error}")
            listed.append({"name": name, "problem": str(error)})
            continue
        study, experiments = read.study, read.experiments(chosen_variant(read.study, None))
        estimates = costs(experiments).values()
        claims = sum(len(one.claims) for one in experiments.values())
        least, most = sum(one.seconds for one in estimates), sum(one.most_seconds for one in estimates)
        numbers = (str(len(study.figures)), str(len(study.claims)), str(claims))
        rows.append((name, study.title, *numbers, ", ".join(study.variants) or "-", from_to(least, most)))
        listed.append(
            {
                "name": name,
                "title": study.title,
                "figures": len(study.figures),
                "published_claims": len(study.claims),
                "claims": claims,
                "variants": dict(study.variants),
                "seconds": {"least": round(least, 1), "most": round(most, 1)},
                "problem": "",
            }
        )
    if as_json:
        print_json(listed)
        return
    columns = ("study", "title", "figures", "published claims", "claims checked", "variants", "time of one variant")
    console().print(table(columns, rows, right=columns[2:5]))
