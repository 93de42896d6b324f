"""Finding an earlier verified solution to the same, or a near-identical, problem.

A problem has one key for exact matches, and four keys for near ones: two problems that share any of the four are
candidates, which `similarity` then confirms. Keys are stored, so they are the same on every machine and in every
release: hashes of fixed seeds, never Python's own `hash`.
"""

import hashlib
import re
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent
from typing import Protocol
from zlib import crc32

from touchstone.answers.answer_key import AnswerKey, meets
from touchstone.answers.model import Attempt, Solution, Verification
from touchstone.judges.base import JudgeCount
from touchstone.text import normalised as normalised_form

SHINGLE_CHARS = 4
"""The length of the overlapping pieces that are compared: about a word in English and two in Chinese."""
BANDS = 4
"""The number of near keys of a problem. Each is one item to write and one query to read."""
ROWS = 5
"""The number of minima that make up a near key.

With 4 bands of 5 rows, problems of Jaccard similarity s share a key with probability 1-(1-s^5)^4: 0.80 at s = 0.8, 0.97
at 0.9, 0.12 at 0.5 (Leskovec, Rajaraman, Ullman, "Mining of Massive Datasets", 3.4). So near-identical ones are mostly
found and merely similar ones are rarely read; a miss costs only an example that SOLVE would have seen.
"""
NEAR_IDENTICAL_FROM = 0.8
"""The least similarity (0-1) at which a problem counts as near-identical: a few words differ, or some numbers."""
MAX_EXAMPLES = 3
"""The most earlier solutions offered to SOLVE: more cost tokens and pull the model away from the problem at hand."""

_SEEDS = tuple(
    struct.unpack("<Q", hashlib.sha256(f"touchstone near-identical {row}".encode()).digest()[:8])[0] | 1
    for row in range(BANDS * ROWS)
)
_WORD_BITS = (1 << 64) - 1

_SAME_SIGN = str.maketrans(
    {
        "−": "-", "–": "-", "—": "-", "×": "*", "·": "*", "÷": "/", "∶": ":",
        "“": '"', "”": '"', "‘": "'", "’": "'", "、": ",", "。": ".", "【": "[", "】": "]",
    }
)  # fmt: skip
_CLOSING = ".?;:,"
"""Punctuation that may end a problem. `!` is not in it: `5!` is not `5`."""
_SPACE = re.compile(r"\s+")
_INDENTED = 2
"""The columns of leading space from which it is an indentation. A question about a program may turn on it."""
_SPACE_THAT_SAYS_NOTHING = re.compile(r"(?<![0-9A-Za-z]) | (?![0-9A-Za-z])")
"""A space between two words or numbers separates them (`2 3` is not `23`); beside anything else it is layout."""
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")


class SolutionStore(Protocol):
    """Verified solutions of earlier problems, of one tenant."""

    async def exact(self, key: str) -> "EarlierSolution | None":
        """The verified solution stored under a problem's key, None when there is none."""
        ...

    async def near(self, keys: Sequence[str]) -> Sequence["EarlierSolution"]:
        """Verified solutions of problems that share any of the near keys; possibly none, possibly not similar."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierSolution:
    """A verified solution of an earlier problem: the record it came from, and its verdict's confidence (0-1).

    `verdict` is the whole verdict; None if a store keeps no more than the confidence.
    """

    answer_id: str
    problem: str
    solution: Solution
    confidence: float
    verdict: Verification | None = None


def normalised(text: str) -> str:
    """The text without what does not change a problem: width, layout, invisible characters, closing punctuation.

    Numbers, signs and letters stay as they are: `x²` is not `x2`, `①` is not `1`, `5!` is not `5`, and in a problem `M`
    and `m` may be two quantities. The indentation of lines stays, for a question about a program.
    """
    joined: list[str] = []
    for line in dedent(_plain(text)).splitlines():
        indentation = len(line) - len(line.lstrip())
        joined.append("\n" + "\t" * indentation if indentation >= _INDENTED else " ")
        joined.append(_SPACE.sub(" ", line.strip()))
    return _without_closing(_SPACE_THAT_SAYS_NOTHING.sub("", "".join(joined).strip()))


def problem_key(text: str) -> str:
    """The content address of a problem: the SHA-256 (64 hex digits) of its normalised text."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def near_keys(text: str) -> tuple[str, ...]:
    """The `BANDS` keys under which near-identical problems meet, each `<band>#<16 hex digits>`.

    MinHash (Broder 1997) over character 4-grams, grouped into bands.
    """
    hashes = [_spread(crc32(piece.encode("utf-8", "surrogatepass"))) for piece in _shingles(text)]
    minima = [min(((value ^ seed) * seed) & _WORD_BITS for value in hashes) for seed in _SEEDS]
    return tuple(
        f"{band}#{hashlib.sha256(struct.pack(f'<{ROWS}Q', *minima[band * ROWS : (band + 1) * ROWS])).hexdigest()[:16]}"
        for band in range(BANDS)
    )


