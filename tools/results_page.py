"""The page of all studies, experiments/README.md: what each published work said, and what came out of the newest runs.

python -m tools.results_page RUN...     keeps what these runs gave, and writes the page again
python -m tools.results_page            writes the page of what is kept
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from lanelab.analysis.results.study.matrix import UNCHECKED, standing
from lanelab.driver.base.amounts import counted
from lanelab.driver.run.study.decisive import Decisive, decisive, difference
from lanelab.driver.run.study.read import StudyFolder, read_study_folder
from lanelab.driver.run.study.run_folder import sha256
from lanelab.driver.run.study.study import PublishedClaim, Study
from tools.kept_results import EXPERIMENTS, KeptCheck, KeptResults, all_results, keep, results_of

PAGE = EXPERIMENTS / "README.md"
NOT_KEPT = "not kept"
NO_RUN = "No result is kept: it was not run yet, or what came out is in its README alone."
USUAL = "as it is"  # the heading of a study without variants
BEGIN = """\
# Published works, and what came out

<!-- Made by python -m tools.results_page: change the studies instead, or keep the results of a run. -->

Each folder with a `study.yaml` repeats one published work, in the [period](../docs/reference/period.md)'s software
where it can be had, and in today's. This page has every statement of every work, and the verdict of the newest run
that is kept: **reproduced**, **direction only**, **not reproduced**, **inconclusive** ([what they
mean](../docs/reference/claims.md#verdicts)), with what was measured. A statement without a check says why in its
study. The README of a study says what differs from then, and explains what surprised.

`./lanelab study run NAME` makes such a run, and `./lanelab study matrix --out DIR` such a page of your own runs, with
each report beside it.
"""


def page_text(results: Sequence[KeptResults], folders: Sequence[StudyFolder]) -> str:
    """Return the page as it should be."""
    parts = [BEGIN, *_counts(results, [folder.study for folder in folders])]
    for folder in folders:
        parts.append(_of_study(folder, [each for each in results if each["study"] == folder.study.name]))
    return "\n".join(parts)


def known_studies(experiments: Path = EXPERIMENTS) -> list[StudyFolder]:
    return [read_study_folder(str(path.parent)) for path in sorted(experiments.glob("*/study.yaml"))]


def _counts(results: Sequence[KeptResults], studies: Sequence[Study]) -> Iterator[str]:
    """Yield one sentence for each variant: how many statements stand how."""
    for variant in dict.fromkeys(each["variant"] for each in results):
        standings = [
            standing(check["verdict"] for check in _checks_of(each, claim))
            for each in results
            if each["variant"] == variant
            for study in studies
            if study.name == each["study"]
            for claim in study.claims
        ]
        ordered = sorted(set(standings), key=lambda one: (-standings.count(one), one))
        words = ", ".join(f"{standings.count(one)} {one}" for one in ordered)
        yield f"**{variant or USUAL}**: {counted(len(standings), 'statement')}: {words}.\n"


def _of_study(folder: StudyFolder, results: Sequence[KeptResults]) -> str:
    study = folder.study
    variants = list(study.variants) or [""]
    by_variant = {each["variant"]: each for each in results}
    heads = ["no.", "statement", "published", *(variant or USUAL for variant in variants)]
    lines = [f"## [{study.title}]({study.name}/README.md)\n", _row(heads), _row(["---"] * len(heads))]
    for claim in study.claims:
        cells = [_cell(by_variant.get(variant), claim) for variant in variants]
        checks = {check["claim"]: check for each in results for check in _checks_of(each, claim)}
        published = [f"{_name(check, len(checks))}{check['published']}" for check in checks.values()]
        lines.append(_row([str(claim.number), claim.says, "<br>".join(published), *cells]))
    runs = [line for variant in variants if (kept := by_variant.get(variant)) for line in _runs(folder, kept)]
    return "\n".join([*lines, "", *(runs or [NO_RUN]), ""])


def _checks_of(kept: KeptResults | None, claim: PublishedClaim) -> list[KeptCheck]:
    of_claim = (claim.number, claim.says)
    return [check for check in kept["checks"] if (check["statement"], check["says"]) == of_claim] if kept else []


def _cell(kept: KeptResults | None, claim: PublishedClaim) -> str:
    if kept is None:
        return NOT_KEPT
    checks = _checks_of(kept, claim)
    if not checks:
        return UNCHECKED
    return "<br>".join(_verdict(check, len(checks)) for check in checks)


def _verdict(check: KeptCheck, of: int) -> str:
    needed = f"; {check['rounds_needed']} rounds would tell" if check["rounds_needed"] else ""
    return f"{_name(check, of)}**{check['verdict']}**, {check['measured']}{needed}"


def _name(check: KeptCheck, of: int) -> str:
    """Return what tells a check from the others of its statement."""
    return f"{check['claim']}: " if of > 1 else ""


def _runs(folder: StudyFolder, kept: KeptResults) -> Iterator[str]:
    """Yield a line for each run: which figures, when, how many trials, how long, and what it asked otherwise."""
    by_run: dict[str, list[str]] = {}
    for number, figure in kept["figures"].items():
        by_run.setdefault(figure["run"], []).append(number)
    for numbers in by_run.values():
        figures = [kept["figures"][number] for number in numbers]
        trials, flagged, minutes = (sum(each[key] for each in figures) for key in ("trials", "flagged", "minutes"))
        which = f"figure{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"
        day = min(each["begun_utc"] for each in figures)[:10]
        instead = f", with {figures[0]['trials_asked']} trials of each cell" if figures[0]["trials_asked"] else ""
        since = "".join(_since(folder, kept, numbers))
        yield (
            f"Run {kept['variant'] or USUAL}, {which}: {day}, {counted(trials, 'trial')} in {minutes} min{instead}, "
            f"{flagged} flagged.{since}\n"
        )


def _since(folder: StudyFolder, kept: KeptResults, numbers: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each way in which experiments were changed since these figures were run."""
    figures: dict[str, list[str]] = {}
    for number in numbers:
        if words := _change(folder, kept, number):
            figures.setdefault(words, []).append(number)
    for words, several in figures.items():
        yield f" Figure{'s' if len(several) > 1 else ''} {', '.join(several)}: {words}."


def _change(folder: StudyFolder, kept: KeptResults, number: str) -> str:
    """Say how a figure was run otherwise than its experiment asks for now; "" where it was not."""
    figure = kept["figures"][number]
    text = folder.texts.get(int(number))
    if text is None:
        return "the study does not have it any more"
    if sha256(text) == figure["experiment_sha256"]:
        return ""
    if "decisive" not in figure:
        return "the file was changed since, and nothing was kept that says whether in more than words"
    now = decisive(folder.experiments(kept["variant"])[int(number)])
    return difference(Decisive.from_json(figure["decisive"]), now)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"kept: {keep(results_of(Path(name))).relative_to(EXPERIMENTS)}")
    PAGE.write_text(page_text(all_results(), known_studies()), encoding="utf-8")
