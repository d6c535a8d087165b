"""Words of the code: names say what a thing is, and a docstring is a sentence.

    python -m tools.words            say each place that is over what tools/words.txt allows
    python -m tools.words --lower    write lower numbers into tools/words.txt where places were mended
    python -m tools.words --all      say every place, allowed or not

It reads `src` and `tools`, not `tests`. Six words (`said`, `told`, `found`, `asked`, `made`, `own`) say that something
was done or whose it is, and not what it is: none is the whole name of a variable, a parameter, an attribute, a
function, a class, an import or a file. As a part of a name (`found_files`) they pass, and so does every other
participle.

A function's docstring says what the function does: its first sentence has a verb, by the list in tools/verbs.txt.
Whether the sentence is true no list can tell. A class or a property is a thing and may be named by a noun, but not by
the rest of a sentence ("Of all beds."). There were many such places when this check began. tools/words.txt has how many
a file still has; they may only become fewer.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lanelab.driver.base.paths import PROJECT

LIST = PROJECT / "tools" / "words.txt"
ROOTS = ("src/lanelab", "tools")
_LINES = (PROJECT / "tools" / "verbs.txt").read_text(encoding="utf-8").splitlines()
_LISTED = " ".join(line for line in _LINES if not line.startswith("#")).split()
VERBS = {word.rstrip("*") for word in _LISTED}
NOUNS = {word.rstrip("*") for word in _LISTED if word.endswith("*")}
SUGGESTIONS = {
    "said": "what was said: text, sentence, answer",
    "told": "what was told: notice, message, event",
    "found": "what was found: files, match, place",
    "asked": "what was asked for: target, request, wanted_rate",
    "made": "what was made: folder, bed, result",
    "own": "what they are: settings, rows, options",
}
_FRAGMENT = re.compile(
    r"(of|all that|nor|as|by|what|whatever|whether|how|why|where|which|those|these|that|who|when|with|without|in|on|at|"
    r"for|from|to|everything|nothing|something|nobody|none|likewise|so many|the same|another|else|last|once|again)\b",
    re.IGNORECASE,
)
_SUBORDINATE = {
    "that", "which", "who", "whose", "what", "whatever", "whoever", "where", "when", "whether", "how", "why", "if",
    "because", "as", "since", "until", "unless", "while", "before", "after", "so", "than", "once", "whom",
}  # fmt: skip
_FINITE = {
    "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "can", "may", "must", "will", "would",
    "should", "might", "could", "cannot", "needs", "need", "ought", "goes", "says", "came", "went", "took", "gave",
    "saw", "began", "got", "knew", "stood", "became",
}  # fmt: skip
# Behind these stands a noun: "the counts", "of loads".
_BEFORE_A_NOUN = {
    "the", "a", "an", "of", "all", "its", "their", "these", "those", "both", "no", "each", "in", "for", "with", "by",
    "from", "to", "and", "or", "at", "on", "between", "other", "more", "most", "several", "some", "our", "own", "new",
    "two", "three", "few", "many", "without", "as", "over", "into", "per", "than", "such",
}  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A place where a word is not as it should be, and what to do about it."""

    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}"


def places(file: str, text: str) -> list[Place]:
    """Find the words of a file that are not as they should be."""
    lines = [*_file_names(file), *_names(ast.parse(text)), *_docstrings(ast.parse(text))]
    return [Place(file, line, what) for line, what in sorted(lines)]


def _file_names(file: str) -> Iterator[tuple[int, str]]:
    word = Path(file).stem.strip("_")
    if word in SUGGESTIONS:
        yield 1, _advice("file", word)


def _advice(kind: str, word: str) -> str:
    return f"{kind} `{word}` names a deed; name {SUGGESTIONS[word]}"


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        for kind, name, line in _bindings(node):
            word = name.strip("_").lower()
            if word in SUGGESTIONS:
                yield line, _advice(kind, word)


