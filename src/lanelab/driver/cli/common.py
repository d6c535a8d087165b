"""Options and arguments that many commands have, whatever they are about."""

import click

from lanelab.driver.cli.completions import complete_run

MOST_WORKERS = 1000

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a program to read")
run_argument = click.argument("name", metavar="RUN", shell_complete=complete_run)
