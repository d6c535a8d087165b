"""lanelab site: archived websites, what is in them and how they come about. One file for each command below it."""

import click

from lanelab.driver.cli.lazy import LazyGroup

# A new command is a file here and its row in this table.
TABLE = {
    "list": (".list:list_sites", "List the archived sites: what an experiment can name."),
    "record": (
        ".record:record_site",
        "Load the page at URL in Chromium and make a site of all that its servers answered.",
    ),
    "import": (
        ".import_site:import_site",
        "Make a site of a recording: WARC, ARC, WACZ, HAR, HTTrack's, Mahimahi's, or plain files.",
    ),
    "wayback": (".wayback:wayback_site", "Make a site of the page URL as an archive of the web has it."),
    "show": (".show:show_site", "Tell what the site NAME consists of, and how faithful its replay is."),
    "skeleton": (".skeleton:skeleton_site", "Make a site that loads as SITE does, with other content."),
    "diff": (".diff:diff_sites", "Compare the sites OLD and NEW: objects that were added, removed or changed."),
    "fetch": (".fetch:fetch_sites", "Fetch the packages that have the files of SITE, and make the site."),
    "generate": (".generate:generate_site", "Make the site NAME from the file RECIPE, which says what it consists of."),
    "minify": (".minify:minify_site", "Tell what minify does to SITE: each effect of each filter, and sizes."),
    "remove": (".remove:remove_site", "Remove the site NAME from the archive, and what lanelab has made of it."),
    "verify": (".verify:verify_site", "Tell how faithful the replay of the site NAME is to its recording."),
}


@click.group("site", cls=LazyGroup, package=__package__, table=TABLE)
def group() -> None:
    """Archived websites: look at them, compare, verify and remove them; further commands make new ones."""
