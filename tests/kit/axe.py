"""What axe-core says of a page that a reader has open: whom its markup shuts out."""

from pathlib import Path

from tests.kit.archive_tools import AXE, recording
from tests.kit.reader import Reader

JUDGE = """
return axe.run().then(({violations}) => violations.map(({id, nodes}) =>
  `${id}: ${nodes.length} times, first ${nodes[0].html.slice(0, 200)}: ${nodes[0].failureSummary.slice(0, 200)}`))
"""


def axe_script(folder: Path) -> str:
    """Return the script, which is fetched where it is not there yet, by way of that folder."""
    return recording(AXE, "package/axe.min.js", folder).read_text()


def violations(reader: Reader, script: str) -> list[str]:
    """Return what is wrong with the page, a line for each rule."""
    reader.run(script)
    return [str(line) for line in reader.run(JUDGE)]
