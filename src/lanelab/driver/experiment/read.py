"""From the text of an experiment file to an Experiment. Every error names the file, the line and the key."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lanelab.driver.arm.arm import Arm
from lanelab.driver.arm.fields import ARM
from lanelab.driver.base.amounts import counted
from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.base.units import Duration
from lanelab.driver.experiment.cells import Combined, ObjectsOf, SitesWithPages, combine
from lanelab.driver.experiment.claim import Claim
from lanelab.driver.experiment.claims import About, read_claims, refuse_sequential
from lanelab.driver.experiment.compare import default_pairs, read_pairs
from lanelab.driver.experiment.fetch_keys import FetchCase, over_fetches, read_fetches, refuse_what_changes_nothing
from lanelab.driver.experiment.figures import default_figures, read_figures
from lanelab.driver.experiment.journey_scripts import read_journey_script
from lanelab.driver.experiment.journeys import USUAL_THINK, read_journey, refuse_what_is_of_one_load
from lanelab.driver.experiment.keys import EXPERIMENT, TOLERANCES, UNTIL, read_name
from lanelab.driver.experiment.load_keys import LoadCase, over_loads, read_loads, workload_of
from lanelab.driver.experiment.model import Experiment, Pairs, Repeat
from lanelab.driver.experiment.refusals import (
    refuse_control_of_tcp,
    refuse_links,
    refuse_one_address,
    refuse_other_workloads,
    require_patience,
    require_witnesses,
)
from lanelab.driver.experiment.shipped import STUDY_FILE, experiment_file
from lanelab.driver.experiment.variants import chosen_variant, error_in_variant, overlaid, variants_of
from lanelab.driver.record.metrics import FETCH, LOAD, OVER_LINK, PAGE_LOAD
from lanelab.driver.site.load import site_names
from lanelab.driver.trial.load_settings import PAGE
from lanelab.driver.trial.recorders.registry import RECORDERS
from lanelab.driver.trial.tolerances import Tolerances

LONGEST_ARM_NAME = 60
LONGEST_LOAD = Duration.parse("43200s")


def read_experiment(path: Path, variant: str | None = None) -> Experiment:
    """Return the experiment in that file, or of that name; of its variants that one, else the first."""
    if path.name == STUDY_FILE:
        what = "it describes a study, and is no experiment"
        raise InputError(what, f"Write lanelab study run {path.parent}, or name a file of one figure", key=str(path))
    path = experiment_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8 text", "Save it as UTF-8", key=str(path)) from error
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(what, "Name an experiment file, or write one: lanelab new FILE", key=str(path)) from error
    return parse_experiment(text, str(path), site_names(), variant)


def parse_experiment(text: str, source: str, sites: Collection[str], wanted: str | None = None) -> Experiment:
    """The experiment with that text; `sites` are the known ones, `source` is what errors call the file."""
    root = read_yaml(text, source, "See an example: lanelab new -")
    written = EXPERIMENT.entries(root)
    variant = chosen_variant(written, wanted)
    others = [name for name in variants_of(written) if name != variant]
    variants: dict[str, Experiment] = {}
    errors: dict[str, InputError] = {}
    for name in (variant, *others):  # a mistake in any is told before that one is wanted
        try:
            variants[name] = _parse(root, overlaid(written, name), text, source, sites, name)
        except InputError as error:
            errors[name] = error
    if errors:
        name, first = next(iter(errors.items()))
        in_all = others and not variants and len({str(each) for each in errors.values()}) == 1
        raise first if in_all or not name else error_in_variant(first, written["variants"], name)
    return variants[variant]


def _parse(
    root: Written, entries: dict[str, Written], text: str, source: str, sites: Collection[str], variant: str
) -> Experiment:
    plain = EXPERIMENT.values_of(entries)
    arms = _read_arms(entries, root)
    workload, loads, fetches = _read_workload(entries, arms)
    repeat = _read_repeat(entries, plain["trials"])
    combined = combine(entries, root, arms, _known_sites(sites, workload, loads))
    refuse_links(entries, combined.links, workload)
    combined = combined.with_cells(over_loads(combined.cells, loads)) if loads else combined
    combined = combined.with_cells(over_fetches(combined.cells, fetches)) if fetches else combined
    script, scripted = read_journey_script(entries, workload)
    journey = scripted or read_journey(entries, plain["think"] or USUAL_THINK, workload)
    if journey:
        combined = combined.with_cells(tuple(replace(cell, journey=journey, script=script) for cell in combined.cells))
    refuse_one_address(entries, combined.cells, workload)
    refuse_control_of_tcp(entries, combined.cells)
    pairs = _read_pairs(entries, combined, plain["order"], repeat)
    if "figures" in entries:
        figures = read_figures(entries["figures"], combined.cells, workload, {cell for _, cell in pairs.cells})
    else:
        figures = default_figures(combined.cells, workload)
    recorders = _read_recorders(entries, workload)
    if workload in OVER_LINK:
        require_witnesses(entries, arms, combined.links, recorders)
    if workload == PAGE_LOAD:
        require_patience(entries, arms, plain["timeout"])
    if journey:
        refuse_what_is_of_one_load(entries, arms, combined.sites, recorders, journey)
    claims = _read_claims(entries, About(combined.cells, workload, recorders), plain["order"])
    return Experiment(
        name=plain["name"] or _stem(source, root),
        description=plain["description"] or "",
        workload=workload,
        text=text,
        arms=arms,
        links=combined.links,
        sites=combined.sites,
        cells=combined.cells,
        pairs=pairs,
        repeat=repeat,
        beds=_read_beds(entries, plain["beds"], repeat),
        order=plain["order"],
        seed=plain["seed"],
        claims=claims,
        variant=variant,
        variants=tuple(variants_of(entries)),
        missing=plain["missing"],
        tolerances=_read_tolerances(entries),
        figures=figures,
        retries=plain["retries"],
        timeout=_read_timeout(entries, plain["timeout"], loads),
        recorders=recorders,
        journey=journey,
        script=script,
    )


def _read_claims(entries: Mapping[str, Written], about: About, order: str) -> tuple[Claim, ...]:
    claims = read_claims(entries["claims"], about) if "claims" in entries else ()
    if order == "sequential" and claims:
        refuse_sequential(claims, entries["claims"])
    return claims


def _read_workload(
    entries: Mapping[str, Written], arms: Sequence[Arm]
) -> tuple[str, tuple[LoadCase, ...], tuple[FetchCase, ...]]:
    """Return the workload, and its loads or its fetches; arms and keys of another workload are refused."""
    workload, keys = workload_of(entries.get("workload"))
    loads = read_loads(entries["workload"], keys) if workload == LOAD else ()
    refuse_other_workloads(entries, arms, workload)
    fetches = read_fetches(keys, arms) if workload == FETCH else ()
    if workload == FETCH:
        refuse_what_changes_nothing(entries, arms, fetches)
    return workload, loads, fetches


def _known_sites(sites: Collection[str], workload: str, loads: Sequence[LoadCase]) -> Collection[str]:
    """What may be asked for: pages, or what servers are asked for."""
    if workload in OVER_LINK:
        return SitesWithPages(sites)
    if any(case.settings.script == PAGE for case in loads):
        return sites
    return ObjectsOf(sites, pages=workload == LOAD)


def _read_timeout(entries: Mapping[str, Written], timeout: Duration, loads: Sequence[LoadCase]) -> Duration:
    """Return how long a trial may take. A load that takes its time gets that and what it is given besides."""
    longest_s = max((case.settings.duration_s for case in loads), default=0.0)
    whole = Duration(timeout.ns + round(longest_s * 1e9))
    if whole > LONGEST_LOAD:
        raise entries["workload"].error(f"the load takes {longest_s:g} s, more than {LONGEST_LOAD}", "Write less")
    return whole


def _stem(source: str, root: Written) -> str:
    stem = Path(source).stem
    try:
        return read_name(stem)
    except InputError:
        raise root.error(f"the file's name {stem[:64]!r} cannot name runs", "Write a name: key") from None


def _read_arms(entries: Mapping[str, Written], root: Written) -> tuple[Arm, ...]:
    if "arms" not in entries:
        raise root.error("there are no arms", "Write them, like arms: {http: {}, h2: {protocol: h2, tls: 1.3}}")
    defaults: dict[str, object] = {}
    shared: dict[str, Written] = {}
    if "defaults" in entries:
        shared = entries["defaults"].entries()
        defaults = {key: _value(key, entry) for key, entry in shared.items()}
        with entries["defaults"].placed(shared):
            for key, value in defaults.items():
                ARM.read(key, value)
    arms: dict[str, Arm] = {}
    for name, entry in entries["arms"].entries().items():
        arms[name] = _read_arm(name, entry, defaults, shared)
        for other in list(arms.values())[:-1]:
            if other.settings() == arms[name].settings():
                what = f"it differs in nothing from the arm {other.name!r}"
                raise entry.error(what, "Remove one of them, or change a setting; copy: 2 compares an arm with itself")
    if not arms:
        raise entries["arms"].error("there are no arms", "Write at least one, like http: {}")
    return tuple(arms.values())


def _read_arm(name: str, entry: Written, defaults: dict[str, object], shared: Mapping[str, Written]) -> Arm:
    if not name.isprintable() or name != name.strip() or "," in name or len(name) > LONGEST_ARM_NAME:
        raise entry.error("this cannot name an arm", f"Write up to {LONGEST_ARM_NAME} characters without a comma")
    settings = {} if entry.absent else entry.entries()
    written_here = {key: _value(key, one) for key, one in settings.items()}
    with entry.placed({**shared, **settings}):
        try:
            return Arm.parse(name, written_here, defaults)
        except InputError as error:
            if error.key in written_here or error.key not in defaults:
                raise
            # The line is that of defaults, which are right for other arms.
            raise InputError(f"{error.what} (arm {name!r})", error.remedy, key=error.key, place=error.place) from None


def _value(name: str, entry: Written) -> object:
    """Return a value as the kinds take it: a list where one is written, or a mapping where the setting takes one, else
    the text."""
    if entry.is_mapping and name in ARM and "object" in str(ARM[name].setting.schema.get("type")):
        return {name: _inside(one) for name, one in entry.entries().items()}
    return entry.texts() if entry.is_list else entry.text()


def _inside(entry: Written) -> str | dict[str, str]:
    """Return a value within a mapping: a text, or a mapping of texts."""
    if entry.is_mapping:
        return {name: one.text() for name, one in entry.entries().items()}
    return entry.text()


def _read_repeat(entries: Mapping[str, Written], trials: int) -> Repeat:
    if "until" not in entries:
        return Repeat(trials, None, trials, trials)
    if "trials" in entries:
        what = f"there is until on line {entries['until'].line} too: which of the two?"
        raise entries["trials"].error(what, "Leave one of them out")
    keys = UNTIL.entries(entries["until"])
    until = UNTIL.values_of(keys)
    if until["ci"] is None:
        raise entries["until"].error("it has no ci", "Write how narrow the interval must be, like ci: 2%")
    if until["min"] > until["max"]:
        where = keys.get("min") or keys["max"]
        raise where.error(f"min {until['min']} is above max {until['max']}", "Write a min below max")
    return Repeat(None, until["ci"], until["min"], until["max"], until["of"])


def _read_pairs(entries: Mapping[str, Written], combined: Combined, order: str, repeat: Repeat) -> Pairs:
    """Return what is compared. Arms that are not interleaved cannot be: what changes with time would look like a change
    by them."""
    pairs = read_pairs(entries["compare"], combined.cells) if "compare" in entries else default_pairs(combined.cells)
    if order == "sequential" and "compare" in entries:
        what = "with order: sequential arms are not interleaved, so they cannot be compared"
        raise entries["compare"].error(what, "Leave compare out, or write order: interleaved")
    if repeat.of == "change" and (order == "sequential" or not pairs.cells):
        what = (
            "with order: sequential there are none"
            if order == "sequential"
            else "no two cells differ in their arm only"
        )
        raise entries["until"].error(f"of: change asks for comparisons, and {what}", "Write of: median")
    return pairs


def _read_beds(entries: Mapping[str, Written], beds: int, repeat: Repeat) -> int:
    if beds > repeat.min:
        raise entries["beds"].error(*_too_many_beds(beds, repeat))
    return beds


def over_beds(experiment: Experiment, beds: int, key: str = "beds") -> Experiment:
    """Return the experiment over another number of beds than it says itself."""
    if beds > experiment.repeat.min:
        raise InputError(*_too_many_beds(beds, experiment.repeat), key=key)
    return replace(experiment, beds=beds)


def over_trials(experiment: Experiment, trials: int) -> Experiment:
    """Return the experiment with that many trials in each cell, on at most as many beds."""
    repeat = Repeat(trials, None, trials, trials)
    return replace(experiment, repeat=repeat, beds=min(experiment.beds, trials))


def _too_many_beds(beds: int, repeat: Repeat) -> tuple[str, str]:
    return (
        f"{beds} beds cannot share {counted(repeat.min, 'round')}",
        f"Write at most {repeat.min} beds, or ask for more trials",
    )


def _read_tolerances(entries: Mapping[str, Written]) -> Tolerances:
    if "tolerances" not in entries:
        return Tolerances()
    return Tolerances(**TOLERANCES.values_of(TOLERANCES.entries(entries["tolerances"])))


def _read_recorders(entries: Mapping[str, Written], workload: str) -> dict[str, Coded]:
    options: dict[str, Coded] = {}
    for name, recorder in RECORDERS.items():
        read = recorder.read(entries.get(name))
        if read is not None and workload in recorder.workloads:
            options[name] = read
    return options
