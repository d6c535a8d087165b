"""What of a study's folder still has the words of the skeleton: advice to its author, which no reader should get."""

from importlib import resources
from pathlib import Path

from lanelab.driver.experiment.shipped import STUDY_FILE
from lanelab.driver.run.study.read import parse_study, read_text
from lanelab.driver.run.study.run_folder import README
from lanelab.driver.run.study.study import Study

SKELETON = "skeleton"


def unwritten(folder: Path, study: Study) -> str:
    """Return a sentence that names it; "" where nothing is left. `folder`: of the study, or its copy in a run."""
    skeletons = {" ".join(part.split()) for part in _parts(folder / README)}
    sections = [title for title, words in _sections(study.name) if words in skeletons]
    model = parse_study(_skeleton(STUDY_FILE, study.name), STUDY_FILE, study.name).study
    keys = [key for key in ("title", "source", "description") if getattr(study, key) == getattr(model, key)]
    places = []
    if sections:
        places.append(f"{README} ({', '.join(sections)})")
    if keys:
        places.append(f"{STUDY_FILE} ({', '.join(keys)})")
    if not places:
        return ""
    return f"still in the words of the skeleton: {' and '.join(places)}; reports and artifacts have them as they are"


def _sections(name: str) -> list[tuple[str, str]]:
    """Return (heading, the text below it) of the skeleton's README."""
    sections, heading = [], ""
    for part in _skeleton(README, name).split("\n\n"):
        if part.startswith("#"):
            heading = part.lstrip("# ").strip()
        else:
            sections.append((heading, " ".join(part.split())))
    return sections


def _parts(path: Path) -> list[str]:
    return read_text(path).split("\n\n") if path.is_file() else []


def _skeleton(file: str, name: str) -> str:
    return (
        (resources.files("lanelab.driver.run.study") / SKELETON / file)
        .read_text(encoding="utf-8")
        .replace("NAME", name)
    )
