"""The tables of the reference, and the schemas of experiments and studies, are as the code has them.

python -m tools.reference_tables     writes them again
"""

from pathlib import Path

import pytest

from tools.reference_tables import files

FILES = files()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_what_is_published_follows_the_code(file: Path) -> None:
    assert file.read_text() == FILES[file], "python -m tools.reference_tables writes it again"
