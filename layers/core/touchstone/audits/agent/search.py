"""Ranked search over the names and docstrings of a target, by BM25.

Names count more than docstrings, and a private name counts less than a public one. A name counts as a whole and by the
words in it: `LlmAgent` is found by itself, and by "agent". Source of the formula: S. Robertson, H. Zaragoza, "The
Probabilistic Relevance Framework: BM25 and Beyond", 2009.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from touchstone.audits.agent.bounds import OUTPUT_CHARS, bounded, short
from touchstone.audits.agent.inspection import signature
from touchstone.audits.agent.library import Library, Module
from touchstone.audits.agent.naming import source_text
from touchstone.errors import InputError

HITS = 12
MAX_QUERY_CHARS = 300
SIGNATURE_CHARS = 300
SUMMARY_CHARS = 160
SATURATION, LENGTH_NORM = 1.2, 0.5
"""BM25's k1 and b. A word's third occurrence says little more than its second, and occurrences in a long text say
less."""
NAME_WEIGHT, LAST_NAME_WEIGHT, TEXT_WEIGHT = 2, 6, 1
EXACT = 100.0
"""Score for an exact match of the name, higher than any sum of words."""
PRIVATE = 0.4
_WHOLE = re.compile(r"[^\W_]\w*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One definition of a module. `line` is where it begins. `words` maps the words that find it to their weights."""

    name: str
    module: str
    line: int
    summary: str
    words: Mapping[str, int]
    length: int


class Search:
    """The index of the definitions in a target's modules. The modules are read once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._entries = tuple(
            entry
            for name in library.names
            if (module := library.read_once(name)) is not None
            for entry in _entries(module)
        )
        self._documents = Counter(word for entry in self._entries for word in entry.words)
        self._usual = sum(entry.length for entry in self._entries) / max(1, len(self._entries))

    def ranked(self, query: str) -> str:
        """The best hits as text, best first, with the number of all hits.

        Raises InputError for a query without words.
        """
        if len(query) > MAX_QUERY_CHARS:
            raise InputError(f"A query has {MAX_QUERY_CHARS} characters at most.", where="query")
        words = {word: self._rarity(word) for word in _words(query)}
        if not words:
            raise InputError("The query has no word of letters or digits.", where="query")
        wanted = query.strip().casefold()
        scored = [(self._score(entry, words, wanted), entry) for entry in self._entries]
        hits = [(score, entry) for score, entry in scored if score > 0]
        hits.sort(key=lambda hit: (-hit[0], len(hit[1].name), hit[1].name))
        if not hits:
            return f"Nothing among {len(self._entries)} names fits. Try other words."
        shown = "\n".join(f"{self._shown(entry)}\n    {entry.summary}".rstrip() for _, entry in hits[:HITS])
        return bounded(f"{min(HITS, len(hits))} of {len(hits)} hits, best first:\n{shown}", OUTPUT_CHARS)

    def _score(self, entry: IndexEntry, words: Mapping[str, float], wanted: str) -> float:
        norm = SATURATION * (1 - LENGTH_NORM + LENGTH_NORM * entry.length / self._usual)
        score = sum(
            rarity * weight * (SATURATION + 1) / (weight + norm)
            for word, rarity in words.items()
            if (weight := entry.words.get(word, 0))
        )
        if not score:
            return 0.0
        name = entry.name.casefold()
        if name == wanted or name.endswith(f".{wanted}"):
            score += EXACT
        hidden = any(part.startswith("_") and not part.startswith("__") for part in entry.name.split("."))
        return score * PRIVATE if hidden else score

    def _rarity(self, word: str) -> float:
        """The inverse document frequency (idf) of BM25."""
        having = self._documents[word]
        return math.log(1 + (len(self._entries) - having + 0.5) / (having + 0.5))

    def _shown(self, entry: IndexEntry) -> str:
        """The name with its kind, and with its parameters or bases."""
        inside, _, last = entry.name.rpartition(".")
        module = self._library.module(entry.module) if entry.line else None
        found = () if module is None else (node for node, _ in _definitions(module.tree.body, ""))
        match next((node for node in found if node.lineno == entry.line and last in defined(node)), None):
            case ast.ClassDef(bases=bases):
                return short(f"class {entry.name}({', '.join(map(source_text, bases))})", SIGNATURE_CHARS)
            case ast.FunctionDef() | ast.AsyncFunctionDef() as node:
                return short(f"function {inside}.{signature(node).removeprefix('async ')}", SIGNATURE_CHARS)
            case ast.stmt() as node:
                return short(f"value {inside}: {source_text(node)}", SIGNATURE_CHARS)
            case _:
                return f"module {entry.name}"


def defined(node: ast.stmt) -> tuple[str, ...]:
    """The name that a statement defines; empty if it defines none."""
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return (name,)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return (name,)
        case _:
            return ()


def _entries(module: Module) -> Iterator[IndexEntry]:
    yield _entry(module.name, module, 0, ast.get_docstring(module.tree))
    for node, inside in _definitions(module.tree.body, module.name):
        described = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(node)
        for name in defined(node):
            yield _entry(f"{inside}.{name}", module, node.lineno, described or None)


def _definitions(body: list[ast.stmt], inside: str) -> Iterator[tuple[ast.stmt, str]]:
    """Yield each statement of a body and of its classes that defines a name, with the full name of its scope."""
    for statement in body:
        if defined(statement):
            yield statement, inside
        if isinstance(statement, ast.ClassDef):
            yield from _definitions(statement.body, f"{inside}.{statement.name}")


def _entry(name: str, module: Module, line: int, docstring: str | None) -> IndexEntry:
    words: Counter[str] = Counter()
    before, _, last = name.rpartition(".")
    for text, weight in ((before, NAME_WEIGHT), (last, LAST_NAME_WEIGHT), (docstring or "", TEXT_WEIGHT)):
        for word in _words(text):
            words[word] += weight
    summary = short((docstring or "").strip().partition("\n")[0], SUMMARY_CHARS)
    return IndexEntry(name, module.name, line, summary, words, words.total())


def _words(text: str) -> list[str]:
    """The words of a text in lower case. A name that consists of several words is included as a whole too."""
    found = [word.casefold() for word in _WORD.findall(text)]
    return found + [each.casefold() for each in _WHOLE.findall(text) if len(_WORD.findall(each)) > 1]
