"""What of a run is to be explained: all comparisons, one cell or arm, two arms, one trial."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lanelab.analysis.results import conditions, machine, tables
from lanelab.analysis.results.comparisons import NO_PAIRS, NOT_INTERLEAVED
from lanelab.analysis.results.explain.difference import Difference, explain_difference, explain_links
from lanelab.analysis.results.explain.load_time_parts import MadeOf, made_of, with_parts
from lanelab.analysis.results.explain.outliers import Outlier
from lanelab.analysis.results.explain.steps import RecordOf, StepDifference, explain_step
from lanelab.analysis.results.model import Cell, Run
from lanelab.analysis.results.named_cells import cells_named
from lanelab.analysis.results.refusals import refusals
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.errors import ArgumentError, InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.record.evidence.parts import Part, Parts

PartsOf = Callable[[int], Parts | None]  # of a trial, by its number


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanations that were asked for, in order."""

    cells: tuple[MadeOf, ...]
    differences: tuple[Difference, ...]
    links: tuple[str, ...]
    outliers: tuple[Outlier, ...]
    not_told: tuple[str, ...] = ()  # what cannot be explained, and why
    cautions: tuple[str, ...] = ()  # what keeps all of it from being believed
    steps: tuple[StepDifference, ...] = ()  # of two arms


def explain(run: Run, what: Sequence[str], parts_of: PartsOf, trial: int | None = None) -> Explained:
    """Explain a run. `what` is nothing for all comparisons, a cell or an arm, or two arms. InputError where no trial
    has parts, or where there is no such thing."""
    parts = made_of(run)
    if not parts:
        raise _no_parts(run, parts_of)
    if trial is not None:
        return Explained((), (), (), (_one_trial(run, parts, trial, parts_of),))
    cells, pairs = _asked_for(run, what)
    unknown = _unknown(run, parts, cells)
    known = [parts[cell.number] for cell in cells if cell.number not in unknown]
    differences, apart = _differences(
        run, parts, [pair for pair in pairs if not {one.number for one in pair} & {*unknown}]
    )
    return Explained(
        tuple(known) if len(what) < 2 else (),
        differences,
        tuple(_links(known)) if len(what) == 1 else (),
        _outliers(run, parts, [each.cell for each in known], parts_of),
        (*unknown.values(), *apart),
        tuple(cautions(run, cells)),
    )


def explain_steps(run: Run, what: Sequence[str], step: str, record_of: RecordOf) -> Explained:
    """Explain why a step of a journey is faster in one of two arms. InputError where there is no such thing."""
    if not run.steps:
        raise InputError("trials of this run load one page, and have no steps", "Leave the step out", key="step")
    if step not in run.steps:
        remedy = f"{near_miss(step, run.steps)}It has {', '.join(run.steps)}"
        raise ArgumentError(f"the run has no step {step!r}", remedy, key="step")
    if len(what) != 2:
        raise ArgumentError("a step is explained of two arms", "Name two arms and a step", key="step")
    if not run.ok:
        raise InputError("no journey of this run counts yet", "See `lanelab show` for why")
    cells, pairs = _asked_for(run, what)
    unknown = _refused(run, cells)
    if not run.plan.is_interleaved:
        return Explained((), (), (), (), (NOT_INTERLEAVED,), tuple(cautions(run, cells)))
    explained: list[StepDifference] = []
    apart = list(unknown.values())
    for base, other in pairs:
        if unknown.keys() & {base.number, other.number}:
            continue
        step_difference = explain_step(run, base, other, step, record_of)
        if step_difference:
            explained.append(step_difference)
        else:
            apart.append(f"{other} against {base.arm.name}, step {step}: {NO_PAIRS}.")
    return Explained((), (), (), (), tuple(apart), tuple(cautions(run, cells)), tuple(explained))


def _asked_for(run: Run, what: Sequence[str]) -> tuple[list[Cell], Sequence[tuple[Cell, Cell]]]:
    """Return the cells, and the pairs of them that are compared."""
    if not what:
        return list(run.cells), run.plan.compared
    if len(what) == 1:
        return cells_named(run, what[0], "arm"), ()
    base, other = (_arm(run, name, key) for name, key in zip(what, ("against", "arm"), strict=True))
    if base == other:
        raise InputError(f"{base} does not differ from itself", "Name two arms", key="against")
    same_place = [(one, two) for one in run.cells for two in run.cells if one.group == two.group]
    pairs = [(one, two) for one, two in same_place if (one.arm.name, two.arm.name) == (base, other)]
    if not pairs:
        raise InputError(f"no site and link has both {base} and {other}", "Name one of them alone", key="against")
    return [cell for pair in pairs for cell in pair], pairs


def _unknown(run: Run, parts: Mapping[int, MadeOf], cells: Iterable[Cell]) -> dict[int, str]:
    """Return by number why the load times of a cell are not explained."""
    every = list(cells)
    refused = _refused(run, every)
    without = [cell for cell in every if cell.number not in parts]
    known = {cell.number: f"{cell}: no trial of it counts and has parts." for cell in without} | refused
    return {cell.number: known[cell.number] for cell in every if cell.number in known}


