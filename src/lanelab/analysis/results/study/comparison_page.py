"""Two runs of one study as a page of Markdown: verdicts first, then each figure's medians."""

from collections.abc import Sequence

from lanelab.analysis.results.layout.markdown import markdown, plain
from lanelab.analysis.results.sections.compare import study_sections
from lanelab.analysis.results.study.compare import StudyComparison, names_of
from lanelab.analysis.results.study.run import ReadStudyRun


def comparison_markdown(compared: StudyComparison, before: Sequence[str] = ()) -> str:
    """Write the page. `before`: paragraphs between the title and the verdicts."""
    study, runs = compared.first.about.study, (compared.first, compared.other)
    head = [
        f"# {plain(study.title)}: two runs compared",
        f"Reproduces: {plain(study.source)}",
        "\n".join(f"- {name}: {_about(read)}" for name, read in zip(names_of(compared), runs, strict=True)),
        *before,
    ]
    return "\n\n".join([*head, markdown(study_sections(compared))])


def _about(read: ReadStudyRun) -> str:
    about = read.about
    variant = f"variant {about.variant}, " if about.variant else ""
    return plain(f"{variant}begun {about.created_utc}, lanelab {about.lanelab}")
