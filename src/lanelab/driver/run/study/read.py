"""Studies are read: study.yaml, and the experiment of each of its figures. Every error names file, line and key.

A study is known by the name of its folder in experiments/, or by the path of any folder that has study.yaml.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.errors import InputError
from lanelab.driver.base.settings.kinds import near_miss
from lanelab.driver.base.settings.source import Written, read_yaml
from lanelab.driver.experiment.keys import EXPERIMENT, read_name
from lanelab.driver.experiment.model import Experiment
from lanelab.driver.experiment.read import parse_experiment
from lanelab.driver.experiment.shipped import EXPERIMENTS, STUDY_FILE, studies
from lanelab.driver.experiment.variants import read_variants, variants_of
from lanelab.driver.run.study.keys import CLAIM, DIFFERENCE, FIGURE, STUDY
from lanelab.driver.run.study.sources import FigureFile, check_claims
from lanelab.driver.run.study.study import Difference, PublishedClaim, Study, StudyFigure
from lanelab.driver.site.load import site_names

EXAMPLE = "See an example: lanelab study new FOLDER"
_NUMBER = re.compile(r"[1-9][0-9]{0,3}")


@dataclass(frozen=True, slots=True)
class WrittenStudy:
    """A study with the places in its file that later errors are about."""

    study: Study
    files: Mapping[int, Written]  # of each figure
    claims: Mapping[int, Written]


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """A study with the texts of its experiments."""

    study: Study
    folder: Path
    texts: Mapping[int, str]  # by the figure's number
    checked: Mapping[tuple[int, str], Experiment]  # by the figure's number and the variant

    def experiments(self, variant: str) -> dict[int, Experiment]:
        """Return the experiment of each figure."""
        return {figure.number: self._experiment(figure, variant) for figure in self.study.figures}

    def _experiment(self, figure: StudyFigure, variant: str) -> Experiment:
        known = self.checked.get((figure.number, variant))
        return known or parse_figure(figure, self.texts[figure.number], self.folder, variant)


def is_here(name: str) -> bool:
    """Return whether there is a study of that name, in experiments/ or in the folder that one works in."""
    return name in studies() or (Path(name) / STUDY_FILE).is_file()


def read_study_folder(name: str) -> StudyFolder:
    """Read the study of that name, or in that folder, with its experiments, each of them checked in every variant."""
    folder = find_study(name)
    path = folder / STUDY_FILE
    return _checked(parse_study(read_text(path), str(path), _folder_name(folder)), folder)


def _checked(written: WrittenStudy, folder: Path) -> StudyFolder:
    """Return the study with its experiments."""
    study = written.study
    texts = {figure.number: _experiment_text(figure, folder, written.files[figure.number]) for figure in study.figures}
    files = []
    checked = {}
    for figure in study.figures:
        path = folder / figure.file
        root = read_yaml(texts[figure.number], str(path), EXAMPLE)
        entries = EXPERIMENT.entries(root)
        _check_variants(study, list(variants_of(entries)), entries.get("variants", root))
        for variant in study.variants or {"": ""}:
            checked[figure.number, variant] = parse_figure(figure, texts[figure.number], folder, variant)
        files.append(FigureFile(figure, entries["claims"].entries() if "claims" in entries else {}))
    check_claims(study, files, written.claims)
    return StudyFolder(study, folder, texts, checked)


def parse_figure(figure: StudyFigure, text: str, folder: Path, variant: str) -> Experiment:
    """Return the experiment of a figure in one variant; "" where the study has none."""
    experiment = parse_experiment(text, str(folder / figure.file), site_names(), variant or None)
    if experiment.journey:
        raise InputError("studies have no journeys", "Run the experiment alone", key=str(folder / figure.file))
    return experiment


def find_study(name: str) -> Path:
    """Return the folder of a study."""
    beside = Path(name)
    if (beside / STUDY_FILE).is_file():
        return beside
    if beside.name == STUDY_FILE and beside.is_file():
        return beside.parent
    known = studies()
    if name in known:
        return EXPERIMENTS / name
    if beside.is_dir():
        raise InputError(f"the folder {name} has no {STUDY_FILE}", "Write one: lanelab study new FOLDER")
    there = f"There are {', '.join(known)}, and" if known else "There is none, but"
    remedy = f"{near_miss(name, known)}{there} any folder with {STUDY_FILE} can be named"
    raise InputError(f"there is no study {name[:80]!r}", remedy)


def read_text(path: Path) -> str:
    """Return a file that a person wrote."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InputError("it is not UTF-8 text", "Save it as UTF-8", key=str(path)) from error
    except OSError as error:
        raise InputError(f"it cannot be read: {error.strerror}", "Check the file", key=str(path)) from error


