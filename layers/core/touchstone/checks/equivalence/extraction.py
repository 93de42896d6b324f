"""Finds the final answer of a text.

The places, strongest first: a box, a marked answer (`#### 18`, `A: 18`, `The answer is 18.`, 答：, 【答案】, 故选), the
whole text if it is short and reads as a value, bold type, the last line, and the end of the last sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from html import unescape
from itertools import combinations
from typing import Literal

from touchstone.checks.equivalence.conditions import (
    goes_on_with_condition,
    holds_on_condition,
    is_marked_on_condition,
    is_supposed,
)
from touchstone.checks.equivalence.retractions import calls_another_right, is_replaced
from touchstone.checks.notation.numerals import scale_of
from touchstone.checks.notation.tokens import Token, tokens_of
from touchstone.checks.notation.trees import value_or_none
from touchstone.checks.notation.unit_reading import CHANGING, NOT_COUNTED, is_foreign, read_unit
from touchstone.checks.values.quantities import PERCENT_WORDS
from touchstone.checks.values.words import DENIAL
from touchstone.checks.values.words import choice as chosen
from touchstone.packaged import own_patterns

BARE_LIMIT = 400
"""The most characters of a text that may be a bare answer as a whole."""
TAIL = 6_000
"""Characters at the end of a text that are searched for the answer."""
BOX_LIMIT = 10
"""The most boxes, counted from the last, that may together be one answer."""

_CLAUSE = 30
"""Characters before the word that introduces a value; a word in them may call the value an estimate."""
_SENTENCE = 120
"""The most characters of a sentence that may be a whole answer: `The solution is $x \\leq 5$`."""
_UNIT_CHARS = 60
"""Characters behind a number or a box that are searched for its unit."""
_UNIT_PARTS = 6
_PARTS = 4
"""The most numbers before a value that are searched for two it follows from."""
_PROSE_WORDS = 3
_PROSE_HAN = 4
"""From this many words, or Chinese characters, on, a text is a sentence and not a value with its unit."""

_PATTERN = own_patterns(__file__)
_TYPED = (
    {ord(sign): "-" for sign in "−–－﹣"}
    | {
        code: chr(code - 0xFEE0)
        for code in (0xFF08, 0xFF09, *range(0xFF10, 0xFF1A), *range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
    }
    | dict.fromkeys((0xAD, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF))
)
"""One sign for minus, full-width digits, letters and round brackets as others, and nothing for what is not shown."""
_FORMULA_ENDS = re.compile(r"^(?:[\s$}*]|\\[)\]]|\\(?:text|mbox)\s?\{){1,8}")
"""What closes a box's formula, or goes on with words within it."""
_PUNCTUATION = frozenset((".", ",", ";", "?", "!", ":", "-", '"', "'", "¤", "=>"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bare answer. If it is not `certain` (the text does not mark it as its answer), it may only confirm.

    `unit_unread`: the words behind the number were not read, so the candidate confirms no answer with a unit.
    """

    text: str
    certain: bool = True
    unit_unread: bool = False


def bare_answers(text: str, *, choice: bool) -> Iterator[Candidate]:
    """Candidates for the bare answer of a text, best first, in linear time.

    `choice`: the expected answer is an option's letter, so options named in the text are candidates too. None if the
    text says when its answer holds (`If n is odd, the answer is 41`), or takes it back.
    """
    kept = _collapsed(text[-TAIL:])
    if len(text) <= BARE_LIMIT:
        kept = kept.strip("`")
        lead = _PATTERN["lead"].match(kept)
        kept = kept if lead is None else kept[lead.end() :]
    if "<" in kept or "&" in kept:
        kept = _without_tags(kept)
    if "hope" in kept:
        kept = _PATTERN["nothing follows"].sub("", kept)
    boxes, marks = _boxes_and_marks(kept)
    if not boxes and marks and all(_is_denied(kept, mark.start(), _PATTERN["denied mark"]) for mark in marks):
        return
    marked, place = _marked(kept, marks)
    if boxes and place <= boxes[-1].start():
        yield from _of_boxes(kept, boxes)
        return
    if place >= 0 and is_marked_on_condition(kept, place):
        return
    if choice:
        if chosen(kept) is not None:
            yield Candidate(kept)
        yield from map(Candidate, _choices(kept, marked))
    if marked is not None:
        yield from _shortened(marked)
        return
    if "\n" in kept and all(map(_PATTERN["value alone"].fullmatch, lines := kept.split("\n"))):
        values = [_PATTERN["bullet"].sub("", line) for line in lines]
        listed = "=" in kept or values != lines
        yield Candidate(", ".join(dict.fromkeys(values)) if listed else lines[-1], certain=False)
        return
    yield from _unmarked(kept, short=len(text) <= BARE_LIMIT)


def _unmarked(text: str, *, short: bool) -> Iterator[Candidate]:
    """Candidates from a text that marks no answer: the text itself if it is short, and what its sentences conclude.

    None if a short text calls another answer right as well: `12, but 13 is also correct`; or gives its value on a
    condition: `If n is odd: 41`.
    """
    if short:
        if calls_another_right(text):
            return
        if (reason := _PATTERN["reason"].search(text)) is not None:
            text = text[: reason.start()]
        label, colon, value = text.rpartition(":")
        if colon and last_sentence(value) == value.strip(" .") and holds_on_condition(text, len(label), len(text)):
            return
        if "=" not in text or not _is_condition(text, list(_PATTERN["introduced"].finditer(text))):
            # Lines with colons may be several answers: `Tom: 12`, `Ann: 13`.
            yield Candidate(text, certain=not ("\n" in text and ":" in text))
    if _is_prose(text):
        yield from _concluded(text)


def _without_tags(text: str) -> str:
    """The text without a web page's tags and a model's control tokens: x<sup>2</sup> becomes x^{2}."""
    text = _PATTERN["entity"].sub(lambda found: unescape(found[0]), text)
    text = _PATTERN["lowered"].sub(r"_{\1}", _PATTERN["raised"].sub(r"^{\1}", text))
    return _PATTERN["control"].sub("", _PATTERN["tag"].sub(" ", text)).strip()


def states_answer_once(text: str) -> bool:
    """Whether a text states its answer once and takes nothing back afterwards.

    It states the answer by a box, or by words that begin a line.
    """
    kept = _collapsed(text[-TAIL:])
    boxes, marks = _boxes_and_marks(kept)
    statements = [mark for mark in marks if mark[0][0] != "#"]
    place = boxes[0].start() if boxes else statements[0].start() if statements else 0
    if any(mark.start() > place for mark in marks) or len(boxes) > 1 or _PATTERN["takes back"].search(kept, place):
        return False
    if boxes:
        return all(not kept[mark.end() : place].strip("$*:： ") for mark in statements)
    return len(statements) == 1 and (place == 0 or kept[place - 1] == "\n")


def _of_boxes(text: str, boxes: list[re.Match[str]]) -> Iterator[Candidate]:
    """The answer in boxes.

    If mathematics touches the last box, the whole line with the box opened is a candidate that may only confirm. If a
    denial touches it, or the text then gives another answer, there is no candidate.
    """
    last, touches = boxes[-1], _PATTERN["touches behind"]
    close = _closing_brace(text, last.end())
    line = text[: last.start()].rsplit("\n", maxsplit=1)[-1].rstrip()
    before = line.removesuffix("\\(").removesuffix("\\[").rstrip().removesuffix("**").rstrip()
    behind = "" if close is None else text[close + 1 :].split("\n", maxsplit=1)[0]
    closes = _PATTERN["formula closes"].match(behind)
    beyond = behind if closes is None else behind[closes.end() :]
    if closes and line.endswith(("$", "\\(", "\\[")):
        behind, touches = beyond, _PATTERN["touches formula"]
    if _PATTERN["denied"].search(before.rstrip("$ ")) or _PATTERN["denies"].match(behind):
        return
    joined = _PATTERN["joined"].match(beyond) or _PATTERN["touches before"].search(before)
    if close is not None and (joined or touches.match(behind)):
        lead = before.rstrip("$") if behind == beyond else before
        yield Candidate(f"{lead}({text[last.end() : close]}){behind}", certain=False)
        return
    boxed, whole = _boxed(text, boxes)
    if whole and not (close is not None and _goes_on_answering(boxed, text[close + 1 : close + 1 + BARE_LIMIT])):
        yield Candidate(boxed)


def _goes_on_answering(boxed: str, behind: str) -> bool:
    """Whether the text behind a box takes the boxed answer back, calls another right, or says when the answer holds.

    `No wait, 13.`, `or C`, `if n is odd`.
    """
    if is_replaced(boxed, f".{behind}") or goes_on_with_condition(_FORMULA_ENDS.sub("", behind), 0):
        return True
    return _PATTERN["boxed choice"].fullmatch(boxed) is not None and _goes_on_choosing(behind.lstrip("$"), 0)


def _collapsed(text: str) -> str:
    """`text` without runs of white space, so that no pattern has to scan one, and with signs as they are typed."""
    text = typed(text)
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split()).replace("\\\\boxed", "\\boxed")
    text = text.replace("\\\\boxed", "\\boxed")
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def typed(text: str) -> str:
    """`text` with its signs as they are typed, and without characters that are not shown."""
    return text if text.isascii() else text.translate(_TYPED)


def without_lead_in(text: str) -> str:
    """`text` without the words that introduce its answer: they are asked for, whatever language the answer is in."""
    lead = _PATTERN["lead"].match(text)
    text = text if lead is None else text[lead.end() :]
    return _PATTERN["mark"].sub(" ", text) if _PATTERN["mark signs"].search(text.lower()) else text


def last_sentence(text: str) -> str:
    """The last sentence of a text, or the text itself if it is one."""
    sentences = [sentence.strip() for sentence in _PATTERN["sentence end"].split(text[-TAIL:]) if sentence]
    return next(filter(None, reversed(sentences)), "")


def what_is_called(text: str, answer: str) -> str:
    """What a text calls true or false (`answer`), without its reason: `a` of `A is true`, "" of `The claim is true`."""
    if (reason := _PATTERN["reason"].search(text)) is not None:
        text = text[: reason.start()]
    before, _, behind = without_lead_in(text).rpartition(answer)
    return _PATTERN["any statement"].sub("", (before + behind).lower())


def _is_prose(text: str) -> bool:
    """Whether the text is one or more sentences, not a value with its unit."""
    if "\n" in text or ("**" in text and _PATTERN["bold"].search(text)):
        return True
    words, han = len(_PATTERN["word"].findall(text)), len(_PATTERN["han"].findall(text))
    if words >= _PROSE_WORDS or han >= _PROSE_HAN:
        return True
    short = words == _PROSE_WORDS - 1 or han > 1
    return short and "=" not in text and _PATTERN["introduced"].search(text) is not None


def _boxed(text: str, boxes: list[re.Match[str]]) -> tuple[str, bool]:
    """The content of the last box with its unit, and whether no mathematics stands behind that box.

    Boxes before it that belong to the same answer are put in front, separated by commas.
    """
    contents: list[str] = []
    following: int | None = None
    suffix, whole = "", True
    for box in reversed(boxes[-BOX_LIMIT:]):
        close = _closing_brace(text, box.end())
        # A box that is never closed ends at the end of its line.
        content = text[box.end() : close]
        content = content.split("\n", maxsplit=1)[0].rstrip("$. ") if close is None else content
        end = len(text) if close is None else close + 1
        if following is None:
            behind = "}" + text[end : end + _SENTENCE].replace("\\)", " ").replace("$", " ")
            behind = _PATTERN["sentence end"].split(behind, maxsplit=1)[0][1:].strip(" ,.")
            # The unit or the power of ten behind the box.
            goes_on = _PATTERN["goes on"].match(behind) or scale_of(behind)[1]
            length, read_as = (len(behind), "read") if goes_on else _unit_of(behind)
            suffix, whole = f" {behind[:length]}" if length else "", bool(length) or read_as != "unread"
        elif not _PATTERN["between boxes"].fullmatch(text[end:following]):
            break
        name = _PATTERN["boxed name"].search(text[max(0, box.start() - 20) : box.start()])
        contents.append(f"{name[1]} {content}" if name and "=" not in content else content)
        following = box.start() - (len(name[0]) if name else 0)
    return ", ".join(dict.fromkeys(reversed(contents))) + suffix, whole


type _Behind = Literal["read", "words", "unread"]
"""The kind of text behind a value.

"read": only its unit and the rest of a sentence. "words": words. "unread": something that was not read.
"""


def _unit_of(text: str) -> tuple[int, _Behind]:
    """How many characters at the beginning of a text are a unit, and the kind of text behind the value and the unit."""
    tokens = value_or_none(tokens_of, text[:_UNIT_CHARS])
    if tokens is None:
        return 0, "unread"
    if tokens and (tokens[0].is_sign("%") or tokens[0].text in PERCENT_WORDS):
        return tokens[0].end, "read"
    for count in range(min(_UNIT_PARTS, len(tokens)), 0, -1):
        preposition = tokens[count - 1].text == "in" and count < len(tokens) and tokens[count].kind == "letters"
        if not preposition and any(unit.dimension for unit in read_unit(tokens[:count])):
            ends = _goes_on_in_words(tokens, count)
            return (tokens[count - 1].end, "read") if ends else (0, "unread")
    if not _goes_on_in_words(tokens, 0):
        return 0, "unread"
    if not tokens or tokens[0].kind == "sign":
        return 0, "read"
    counted = bool(read_unit(tokens[:1])) and tokens[0].text != "in" and [each.text for each in tokens[1:2]] != ["per"]
    return (tokens[0].end, "read") if counted else (0, "words")


def _goes_on_in_words(tokens: list[Token], place: int) -> bool:
    """Whether the sentence ends at `place`, or goes on with punctuation or with a word that is not in a formula."""
    if place >= len(tokens):
        return True
    token, after = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else None
    if token.kind == "sign":
        return token.text in _PUNCTUATION
    if after is not None and after.kind in ("sign", "other") and after.text not in _PUNCTUATION:
        return after.text in "()" or (after.spaced and after.text == "=")
    if token.is_sign("(") and after is not None:
        return after.kind == "han" or (len(after.text) > 1 and after.text.lower() not in NOT_COUNTED)
    if token.is_sign(")"):
        return True
    if token.kind == "letters" and len(token.text) == 1:
        # `à payer`, `a day`: a letter between words.
        return token.text.islower() and after is not None and after.kind == "letters" and after.spaced
    return token.kind == "han" or (
        token.kind == "letters" and not (token.upright and token.text.lower() in NOT_COUNTED)
    )


def _closing_brace(text: str, start: int) -> int | None:
    depth = 1
    for place in range(start, len(text)):
        if text[place - 1] != "\\":
            depth += (text[place] == "{") - (text[place] == "}")
        if depth == 0:
            return place
    return None


def _boxes_and_marks(text: str) -> tuple[list[re.Match[str]], list[re.Match[str]]]:
    """The marks of a text's answer: where boxes open, and the words and headings that introduce an answer."""
    boxes = _PATTERN["box"].finditer(text) if "box" in text else ()
    marks = _PATTERN["mark"].finditer(text) if _PATTERN["mark signs"].search(text.lower()) else ()
    return list(boxes), list(marks)


def _marked(text: str, marks: list[re.Match[str]]) -> tuple[str | None, int]:
    """The text behind the last mark that is followed by text, and the place of that mark; None and −1 without one.

    Words that only call an answer right, and a heading in words, give way to an earlier marked answer, unless a value
    in them may take it back. If nothing else is marked, they are returned with place −1. A numbered heading is not a
    mark.
    """
    last: str | None = None
    for mark in reversed(marks):
        if _is_denied(text, mark.start(), _PATTERN["denied mark"]):
            continue
        rest = text[mark.end() :].strip()
        heads = mark[0][0] == "#"
        if not rest.strip("*#:： \n") or (heads and _PATTERN["numbered heading"].match(rest)):
            continue
        marked = _PATTERN["repeated mark"].sub("", rest.lstrip("*#:： \n"))
        in_words = _PATTERN["no value"].match(marked) or (heads and _PATTERN["heading"].match(marked))
        ungraded = _PATTERN["a grade"].sub("", marked)
        # The words behind a mark may hold another answer than the earlier mark.
        if not in_words or _PATTERN["takes back"].search(ungraded) or _PATTERN["a value"].search(ungraded):
            return marked, mark.start()
        last = last or marked
    return last, -1


def _shortened(text: str) -> Iterator[Candidate]:
    """Candidates from a marked answer: its line, its first sentence, and the value in that sentence.

    None if the text then takes the answer back, or gives another: `12. No wait, 13.`, `12. 13 is also correct.`
    """
    first = _PATTERN["sentence end"].split(text, maxsplit=1)[0]
    if is_replaced(first, text[len(first) :]):
        return
    line = text.split("\n", maxsplit=1)[0].strip()
    line = _PATTERN["closing bold"].sub("", _PATTERN["bold"].sub(r"\1", line))
    if (denied := _PATTERN["another denied"].search(line)) is not None:
        line = line[: denied.start()]
    # The ! of `The answer is 26!` may be a factorial or an exclamation mark, and the - of `- 12` a bullet or a sign.
    yield Candidate(line, certain=not (line.endswith("!") or line.startswith("- ")))
    sentence = _PATTERN["sentence end"].split(line, maxsplit=1)[0]
    if chosen(sentence) is not None and _goes_on_choosing(line, len(sentence)):
        return
    if sentence != line:
        yield Candidate(sentence, certain=line[len(sentence)] != "!")
    if len(_PATTERN["word"].findall(sentence)) >= _PROSE_WORDS - 1 or len(_PATTERN["han"].findall(sentence)) > 1:
        yield from _ends(sentence, marked=True)


def _choices(text: str, marked: str | None) -> Iterator[str]:
    """The options that a text names: behind its mark, at its beginning, or in its sentences."""
    if marked is not None:
        marked = _PATTERN["bold"].sub(r"\1", marked)
        letters = _PATTERN["letter choice"].match(marked)
        if letters is not None and not _is_left(marked, letters.end(1)):
            yield letters[1]
        return
    if (right := _PATTERN["called right choice"].fullmatch(text)) is not None:
        yield right[1] or right[2]
        return
    text = _PATTERN["bold"].sub(r"\1", text)
    if _PATTERN["leading denied"].match(text):
        return
    if (leading := _PATTERN["leading choice"].match(text)) is not None:
        if _is_left(text, leading.end(1)):
            return
        yield leading[1]
    denied = {letter.upper() for letter in _PATTERN["denied choice"].findall(text)}
    stated = [
        each
        for each in _PATTERN["stated choice"].finditer(text)
        if each[1].isupper()
        and each[1] not in denied
        and not _is_denied(text, each.start())
        and not _is_denied(text, each.start(), _PATTERN["doubted choice"])
        and not holds_on_condition(text, each.start(), each.end())
    ]
    if len({each[1] for each in stated}) == 1 and not is_replaced("", text[stated[-1].end(1) :]):
        yield stated[-1][1]


def _is_left(text: str, place: int) -> bool:
    """Whether the text behind an option's letter names another one, takes it back, or says when it holds."""
    behind = text[place:]
    return _goes_on_choosing(text, place) or is_replaced("", behind) or goes_on_with_condition(behind, 0)


def _goes_on_choosing(text: str, place: int) -> bool:
    """Whether the text behind an option's letter names another option: `(A) or (C)`, `A. No, C.`, `A. 12 B. 13`."""
    return _PATTERN["another choice"].search(text[place : place + BARE_LIMIT]) is not None


def _is_denied(text: str, place: int, words: re.Pattern[str] = _PATTERN["denied"]) -> bool:
    """Whether the words right before `place` say that the text at `place` is not the answer."""
    return words.search(text[max(0, place - _CLAUSE) : place].rstrip()) is not None


def _concluded(text: str) -> Iterator[Candidate]:
    """Candidates without a mark: the value in bold type, the last line, the value at the end of the last sentence."""
    found = _PATTERN["bold"].finditer(text) if "**" in text else ()
    bold = [
        each for each in found if not _is_denied(text, each.start()) and not _PATTERN["denies"].match(text, each.end())
    ]
    if bold:
        end = bold[-1].end()
        if holds_on_condition(text, bold[-1].start(), end) or is_replaced(bold[-1][1], text[end:]):
            return
        yield Candidate(bold[-1][1].strip(" :："))
    sentences = [sentence.strip() for sentence in _PATTERN["sentence end"].split(text) if sentence and sentence.strip()]
    if len(sentences) > 1 and is_supposed(*sentences[-2:]):
        return
    if len(sentences) > 1 or (sentences and (len(text) > BARE_LIMIT or bold)):
        yield Candidate(sentences[-1])
    if len(sentences) == 1 or (sentences and _is_prose(sentences[-1])):
        yield from _ends(sentences[-1], whole=len(sentences) == 1 and len(text) <= _SENTENCE)


def _ends(sentence: str, *, whole: bool = False, marked: bool = False) -> Iterator[Candidate]:
    """The value at the end of a sentence: behind `=` or `is`, in the last formula, or the only number.

    `whole`: the sentence is the whole answer, so a value behind `=` or `is` is certain. If a word of another
    language may change it, a value counts only if it is all that stands behind them. A value that holds under a
    condition does not count. `marked`: the sentence stands behind a mark.
    """
    if (attained := _PATTERN["attained"].search(sentence)) is not None:
        sentence, whole = sentence[: attained.start()], False  # the question may ask for the place
    introduced = list(_PATTERN["introduced"].finditer(sentence))
    if not (introduced or _PATTERN["may hold value"].search(sentence)) or DENIAL.search(sentence):
        return
    changing = is_foreign(sentence, CHANGING)
    if changing and not introduced:
        return
    place = introduced[-1].start() if introduced else len(sentence)
    clause = sentence[max(place - _CLAUSE, sentence.rfind("，", 0, place), sentence.rfind(", ", 0, place), 0) :]
    if _PATTERN["vague"].search(clause) or _is_condition(sentence, introduced):
        return
    if introduced:
        several = _is_one_of_several(sentence, introduced)
        value = sentence[introduced[-1].end() :].strip(" .,:")
        if several and not _is_worked_out(sentence[: introduced[-1].end()], value):
            return
        if holds_on_condition(sentence, introduced[-1].start(), len(sentence)):
            return
        yield Candidate(value, certain=whole and not several)
        if changing:
            return
        yield from _leading(value)
    formulas = list(_PATTERN["displayed"].finditer(sentence)) if "$" in sentence or "\\" in sentence else []
    if formulas:
        start, end = formulas[-1].span()
        if not (_is_aside(sentence[:start], marked=marked) or holds_on_condition(sentence, start, end)):
            yield from _formula(sentence, formulas[-1])
    elif _PATTERN["said of the answer"].search(sentence) is None:
        yield from _only_number(sentence, marked=marked)


def _leading(value: str) -> Iterator[Candidate]:
    """The number at the beginning of what stands behind `=` or `is`, unless another value is joined to it."""
    leading = _PATTERN["number"].match(value)
    if leading is not None and _PATTERN["stated behind"].search(value, leading.end()) is None:
        yield from _with_unit(leading[0], value[leading.end() :])


def _only_number(sentence: str, *, marked: bool) -> Iterator[Candidate]:
    """The only number of a sentence, or its only amount of money: 220 $ in 12 months."""
    places = [
        each.span()
        for each in _PATTERN["number"].finditer(sentence)
        if not _is_operand(sentence[: each.start()]) and not _is_member(sentence, each.start())
    ]
    priced = [(at, end) for at, end in places if _PATTERN["price"].search(sentence[max(0, at - 1) : end + 2])]
    for at, end in places if len(places) == 1 else priced if len(priced) == 1 else ():
        aside = _is_aside(sentence[:at], marked=marked) or _PATTERN["said of the number"].match(sentence, end)
        if not (aside or holds_on_condition(sentence, at, end)):
            yield from _with_unit(sentence[at:end], sentence[end:])


def _is_condition(sentence: str, introduced: list[re.Match[str]]) -> bool:
    """Whether the last value of a sentence is a condition of another: `The maximum is 3 when x = 2`."""
    named = _named(introduced)
    if not named or introduced[-1][0] != "=" or named[-1].end() > introduced[-1].start():
        return False
    stated = sentence[named[-1].end() : introduced[-1].start()]
    if introduced[0] is named[-1] and _PATTERN["no value stated"].match(stated) is not None:
        return False
    return _PATTERN["on condition"].search(stated) is not None


def _is_one_of_several(sentence: str, introduced: list[re.Match[str]]) -> bool:
    """Whether the last value of a sentence stands beside others: `The maximum is 3 and the minimum is -1`."""
    named = _named(introduced)
    if len(named) < 2:  # noqa: PLR2004
        return False
    first, last = named[-2:]
    if _PATTERN["supposed"].search(sentence[: first.start()]):
        return False
    beside = _PATTERN["stated beside"].search(sentence[first.end() : last.start()])
    return beside is not None and not _PATTERN["concluded"].search(sentence[first.end() : introduced[-1].end()])


def _named(introduced: list[re.Match[str]]) -> list[re.Match[str]]:
    """Those of what introduces values that stand behind a value's name: `is`, but no `=` and no `total of`."""
    return [each for each in introduced if each[0][0] not in "=tT共"]


def states(text: str, value: str) -> bool:
    """Whether a text that marks no answer says of something that it is `value`: 3 or 4 of `x is 3 and y is 4, so`."""
    if text.endswith("**") or any(_boxes_and_marks(text)):
        return False
    size = len(value) + _CLAUSE
    behind = (
        text[each.end() : each.end() + size].lstrip() for each in _named(list(_PATTERN["introduced"].finditer(text)))
    )
    return any(rest.startswith(value) and not rest[len(value) :].lstrip(".,")[:1].isalnum() for rest in behind)


def _is_worked_out(before: str, value: str) -> bool:
    """Whether a value follows from two numbers before it: `The length is 5, the width is 4, the area is 20`."""
    plain = _PATTERN["plain number"]
    result = plain.match(value.lstrip("$€£¥￥ "))
    wanted = Fraction(result[0] if result is not None else 0)
    parts = [Fraction(each[0]) for each in plain.finditer(before)][-_PARTS:]
    return result is not None and any(
        wanted in (one + other, abs(one - other), one * other, one / other, other / one)
        for one, other in combinations(parts, 2)
    )


def _is_operand(before: str) -> bool:
    """Whether the words right before a number change its meaning: half of 26, anything but 26."""
    clause = before[-_CLAUSE:]
    return _PATTERN["operand"].search(clause) is not None and _PATTERN["total of"].search(clause) is None


def _is_aside(before: str, *, marked: bool) -> bool:
    """Whether a number, by the words right before it, is a bound, one of several, or of a place: under 26, page 26.

    `marked`: behind a mark a number without a verb is no answer if a preposition is before it: `proportional to 26`.
    """
    clause = before[-_CLAUSE:]
    if marked and _PATTERN["aside behind a mark"].search(clause) and not _PATTERN["verb behind"].search(before):
        return True
    return _PATTERN["aside"].search(clause) is not None and _PATTERN["total of"].search(clause) is None


def _is_member(sentence: str, place: int) -> bool:
    """Whether `place` is inside brackets with more than one member: the 5 of (0, -5)."""
    opened = max(sentence.rfind(bracket, 0, place) for bracket in "([（［")
    inside = _PATTERN["closing"].split(sentence[opened + 1 :], maxsplit=1)[0]
    return opened >= 0 and place <= opened + len(inside) and any(mark in inside for mark in ",;，；")


def _with_unit(number: str, behind: str) -> Iterator[Candidate]:
    """A number with the unit behind it.

    If other words stand behind the number, the candidate may only confirm a number without a unit.
    """
    length, rest = _unit_of(behind)
    if any(_PATTERN["makes another"].match(behind, at) or goes_on_with_condition(behind, at) for at in (0, length)):
        return
    if rest == "unread" or (rest == "words" and _PATTERN["han"].match(behind.strip()[:1])):
        return
    yield Candidate(number + behind[:length], certain=False, unit_unread=rest == "words")


def _formula(sentence: str, formula: re.Match[str]) -> Iterator[Candidate]:
    """A formula of a sentence with the unit behind it; none if a number or a word before it changes its meaning."""
    before = sentence[: formula.start()]
    if before.rstrip()[-1:].isdigit() or _is_operand(before):
        return
    inside = next(filter(None, formula.groups())).strip(" .,")
    behind = sentence[formula.end() :]
    length, rest = _unit_of(behind)
    if rest != "unread":
        yield Candidate(inside + behind[:length], certain=False, unit_unread=rest == "words")