def _bindings(node: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Yield kind, name and line of whatever a node gives a name to."""
    match node:
        case ast.Name(id=name, ctx=ast.Store(), lineno=line):
            yield "variable", name, line
        case ast.arg(arg=name, lineno=line):
            yield "parameter", name, line
        case ast.Attribute(attr=name, ctx=ast.Store(), lineno=line):
            yield "attribute", name, line
        case ast.FunctionDef(name=name, lineno=line) | ast.AsyncFunctionDef(name=name, lineno=line):
            yield "function", name, line
        case ast.ClassDef(name=name, lineno=line):
            yield "class", name, line
        case ast.ExceptHandler(name=str(name), lineno=line) | ast.MatchAs(name=str(name), lineno=line):
            yield "variable", name, line
        case ast.alias(asname=str(name), lineno=line):
            yield "import", name, line


def _docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        sentence = _first_sentence(ast.get_docstring(node) or "")
        if not sentence or has_verb(sentence):
            continue
        if isinstance(node, ast.ClassDef) or _is_property(node):
            if _FRAGMENT.match(sentence):
                yield node.body[0].lineno, f"docstring {sentence!r} is a part of a sentence; say what it is"
        else:
            yield node.body[0].lineno, f"docstring {sentence!r} has no verb; say what it does: Return …, Raise …"


def _is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(one).rpartition(".")[2] for one in function.decorator_list}
    return bool(names & {"property", "cached_property", "setter"})


def _first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=[.?!])\s+(?=[A-Z`(])", paragraph)[0]


def has_verb(sentence: str) -> bool:
    """Say whether a verb stands in the main clause, by a list of verbs: "Those that are left" has none."""
    plain = re.sub(r"`[^`]*`|\"[^\"]*\"|\([^)]*\)", " thing ", sentence)
    clauses = re.split(r"[,;:.!?]\s|\s-\s", plain + " ")  # a comma ends what is subordinate
    return any(_has_main_verb(re.findall(r"[A-Za-z][A-Za-z'-]*", clause)) for clause in clauses)


def _has_main_verb(words: Sequence[str]) -> bool:
    lower = [word.lower() for word in words]
    if lower and _begins_with_verb(lower):
        return True
    waiting = 0  # subordinate clauses whose verb has not come yet
    for before, word in zip(["", *lower], lower, strict=False):
        if word in _SUBORDINATE:
            waiting += 1
        elif word in _FINITE or (_third_person(word) and before not in _BEFORE_A_NOUN and before):
            if not waiting:
                return True
            waiting -= 1
    return False


def _begins_with_verb(words: Sequence[str]) -> bool:
    first, second = words[0], words[1] if len(words) > 1 else ""
    if second == "of":  # "End of a bed"
        return False
    return first in VERBS or first in {"be", "never"} or (_third_person(first) and first[:-1] not in NOUNS)


def _third_person(word: str) -> bool:
    stems = [word[:-1], word[:-2], f"{word[:-3]}y"] if word.endswith("s") else []
    return any(stem in VERBS for stem in stems)


def allowances(text: str) -> dict[str, int]:
    """Read how many places each file may have."""
    rows = (line.rsplit(" ", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {name: int(number) for name, number in rows}


def too_many(everywhere: Sequence[Place], allowed: Mapping[str, int], files: Iterable[str]) -> list[Place]:
    """List the places of files that have more than they may. A file that has gone leaves its number to files that are
    new, since it may have moved there."""
    there, by_file = set(files), Counter(place.file for place in everywhere)
    left_over = sum(number for file, number in allowed.items() if file not in there)
    over = set()
    for file, number in sorted(by_file.items()):
        borrowed = min(left_over, number) if file not in allowed else 0
        left_over -= borrowed
        if number > allowed.get(file, 0) + borrowed:
            over.add(file)
    return [place for place in everywhere if place.file in over]


def lowered(everywhere: Sequence[Place], allowed: Mapping[str, int], files: Iterable[str]) -> dict[str, int]:
    """Compute what each file may still have: as many places as it has now, and no more than it had."""
    if too_many(everywhere, allowed, files):
        raise ValueError("places have come up that the list does not allow: mend these first")
    return dict(sorted(Counter(place.file for place in everywhere).items()))


def _text_of(allowed: Mapping[str, int]) -> str:
    head = "# Places that tools/words.py still allows, by file. Numbers only fall: python -m tools.words --lower\n"
    return head + "".join(f"{file} {number}\n" for file, number in allowed.items())


def main(options: Sequence[str]) -> int:
    paths = sorted(path for root in ROOTS for path in (PROJECT / root).rglob("*.py"))
    files = [str(path.relative_to(PROJECT)) for path in paths]
    everywhere = [place for file in files for place in places(file, (PROJECT / file).read_text(encoding="utf-8"))]
    allowed = allowances(LIST.read_text(encoding="utf-8"))
    if "--lower" in options:
        LIST.write_text(_text_of(lowered(everywhere, allowed, files)), encoding="utf-8")
        return 0
    shown = everywhere if "--all" in options else too_many(everywhere, allowed, files)
    for place in shown:
        print(place)
    if shown and "--all" not in options:
        print("Mend as many places in each of these files as are new there. tools/words.txt has how many it may have.")
    return 1 if shown else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
