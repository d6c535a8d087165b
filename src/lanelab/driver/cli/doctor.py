"""lanelab doctor, completion."""

import platform
from typing import TypedDict

import click
from click.shell_completion import get_completion_class
from rich.text import Text

from lanelab.driver.api.examine_machine import BROWSER_START, administrators_command, examine
from lanelab.driver.base.coded import encoded
from lanelab.driver.base.errors import BedError
from lanelab.driver.base.programs import install, system_package
from lanelab.driver.base.programs.finding import Finding
from lanelab.driver.cli.common import json_option
from lanelab.driver.cli.completions import COMPLETE_VARIABLE
from lanelab.driver.cli.output import console, note, print_json, table

STYLES = {"ok": "green", "gap": "bold red", "note": "yellow"}


class DoctorJson(TypedDict):
    """What a machine can do: `able` where nothing stops a bed or the browser."""

    able: bool
    findings: list[Finding]


@click.command("doctor")
@json_option
def doctor(*, as_json: bool) -> None:
    """Tell what this machine can do: every gap with its remedy. Fails when no bed can be made or no browser started."""
    findings = examine()
    if as_json:
        whole: DoctorJson = {"able": all(finding.state != "gap" for finding in findings), "findings": findings}
        print_json(encoded(whole))
    else:
        console().print(table(("", "what", "found", "remedy"), (_finding_row(finding) for finding in findings)))
        if command := administrators_command():
            note(f"an administrator can install all that is missing, and no service, with: {command}")
            if package := system_package.hint(install.family(), platform.machine()):
                note(package)
    gaps = [finding.what for finding in findings if finding.state == "gap"]
    if gaps:
        what = "page can be loaded" if gaps == [BROWSER_START] else "bed can be made"
        raise BedError(f"no {what} here yet; to mend: {', '.join(gaps)}")


def _finding_row(finding: Finding) -> tuple[str | Text, ...]:
    return Text(finding.state, style=STYLES[finding.state]), finding.what, finding.found, finding.remedy


@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print what lets a shell complete commands, options and names: of runs and their trials, arms and cells, of
    sites, of studies and their figures and variants.

    \b
    bash  source <(./lanelab completion bash)             in ~/.bashrc to keep it
    zsh   source <(lanelab completion zsh)                in ~/.zshrc, after compinit
    fish  lanelab completion fish >~/.config/fish/completions/lanelab.fish

    zsh and fish ask the lanelab on the PATH; bash asks the one that is typed. The press of a key takes about 0.2 s. It
    installs nothing, and says nothing where something cannot be read.
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise BedError(f"there is no completion for {shell}")
    lanelab = click.get_current_context().find_root().command
    click.echo(kind(lanelab, {}, "lanelab", COMPLETE_VARIABLE).source())
