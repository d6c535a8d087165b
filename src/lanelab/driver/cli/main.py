"""The command line. Thin: reads options, calls, prints; every error ends here as one line."""

import os
import signal
import sys
import traceback

import click

from lanelab.driver.base import configuration, paths, userns
from lanelab.driver.base.errors import EXIT_BAD_INPUT, EXIT_FAILED, ArgumentError, LanelabError
from lanelab.driver.base.extras import extra_with
from lanelab.driver.base.version import VERSION
from lanelab.driver.cli import checkout_tools
from lanelab.driver.cli.completed import answer
from lanelab.driver.cli.completions import COMPLETE_VARIABLE

STATUS_OF_SIGNAL = 128


# A new command is a file in this folder and its row here, in the order in which one meets them.
TABLE = {
    "plan": (
        ".experiments:plan",
        "Show what an experiment FILE would do, without doing it: cells, order, time and disk.",
    ),
    "new": (".experiments:new", "Write a commented example to FILE (default: experiment.yaml), to be changed."),
    "run": (".runs:run", "Run an experiment: FILE says which sites, links and arms."),
    "worker": (".worker:worker", "Lend the beds of this machine to a run."),
    "runs": (".run_list:runs", "List the runs in a folder, of experiments and of studies, the newest last."),
    "show": (".show:show", "Show a run's results: medians with intervals, comparisons, failures."),
    "export": (".export:export", "Write a run for other programs: csv, json, parquet or har."),
    "report": (
        ".report:report",
        "Write the report of a run: one page with tables, charts, waterfalls and provenance.",
    ),
    "serve": (".serve:serve", "Show the runs in FOLDER (default: ./runs) in a browser, as they are made."),
    "lab": (".lab:group", "Labs for a class: predictions are fixed before the run, and judged by it."),
    "verify": (".verify:verify", "Compare a run folder with what was stored there."),
    "compare": (".compare:compare", "Whether runs agree: two machines, two dates."),
    "merge": (".merge:merge", "Make one run of several runs of equal experiments."),
    "explain": (
        ".explain:explain",
        "Say why load times are what they are: of what they are made, and where arms differ.",
    ),
    "claims": (".claims:claims", "Say which claims of its experiment a run reproduces, and why."),
    "packets": (".packets:packets", "The packets of a trial's requests, decrypted."),
    "link": (".link:group", "The emulated link: show it, test it, list the named ones."),
    "bed": (".beds:group", "A bed to use by hand: client, router and server with a link between them."),
    "hosts": (".hosts:group", "Machines of your own as client, router and server: check them, prepare them."),
    "site": (".site:group", "Archived websites: look at them, make new ones, compare, verify and remove them."),
    "sites": (".site.list:list_sites", "List the archived sites: what an experiment can name."),
    "study": (".study:group", "Studies, each of which reproduces a published work: show, run, judge them."),
    "vm": (".vm:group", "Three virtual machines with kernels of their own: client, router and server."),
    "image": (".image.commands:image", "Show how lanelab runs in a container, or write the files that it takes."),
    "docs": (".docs:docs", "Open the documentation in a browser: guide, labs and reference, with a search."),
    "doctor": (".doctor:doctor", "Tell what this machine can do: every gap with its remedy."),
    "setup": (".setup:setup", "Build lanelab's own programs now rather than when they are first needed."),
    **checkout_tools.TABLE,
    "completion": (".doctor:completion", "Print shell completion."),
}


def _cite(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from lanelab.driver.cli.citation import citation  # noqa: PLC0415 - other commands are quicker without

        click.echo(citation())
        context.exit()


@click.group(
    cls=checkout_tools.GroupWithTools,
    package=__package__,
    table=TABLE,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(VERSION, prog_name="lanelab", message="%(prog)s %(version)s")
@click.option(
    "--cite",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_cite,
    help="Show how to cite lanelab, as text and as BibTeX, and exit.",
)
def lanelab() -> None:
    """A controlled network testbed for page loads: real browser, real server, an emulated link, without root.

    \b
    Begin with:
      lanelab doctor                              what this machine can do
      lanelab run quickstart                      page loads over two links, four ways: medians and a report
      lanelab link test --rtt 100ms --rate 1mbit  a bed with that link, measured from inside
      lanelab bed shell                           a shell on the client of a bed
    """
    configuration.load()  # a mistake in the environment is reported before anything begins


def main() -> int:
    """The exit status: 0, 1 for a failure, 2 for bad input, or that of a command that was run on a node."""
    _open_what_is_closed()
    if COMPLETE_VARIABLE in os.environ:
        return answer()
    userns.go_on_in_profile()
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # as it is for a script's background jobs
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        lanelab.main(prog_name="lanelab", standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk can still be reported
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # click ends so when nobody reads any more
            return _nobody_reads()
        raise
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        return _nobody_reads()
    except (click.ClickException, click.Abort, KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - told in one line
        return _report(error)
    return 0


def _open_what_is_closed() -> None:
    """Open standard streams that the caller has closed, so that they lead nowhere. Else the next file to be opened
    takes their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, number)  # which children inherit
            if nowhere != number:
                os.close(nowhere)
            else:
                os.set_inheritable(number, True)
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _nobody_reads() -> int:
    _mute()
    return STATUS_OF_SIGNAL + signal.SIGPIPE


def _mute() -> None:
    """Python flushes what is left at its end, and complains when that cannot be."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123


def _report(error: BaseException) -> int:
    """Say in one line what went wrong; the exit status."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message(), err=True)
        return EXIT_BAD_INPUT
    if isinstance(error, click.ClickException):
        return fail(_click_message(error), EXIT_BAD_INPUT)
    if isinstance(error, ArgumentError):
        error.key = f"--{error.key.replace('_', '-')}"  # an option has the name of its argument
    if isinstance(error, LanelabError):
        return fail(str(error), error.exit_status)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return fail("interrupted", STATUS_OF_SIGNAL + signal.SIGINT)
    if isinstance(error, OSError):
        _mute()
        return fail(_os_message(error), EXIT_FAILED)
    return fail(_missing_extra(error) or _keep_trace(error), EXIT_FAILED)


def _missing_extra(error: BaseException) -> str | None:
    """Say which extra has the module that is missing, if that is the error."""
    if not isinstance(error, ModuleNotFoundError) or (extra := extra_with(error.name)) is None:
        return None
    command = " ".join(["lanelab", *(word for word in sys.argv[1:2] if word in TABLE)])
    remedy = f"Install the wheel that lanelab came from with its extra: 'lanelab-….whl[{extra}]'"
    return f"{command} needs {error.name}, which is not installed. {remedy}"


def fail(what: str, status: int) -> int:
    click.echo(click.style("lanelab: ", fg="red") + what, err=True)
    return status


def _click_message(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "lanelab"
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{message}{'' if message.endswith(('?', '?)')) else '.'} See: {command} --help"


def _os_message(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    return f"this machine refused: {error.strerror or error}{where}. Free some space or check the permissions"


def _keep_trace(error: BaseException) -> str:
    if configuration.current().shows_traces:
        traceback.print_exc()
    log = paths.build_folder() / "internal-error.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(traceback.format_exc())
    except OSError:
        return f"internal error: {error!r}. Set LANELAB_DEBUG=1 to see where"
    return f"internal error: {error!r}. Please report it with {log}"
