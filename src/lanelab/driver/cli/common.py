"""Options and arguments that many commands have, whatever they are about."""

import click

MOST_WORKERS = 1000

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for a program to read")
run_argument = click.argument("name", metavar="RUN")