def _folder_name(folder: Path) -> str:
    return read_name(folder.resolve().name, key=str(folder))


def _experiment_text(figure: StudyFigure, folder: Path, written: Written) -> str:
    path = folder / figure.file
    if not path.is_file():
        near = near_miss(figure.file, (each.name for each in folder.glob("*.yaml") if each.name != STUDY_FILE))
        what = f"there is no file {figure.file!r} in {folder}"
        raise written.error(what, f"{near}Write the experiment, or correct its name")
    return read_text(path)


# --- study.yaml


def parse_study(text: str, source: str, name: str) -> WrittenStudy:
    """Return what study.yaml says, by itself. `source` is what errors call the file."""
    root = read_yaml(text, source, EXAMPLE)
    entries = STUDY.entries(root)
    plain = STUDY.values_of(entries)
    figures, claims = _numbered(entries["figures"]), _numbered(entries["claims"])
    study = Study(
        name=name,
        title=plain["title"],
        source=plain["source"],
        description=plain["description"] or "",
        variants=read_variants(entries, lambda entry: entry.text().strip()),
        figures=tuple(_read_figures(figures)),
        claims=tuple(_read_claim(number, entry) for number, entry in claims.items()),
        differences=tuple(_read_differences(entries)),
    )
    return WrittenStudy(study, {number: entry.entries()["file"] for number, entry in figures.items()}, claims)


def _numbered(written: Written) -> dict[int, Written]:
    """Return the entries of a mapping of numbers, in the file's order."""
    by_number = {}
    for key, entry in written.entries().items():
        if not _NUMBER.fullmatch(key):
            raise entry.error(f"{key[:40]!r} is no number of one", "Write the number that it has in the work, like 1")
        by_number[int(key)] = entry
    if not by_number:
        raise written.error("there are none", "Write at least one")
    return by_number


def _read_figures(written: Mapping[int, Written]) -> list[StudyFigure]:
    figures: list[StudyFigure] = []
    for number, entry in written.items():
        keys = FIGURE.entries(entry)
        plain = FIGURE.values_of(keys)
        file = plain["file"]
        if Path(file).name != file or file in ("", ".", ".."):
            raise keys["file"].error(f"{file[:80]!r} is no name of a file", "Name a file in the study's folder")
        taken = next((one for one in figures if one.file == file), None)
        if taken:
            what = f"{file} is the experiment of figure {taken.number}, too"
            raise keys["file"].error(what, "Write a file for each figure")
        figures.append(StudyFigure(number, plain["title"], file, plain["caption"] or ""))
    return figures


def _read_claim(number: int, written: Written) -> PublishedClaim:
    if not written.is_mapping:
        return PublishedClaim(number, written.text().strip(), "")
    plain = CLAIM.values_of(CLAIM.entries(written))
    return PublishedClaim(number, plain["says"], plain["note"] or "")


def _read_differences(entries: Mapping[str, Written]) -> list[Difference]:
    if "differences" not in entries:
        return []
    every = (DIFFERENCE.values_of(DIFFERENCE.entries(one)) for one in entries["differences"].elements())
    return [Difference(**plain) for plain in every]


def _check_variants(study: Study, variants: Sequence[str], where: Written) -> None:
    if set(variants) == set(study.variants):
        return
    has = f"the experiment has {_listed(variants)}, and {STUDY_FILE} {_listed(list(study.variants))}"
    raise where.error(has, "Both must have the same variants: each variant of a study runs all of its figures")


def _listed(names: Sequence[str]) -> str:
    return f"the variants {', '.join(names)}" if names else "no variants"
