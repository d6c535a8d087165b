"""The files of a study's artifact, from the folder of its run: everything that another lab needs to run the same."""

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.coded import Coded
from lanelab.driver.base.errors import StoreError
from lanelab.driver.base.paths import PROJECT
from lanelab.driver.run.folder import format as run_format
from lanelab.driver.run.served_sites import site_digest
from lanelab.driver.run.start import load_target
from lanelab.driver.run.study.archive import is_safe
from lanelab.driver.run.study.private import Private, copy_database, private_of
from lanelab.driver.run.study.read import parse_figure, read_text
from lanelab.driver.run.study.run_folder import COPIES
from lanelab.driver.run.study.study import STUDY_RUN_FILE, StudyRun
from lanelab.driver.site.load import site_folder

ARTIFACT_FORMAT = 1
ABOUT, APPENDIX, RUN, SITES, LOCKS, CLAIMS = "artifact.json", "ARTIFACT.md", "run", "sites", "locks", "claims.csv"
DIGESTS = "trials.sha256"  # of a figure's captures and logs, beside its database
LOCK_FILES = "requirements*.lock"


@dataclass(frozen=True, slots=True)
class ArtifactAbout(Coded):
    """The content of `artifact.json`."""

    format: int
    study: str
    variant: str
    lanelab: str
    sites: Mapping[str, str]  # digest by what an experiment calls the site: its name, or name/path
    captures: bool


def digests_of_sites(folder: Path, about: StudyRun) -> dict[str, str]:
    """Return the digest of each site that the study loads. StoreError where one is no longer what the run has
    loaded."""
    copies = folder / COPIES / about.study.name
    digests: dict[str, str] = {}
    files = {figure.number: figure for figure in about.study.figures}
    for each in about.figures:
        figure = files[each.figure]
        experiment = parse_figure(figure, read_text(copies / figure.file), copies, about.variant)
        then = _noted_digests(folder / each.folder)
        for target in experiment.sites:
            digest = digests.get(target) or site_digest(load_target(target))
            if then.get(target, digest) != digest:
                what = f"the site {target} is not what figure {each.figure} has loaded: it was changed since"
                raise StoreError(what, "Bring it back as it was, or run the study again")
            digests[target] = digest
    return digests


def _noted_digests(folder: Path) -> dict[str, str]:
    """Return the digests of the sites of a figure's run, as they were when it began; nothing where it has not begun."""
    path = folder / run_format.DATABASE
    if not path.is_file():
        return {}
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            (text,) = database.execute("SELECT value FROM meta WHERE key = 'sites'").fetchone()
            return {str(name): str(digest) for name, digest in json.loads(text).items()}
    except (sqlite3.Error, TypeError, ValueError, AttributeError) as error:
        raise StoreError(f"{path} does not say which sites it has loaded", "Copy the folder again") from error


def private_in(folder: Path, about: StudyRun, names: tuple[str, ...]) -> Private:
    """Return what of this run must not leave; `names`: of this machine."""
    facts: list[object] = [dict(about.bed)]
    machines = set(names)
    for each in about.figures:
        path = folder / each.folder / run_format.DATABASE
        if path.is_file():
            with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
                facts += [json.loads(text) for (text,) in database.execute("SELECT provenance FROM sessions")]
                machines |= {str(name) for (name,) in database.execute("SELECT name FROM machines")}
    return private_of(facts, (Path.home(), PROJECT, folder.resolve(), folder.resolve().parent), machines)


def stage_run(folder: Path, about: StudyRun, into: Path, private: Private, *, captures: bool) -> None:
    """Copy the run without what is private. Keys of its certificates and locks stay behind."""
    into.mkdir(parents=True)
    text = json.dumps({**about.to_json(), "bed": private.hide_facts(dict(about.bed))}, indent=1) + "\n"
    (into / STUDY_RUN_FILE).write_text(text)
    shutil.copytree(folder / COPIES, into / COPIES)
    for each in about.figures:
        source, copy = folder / each.folder, into / each.folder
        if not (source / run_format.DATABASE).is_file():
            continue
        copy.mkdir()
        copy_database(source / run_format.DATABASE, copy / run_format.DATABASE, private)
        shutil.copyfile(source / run_format.EXPERIMENT, copy / run_format.EXPERIMENT)
        if (source / run_format.REPORT).is_file():
            (copy / run_format.REPORT).write_text(private.hide_names((source / run_format.REPORT).read_text()))
        (copy / DIGESTS).write_text("".join(_artifact_lines(copy / run_format.DATABASE)))
        if captures:
            _copy_files(source, copy)


def _copy_files(original: Path, copy: Path) -> None:
    """Copy the files of every trial, without what a killed run has left beside them."""
    with closing(sqlite3.connect(f"{(copy / run_format.DATABASE).resolve().as_uri()}?mode=ro", uri=True)) as opened:
        for trial, name in opened.execute("SELECT trial, name FROM artifacts"):
            file = Path(run_format.ARTIFACTS) / f"{trial:06d}" / name
            (copy / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original / file, copy / file)


def _artifact_lines(database: Path) -> Iterator[str]:
    """Yield a line as sha256sum writes it for every file of every trial."""
    with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as opened:
        for trial, name, digest in opened.execute("SELECT trial, name, sha256 FROM artifacts ORDER BY trial, name"):
            yield f"{digest}  {run_format.ARTIFACTS}/{trial:06d}/{name}\n"


def site_files(name: str) -> dict[str, Path]:
    """Return everything that a site of the archive consists of, by its name in the artifact."""
    return files_below(site_folder(name), f"{SITES}/{name}")


def lock_files() -> dict[str, Path]:
    return {f"{LOCKS}/{path.name}": path for path in sorted(PROJECT.glob(LOCK_FILES))}


def files_below(folder: Path, name: str) -> dict[str, Path]:
    """Return plain files, by their names in the artifact. StoreError where a name is one that nobody should unpack."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink() or "__pycache__" in path.parts:
            continue
        inside = f"{name}/{path.relative_to(folder).as_posix()}"
        if not is_safe(inside):
            raise StoreError(
                f"the name of {path} cannot be in an artifact", "Rename the file: letters, digits, . _ + -"
            )
        files[inside] = path
    return files
