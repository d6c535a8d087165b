"""lanelab --cite: what CITATION.cff says, as text and as BibTeX."""

import subprocess
import sys
from pathlib import Path

from lanelab.driver.base.version import VERSION
from lanelab.driver.cli.citation import citation


def test_the_command_prints_text_and_bibtex_of_this_version(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "lanelab.driver.cli", "--cite"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    title = "lanelab: a controlled network testbed for web measurement"
    assert f"The developers of lanelab. {title} (version {VERSION})." in done.stdout
    assert done.stdout.endswith(f"""
@software{{lanelab,
  title = {{{{{title}}}}},
  author = {{{{The developers of lanelab}}}},
  version = {{{VERSION}}},
}}
""")


def test_persons_a_year_and_an_address_are_said_when_the_file_has_them(tmp_path: Path) -> None:
    file = tmp_path / "CITATION.cff"
    file.write_text("""\
message: Please cite it.
title: A testbed
version: 1.2.0
date-released: 2031-04-05
doi: 10.1/x
authors:
  - {given-names: Ada, family-names: Lovelace}
  - {name: The others}
""")
    expected = """\
Please cite it.

Ada Lovelace, The others. A testbed (version 1.2.0). 2031. 10.1/x.

@software{lanelab,
  title = {{A testbed}},
  author = {{Ada Lovelace} and {The others}},
  version = {1.2.0},
  year = {2031},
  doi = {10.1/x},
}"""
    assert citation(file) == expected
