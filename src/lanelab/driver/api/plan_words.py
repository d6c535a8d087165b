"""What a plan says to a person, in lines."""

import math

from lanelab.driver.arm.quic_stacks import sending_of_all
from lanelab.driver.base.amounts import counted, minutes, size
from lanelab.driver.experiment.dimensions import words_of_scale
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.schedule.blocks import blocks
from lanelab.driver.experiment.schedule.estimate import Estimate, SpreadEstimate
from lanelab.driver.experiment.schedule.order import round_order
from lanelab.driver.run.built_programs import FirstBuild

PAIRS_SHOWN = 6
CELLS_SHOWN = 12  # of a round's order


def summary(experiment: Experiment, estimate: Estimate, first: FirstBuild) -> list[str]:
    repeat = experiment.repeat
    cells = counted(len(experiment.cells), "cell")
    if repeat.ci is None:
        trials = f"{cells} x {repeat.max} trials = {estimate.trials} trials"
        time, disk = minutes(estimate.seconds + first.seconds), size(estimate.disk_bytes)
    else:
        trials = (
            f"{cells} x {repeat.looks[0].trials} to {repeat.max} trials = {estimate.trials} to {estimate.most_trials}, "
            f"until each {repeat.of} is known to {repeat.ci}"
        )
        time = f"{minutes(estimate.seconds + first.seconds)} to {minutes(estimate.most_seconds + first.seconds)}"
        disk = f"{size(estimate.disk_bytes)} to {size(estimate.most_disk_bytes)}"
    links = counted(estimate.self_tests, "link")
    each = " on each bed" if estimate.most_beds > 1 else ""
    return [
        f"{experiment.name}: {trials}",
        *([_looks(experiment)] if repeat.ci else []),
        f"order: {_order(experiment)}",
        *([_variant(experiment)] if experiment.variant else []),
        *(_scale(experiment) if experiment.scale != 1 else []),
        *_comparisons(experiment),
        *_quic(experiment),
        *([_beds(experiment, estimate)] if estimate.most_beds > 1 else []),
        f"time:  about {time}, without failures (self-tests of {links}{each}{_build_words(first)} included)",
        f"disk:  about {disk}",
    ]


def _build_words(first: FirstBuild) -> str:
    return f", and {build_words(first)}," if first.seconds else ""


def build_words(first: FirstBuild) -> str:
    """Return what is built here before the first trial, and how long that takes."""
    return f"once {minutes(first.seconds)} to build {', '.join(first.programs)}"


def _order(experiment: Experiment) -> str:
    if experiment.order == "sequential":
        return "sequential: all trials of cell 1, then of cell 2, and so on"
    if experiment.seed is None:
        return f"{experiment.order}, from a new seed for each run"
    shown = order_of_round(experiment, 1)
    more = ", …" if len(shown) > CELLS_SHOWN else ""
    numbers = ", ".join(map(str, shown[:CELLS_SHOWN]))
    return f"{experiment.order}, seed {experiment.seed}; the first round is cells {numbers}{more}"


def _variant(experiment: Experiment) -> str:
    others = [name for name in experiment.variants if name != experiment.variant]
    return f"variant: {experiment.variant}" + (f", of {', '.join(experiment.variants)}" if others else "")


def _scale(experiment: Experiment) -> list[str]:
    claims = ["Claims are about the whole load, and are not tested."] if experiment.claims else []
    return [" ".join([words_of_scale(experiment.scale), *claims])]


def _looks(experiment: Experiment) -> str:
    """Say when the run may end, and how sure an interval has to be then."""
    each = [f"{look.trials} ({math.floor(1000 * (1 - look.alpha)) / 10:g}%)" for look in experiment.repeat.looks]
    return f"looks: after {', '.join(each)} trials of each cell, by intervals of that; all looks together hold 95%"


def _comparisons(experiment: Experiment) -> list[str]:
    """Return how many there are. What is compared with nothing is named."""
    pairs = experiment.pairs
    if experiment.order == "sequential":
        return ["compared: nothing, since arms are not interleaved"] if pairs.cells else []
    if not pairs.cells:
        return []
    bases = list(dict.fromkeys(base.arm.name for base, _ in pairs.cells))
    number = len(pairs.cells)
    words = f"compared: {counted(number, 'pair')} of cells, by round, with {', '.join(bases)}"
    left_out = pairs.left_out[:PAIRS_SHOWN]
    more = len(pairs.left_out) - len(left_out)
    return [words, *(f"  not compared: {one}" for one in left_out), *([f"  and {more} more"] if more else [])]


def _quic(experiment: Experiment) -> list[str]:
    """Say what is in the place of TCP's congestion control, which links have, where an arm speaks HTTP/3."""
    stacks = sending_of_all(experiment.arms)
    return [f"HTTP/3: {', '.join(stacks)}; a link's congestion_control is TCP's alone"] if stacks else []


def _beds(experiment: Experiment, estimate: Estimate) -> str:
    lengths = sorted(
        {last - first + 1 for first, last in blocks(experiment.repeat, experiment.beds)[: experiment.beds]}
    )
    rounds = "every round" if lengths == [1] else f"every {' or '.join(map(str, lengths))} rounds"
    number = str(estimate.beds) if estimate.beds == estimate.most_beds else f"{estimate.beds} to {estimate.most_beds}"
    return f"beds:  {number}, a fresh one for {rounds}"


def spread_words(spread: SpreadEstimate, estimate: Estimate) -> list[str]:
    """Return what it takes on several beds at once."""
    portions, time = str(spread.portions), minutes(spread.seconds)
    faster = f"{estimate.seconds / spread.seconds:.1f}"
    if spread.most_portions > spread.portions:
        portions, time = f"{portions} to {spread.most_portions}", f"{time} to {minutes(spread.most_seconds)}"
    words = f"on {spread.workers} beds at once, all as fast as one alone: {portions} portions, about {time}"
    return [f"{words}, {faster} times as fast"]


def order_of_round(experiment: Experiment, number: int) -> list[int]:
    """Return the numbers of the cells, in the order of that round."""
    of = {cell.id: place for place, cell in enumerate(experiment.cells, 1)}
    return [of[trial.cell.id] for trial in round_order(experiment, experiment.seed or 0, number)]
