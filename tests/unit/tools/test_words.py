"""Names say what a thing is, and docstrings are sentences: what the check takes for one, and how its list shrinks."""

from pathlib import Path

import pytest

from tools import words
from tools.words import Place, has_verb, lowered, places, too_many

SENTENCES = [
    "Return the settings that differ.",
    "Raises CommandFailed with the status.",
    "A trial counts when nothing speaks against it.",
    "Where nothing is known, it is left out.",
    "If the file exists, it is read.",
    "What Apache cannot compress is in the pack.",
    "The counts are of this run.",
    "Never waits longer than a second.",
]
PARTS = [
    "Everything.",
    "All that are on their way.",
    "What the file combines.",
    "Of a host with a path.",
    "The same, and what is not the same of loads.",
    "Whether it is ready.",
    "The counts of its packets.",
    "Runs of experiments and of studies.",
    "End of a bed.",
    "How many packets that acknowledges.",
]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_sentence_has_a_verb(sentence: str) -> None:
    assert has_verb(sentence)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_sentence_has_none(part: str) -> None:
    assert not has_verb(part)


BINDINGS = [
    "found = 1",
    "_made: int = 1",
    "self.told = 1",
    "for asked in (): pass",
    "def own(): pass",
    "def f(said): pass",
    "f(x for found in y)",
    "import a as made",
    "class Asked: pass",
    "with a as found: pass",
]


@pytest.mark.parametrize("code", BINDINGS)
def test_a_participle_is_no_name(code: str) -> None:
    (place,) = places("a/b.py", code)
    assert "names a deed" in place.what


def test_words_within_a_name_and_uses_of_one_are_not_counted() -> None:
    assert places("a/b.py", "asked_for = record.asked\nmade_of(found=1)\n") == []


def test_a_file_is_named_by_what_is_in_it() -> None:
    (place,) = places("a/told.py", "")
    assert str(place) == "a/told.py:1: file `told` names a deed; name what was told: notice, message, event"


DOCSTRINGS = [
    ('def f():\n    """The page."""', True),
    ('class C:\n    """The page."""', False),
    ('class C:\n    """Of a page."""', True),
    ('class C:\n    @property\n    def p(self):\n        """The page."""', False),
    ('class C:\n    @property\n    def p(self):\n        """What it has."""', True),
    ('def f():\n    """Return the page. Of a site."""', False),
    ('def f():\n    """`a`: the page."""', True),
    ("def f(): pass", False),
]


@pytest.mark.parametrize(("code", "refused"), DOCSTRINGS)
def test_functions_do_something_and_things_are_something(code: str, refused: bool) -> None:
    assert bool(places("a.py", code)) is refused


def several(**counts: int) -> list[Place]:
    return [Place(f"{name}.py", line, "x") for name, count in counts.items() for line in range(count)]


def test_a_file_may_have_what_the_list_says_and_no_more() -> None:
    assert too_many(several(a=2), {"a.py": 2}, ["a.py"]) == []
    assert too_many(several(a=3), {"a.py": 2}, ["a.py"]) == several(a=3)
    assert too_many(several(b=1), {"a.py": 2}, ["a.py", "b.py"]) == several(b=1)


def test_a_file_that_moved_brings_its_number() -> None:
    assert too_many(several(b=1, c=1), {"a.py": 2}, ["b.py", "c.py"]) == []
    assert too_many(several(b=1, c=2), {"a.py": 2}, ["b.py", "c.py"]) == several(c=2)


def test_numbers_only_fall() -> None:
    assert lowered(several(a=1), {"a.py": 2, "b.py": 1}, ["a.py", "b.py"]) == {"a.py": 1}
    with pytest.raises(ValueError, match="mend these first"):
        lowered(several(a=3), {"a.py": 2}, ["a.py"])


def test_the_check_says_the_places_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "a.py").write_text("found = 1\n")
    monkeypatch.setattr(words, "PROJECT", tmp_path)
    monkeypatch.setattr(words, "LIST", tmp_path / "words.txt")
    words.LIST.write_text("")
    assert words.main([]) == 1
    assert "tools/a.py:1: variable `found` names a deed" in capsys.readouterr().out
    words.LIST.write_text("tools/a.py 3\n")
    assert words.main([]) == 0
    assert words.main(["--lower"]) == 0
    assert words.LIST.read_text().splitlines()[1:] == ["tools/a.py 1"]
