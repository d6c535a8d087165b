"""A bed with a link, to use by hand or from a script: lanelab bed."""

import contextlib
from collections.abc import Callable, Iterator

from lanelab.driver.api.beds import BedOptions
from lanelab.driver.base import paths
from lanelab.driver.base.programs.install import prepare
from lanelab.driver.base.programs.needs import BED, programs
from lanelab.driver.base.units import Rate
from lanelab.driver.bed.node import NODE_NAMES, Command, Process, Stdio, Terminal
from lanelab.driver.link import Link
from lanelab.driver.record.evidence.moving import LATE_US
from lanelab.driver.run.channel.client import Bed

__all__ = ["NODE_NAMES", "Bed", "Command", "Process", "Stdio", "Terminal", "hand_bed", "while_link_moves"]


@contextlib.contextmanager
def hand_bed(link: Link, options: BedOptions, tell: Callable[[str], None]) -> Iterator[Bed]:
    """A bed with that link; leaving it ends the bed. tell: hears where the link is faster than the router is known to
    carry. Raises InputError where such a bed cannot have it."""
    options.require([link])
    prepare(options.needs(programs(*BED)))
    with paths.bed_folder() as folder, Bed(options.settings(folder)) as bed:
        bed.set_link(link)
        _warn_above_proven(link, bed, tell)
        yield bed


def _warn_above_proven(link: Link, bed: Bed, tell: Callable[[str], None]) -> None:
    fastest = max((way.rate.bps for way in (link.down, link.up) if way.rate), default=0)
    if fastest > bed.info.proven_bps:
        proven = Rate(bed.info.proven_bps)
        tell(
            f"the router '{bed.info.router}' is known to carry {proven} exactly, and this link has {Rate(fastest)}: "
            "'lanelab link test' with the same options tells whether it does here"
        )


def while_link_moves(link: Link, bed: Bed, work: Callable[[], int], tell: Callable[[str], None]) -> int:
    """Do some work while the link does what it does by itself, and return its outcome. tell: hears what of that did not
    come about as it should."""
    if not (link.moves or link.cross):
        return work()
    bed.begin_link()
    outcome = work()
    ended = bed.end_link()
    if ended.worst_late_us > LATE_US:
        late_ms = ended.worst_late_us / 1000
        tell(f"a step of the link's trace came {late_ms:.0f} ms late, since this machine is busy: measure again")
    if ended.flows_ended:
        tell(f"{ended.flows_ended} of {link.cross.flows} flows of cross traffic ended before the command did")
    return outcome