def similarity(first: str, second: str) -> float:
    """How alike two problems are, 0-1: the Jaccard similarity of their character 4-grams after normalisation."""
    ours, theirs = _shingles(first), _shingles(second)
    return len(ours & theirs) / len(ours | theirs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What was found: a verified solution of this very problem, or else examples to learn from, possibly none."""

    exact: EarlierSolution | None = None
    examples: tuple[EarlierSolution, ...] = ()


async def retrieve(
    problem: str, store: SolutionStore, key: AnswerKey | None = None, *, judges: JudgeCount = 1
) -> Retrieved:
    """Look for earlier solutions whose verdict stands today. Raises `StoreError` if the store fails.

    `key` and `judges` are as in `retrieve_exact`.
    """
    if (exact := await retrieve_exact(problem, store, key, judges=judges)) is not None:
        return Retrieved(exact=exact)
    alike = nearest(problem, await store.near(near_keys(problem)))
    return Retrieved(examples=tuple([earlier for earlier in alike if await _still_verified(earlier)]))


async def retrieve_exact(
    problem: str, store: SolutionStore, key: AnswerKey | None = None, *, judges: JudgeCount = 1
) -> EarlierSolution | None:
    """The earlier solution of this very problem that may answer at once. None if there is none.

    With an answer key, a solution that meets it may answer, and no other. Without a key, the verdict on the solution
    must stand today, and if several `judges` are wanted, as many must have verified it. Otherwise the problem is
    solved, and its answer verified, anew. Raises `StoreError` if the store fails.
    """
    earlier = await store.exact(problem_key(problem))
    if earlier is None or normalised(earlier.problem) != normalised(problem):
        return None
    if key is None:
        may_answer = _by_as_many(earlier, judges) and await _still_verified(earlier)
    else:
        may_answer = await _meets(earlier, key)
    return earlier if may_answer else None


async def _still_verified(earlier: EarlierSolution) -> bool:
    """Whether the verdict on an earlier solution would be `verified` today; see `touchstone.answers.checking`."""
    from touchstone.answers.checking import (
        still_verified,  # on first use: finishing an answer needs this module, and no check
    )

    known = Verification(passed=True, confidence=earlier.confidence, method="judge")
    return await still_verified(earlier.problem, earlier.solution, earlier.verdict or known)


def _by_as_many(earlier: EarlierSolution, judges: JudgeCount) -> bool:
    """Whether at least `judges` judges verified an earlier solution, and none was against it.

    A proof needs no judge.
    """
    if judges == 1 or not isinstance(judges, int):  # of judges asked until one is sure, the one that verified it was
        return True
    found = earlier.verdict
    return found is not None and (found.method == "proof" or (len(found.counted) >= judges and not found.split))


async def _meets(earlier: EarlierSolution, key: AnswerKey) -> bool:
    from asyncio import to_thread  # on first use: finishing an answer needs this module, and no event loop

    try:
        return await to_thread(meets, earlier.solution.answer, key, earlier.problem) is True
    except ImportError:  # the check needs algebra, which a function that only looks up lacks: not shown to meet the key
        return False


def retrieved_attempt(earlier: EarlierSolution, key: AnswerKey | None = None) -> Attempt:
    """The only attempt at a problem that was answered before: that solution, with its verdict.

    `key` is the answer key that the solution was found to meet; the key then is what decided. None without a key.
    """
    if key is None:
        verification = Verification(passed=True, confidence=earlier.confidence, method="retrieved")
    else:
        verification = Verification(passed=True, confidence=1.0, method="expected")
    return Attempt(number=1, solution=earlier.solution, verification=verification)


def nearest(problem: str, candidates: Sequence[EarlierSolution]) -> tuple[EarlierSolution, ...]:
    """The near-identical candidates, the most alike first, at most `MAX_EXAMPLES`. Each record occurs once."""
    unique = {candidate.answer_id: candidate for candidate in candidates}
    scored = [(similarity(problem, candidate.problem), candidate) for candidate in unique.values()]
    alike = [pair for pair in scored if pair[0] >= NEAR_IDENTICAL_FROM]
    alike.sort(key=lambda pair: (-pair[0], pair[1].answer_id))
    return tuple(candidate for _, candidate in alike[:MAX_EXAMPLES])


def _plain(text: str) -> str:
    """The text in NFKC, but without turning a mark that means something (², ½, ①) into a plain digit."""
    return "".join(
        character
        if unicodedata.decomposition(character).startswith(("<super>", "<sub>", "<fraction>", "<circle>"))
        else unicodedata.normalize("NFKC", character)
        for character in normalised_form(_INVISIBLE.sub("", text), "NFC")
    ).translate(_SAME_SIGN)


def _without_closing(text: str) -> str:
    """The text without the punctuation and white space at its end, in whatever order they stand."""
    end = len(text)
    while end and (text[end - 1] in _CLOSING or text[end - 1].isspace()):
        end -= 1
    return text[:end]


def _shingles(text: str) -> frozenset[str]:
    line = normalised(text).casefold()
    return frozenset(line[at : at + SHINGLE_CHARS] for at in range(max(1, len(line) - SHINGLE_CHARS + 1)))


def _spread(value: int) -> int:
    """A 32-bit checksum stretched over 64 bits (the finaliser of splitmix64), so that minima have room to differ."""
    value = (value + 0x9E3779B97F4A7C15) & _WORD_BITS
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & _WORD_BITS
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _WORD_BITS
    return value ^ (value >> 31)
