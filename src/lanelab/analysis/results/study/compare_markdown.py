"""Two runs of one study as a page of Markdown: verdicts first, then each figure's medians."""

from collections.abc import Iterable, Iterator, Sequence

from lanelab.analysis.results.compare_runs import TITLES, Against, CellRow, sentences
from lanelab.analysis.results.compare_table import median_words, shift_words
from lanelab.analysis.results.numbers import change_words
from lanelab.analysis.results.study.compare import NOT_PAIRED, FigurePair, StudyComparison, names_of, verdict_cells
from lanelab.analysis.results.study.markdown_text import plain, table
from lanelab.analysis.results.study.run import ReadStudyRun


def comparison_markdown(made: StudyComparison, before: Sequence[str] = ()) -> str:
    """Write the comparison. `before` has the paragraphs between the title and the verdicts."""
    study = made.first.about.study
    names = names_of(made)
    parts = [
        f"# {plain(study.title)}: two runs compared",
        f"Reproduces: {plain(study.source)}",
        "\n".join(f"- {name}: {_about(read)}" for name, read in zip(names, (made.first, made.other), strict=True)),
        *before,
        "## Verdicts",
        plain(made.outcome()),
        "\n".join(f"- {plain(sentence)}" for sentence in made.caveats()),
        table(claim_heads(names), claim_rows(made)),
        "## Figures",
        plain(NOT_PAIRED),
    ]
    for figure in made.figures:
        parts += _figure(figure, names)
    if made.conditions:
        parts += ["## What differs besides", table(("", *names), made.conditions)]
    return "\n\n".join(part for part in parts if part) + "\n"


def claim_heads(names: tuple[str, str]) -> tuple[str, ...]:
    sides = [f"{what}, {name}" for name in names for what in ("verdict", "effect", "95% interval")]
    return ("figure", "claim", *sides, "")


def claim_rows(made: StudyComparison) -> Iterator[tuple[str, ...]]:
    for pair in made.claims:
        yield str(pair.figure), pair.says, *verdict_cells(pair.first), *verdict_cells(pair.other), pair.words


def cell_heads(names: tuple[str, str], unit: str) -> tuple[str, ...]:
    return ("site", "link", "arm", *(f"{name}, {unit}" for name in names), "change", "95% interval", "")


def cell_rows(made: Against) -> Iterator[tuple[str, ...]]:
    for row in made.cells:
        yield (
            *(row.cell.site, row.cell.link.label, row.cell.arm.name),
            *(median_words(made.first.primary, each) for each in (row.first, row.other)),
            *(change_words(row.ratio.value), shift_words(row.ratio), _told(made, row)),
        )


def _told(made: Against, row: CellRow) -> str:
    return TITLES[row.verdict] + ("" if row.verdict == "not told" else f" {100 * made.margin:g}%")


def _about(read: ReadStudyRun) -> str:
    about = read.about
    variant = f"variant {about.variant}, " if about.variant else ""
    return plain(f"{variant}begun {about.created_utc}, lanelab {about.lanelab}")


def _figure(figure: FigurePair, names: tuple[str, str]) -> Iterable[str]:
    yield f"### Figure {figure.number}. {plain(figure.title)}"
    if figure.against is None:
        yield f"Not compared: {plain(figure.why_not)}."
        return
    yield from (plain(sentence) for sentence in sentences(figure.against))
    if figure.against.cells:
        yield table(cell_heads(names, figure.against.first.primary.unit), cell_rows(figure.against))