def _refused(run: Run, cells: Iterable[Cell]) -> dict[int, str]:
    """Return by number why the numbers of a cell cannot be used."""
    refused = refusals(run)
    return {
        cell.number: f"{cell}: it is refused: {why[0].reason} ({why[0].detail})."
        for cell in cells
        if (why := refused.get(cell.number))
    }


def _differences(
    run: Run, parts: Mapping[int, MadeOf], pairs: Sequence[tuple[Cell, Cell]]
) -> tuple[tuple[Difference, ...], list[str]]:
    """Return the differences, and why some are left out."""
    if pairs and not run.plan.is_interleaved:
        return (), [NOT_INTERLEAVED]
    comparison_of = {(row.base_cell.number, row.cell.number): row.comparison for row in tables.comparisons(run)}
    differences, apart = [], []
    for base, other in pairs:
        swapped = (other.number, base.number) in comparison_of
        compared = comparison_of.get((other.number, base.number) if swapped else (base.number, other.number))
        difference = explain_difference(run, parts[base.number], parts[other.number], compared, is_swapped=swapped)
        if difference:
            differences.append(difference)
        else:
            apart.append(f"{other} against {base.arm.name}: {NO_PAIRS}.")
    return tuple(differences), apart


def _links(known: Sequence[MadeOf]) -> Iterator[str]:
    """Yield what grows from one link to the next, site by site."""
    for site in dict.fromkeys(each.cell.site for each in known):
        yield from explain_links([each for each in known if each.cell.site == site])


def _outliers(run: Run, parts: dict[int, MadeOf], cells: Iterable[Cell], parts_of: PartsOf) -> tuple[Outlier, ...]:
    numbers = {cell.number for cell in cells}
    far = [number for row in tables.rows(run) if row.cell.number in numbers for number in row.outliers]
    trials = {trial.number: trial for trial in with_parts(run.trials)}
    return tuple(
        Outlier(trials[number], parts[trials[number].cell.number], parts_of(number))
        for number in far
        if number in trials
    )


def _one_trial(run: Run, cells: dict[int, MadeOf], number: int, parts_of: PartsOf) -> Outlier:
    trial = next((one for one in run.trials if one.number == number), None)
    if trial is None:
        raise ArgumentError(f"the run has no trial {number}", f"Its trials are 1 to {len(run.trials)}", key="trial")
    parts = parts_of(number)
    if not with_parts([trial]):
        failed = ", ".join(each.reason for each in trial.failures)
        why = f"it failed ({failed})" if failed else (parts.absent if parts else None) or "that was not worked out"
        remedy = f"`lanelab show RUN --trial {number}` has all that is known of it"
        raise ArgumentError(f"trial {number} does not say what its load time was made of: {why}", remedy, key="trial")
    return Outlier(trial, cells[trial.cell.number], parts)


def _arm(run: Run, name: str, key: str) -> str:
    names = [arm.name for arm in run.arms]
    if name not in names:
        raise InputError(f"the run has no arm {name!r}", f"{near_miss(name, names)}It has {', '.join(names)}", key=key)
    return name


def _no_parts(run: Run, parts_of: PartsOf) -> InputError:
    if not run.ok:
        return InputError("no page load of this run counts yet", "See `lanelab show` for why")
    if run.steps:
        what = "trials of this run make a journey, and parts are those of one page load"
        return InputError(what, f"Name two arms and a step, as --step {run.steps[0]}")
    parts = parts_of(run.ok[0].number)
    why = (parts.absent if parts else None) or "it was made before they were worked out, or loaded no page"
    remedy = "Run it again with `capture: client`, which is the default"
    return InputError(f"no trial of this run says what its load time was made of: {why}", remedy)


def cautions(run: Run, cells: Iterable[Cell]) -> Iterator[str]:
    """Yield cautions about the run, and about these cells."""
    if run.state == "running":
        yield "The run is not finished: all of this is provisional."
    elif not run.is_finished:
        yield f"The run was not finished ({run.state}): all of this is provisional."
    trials = run.by_cell()
    for cell in {cell.number: cell for cell in cells}.values():
        late = sum(trial.timed_out for trial in trials[cell.number])
        if late:
            yield (
                f"{cell}: {counted(late, 'load')} timed out. They have no parts, so the numbers below are of the "
                "other loads, and are too short. `lanelab show` counts all loads."
            )
    if any(Part.REDUCED_WINDOW.measure not in trial.measures for trial in with_parts(run.trials)):
        yield "An older lanelab made this run: what it counts as slow start may be a window reduced by loss."
    yield from (f"{sentence.rstrip('.')}." for sentence in conditions.caveats(run))
    if flagged := machine.sentence(run):
        yield f"{flagged}."
