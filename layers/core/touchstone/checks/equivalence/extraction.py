"""Where in a text its final answer stands.

Strongest first: a box, a marked answer (`#### 18`, `A: 18`, `The answer is 18.`, 答：, 【答案】, 故选), the text itself
where it is short and reads as a value, bold type, the last line, and the end of the last sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from typing import Literal

from touchstone.checks.notation.numerals import scale_of
from touchstone.checks.notation.tokens import Token, tokens_of
from touchstone.checks.notation.trees import attempted
from touchstone.checks.notation.unit_reading import NOT_COUNTED, read_unit
from touchstone.checks.values.quantities import PERCENT_WORDS
from touchstone.checks.values.words import DENIAL
from touchstone.checks.values.words import choice as chosen
from touchstone.packaged import own_patterns

BARE_LIMIT = 400
"""Characters of a text that may be a bare answer as a whole."""
TAIL = 6_000
"""Characters at the end of a text in which the answer is looked for."""
BOX_LIMIT = 10
"""Boxes, counted from the last, that may together be one answer."""

_CLAUSE = 30
"""Characters before the word that introduces a value in which it may be called an estimate."""
_SENTENCE = 120
"""Characters of a sentence that may be a whole answer: `The solution is $x \\leq 5$`."""
_UNIT_CHARS = 60
"""Characters behind a number or a box in which its unit stands."""
_UNIT_PARTS = 6
_PROSE_WORDS = 3
_PROSE_HAN = 4
"""Words, or Chinese characters, from which a text is a sentence and not a value with its unit."""

_PATTERN = own_patterns(__file__)
_MINUS = str.maketrans("−–－﹣", "----")
_PUNCTUATION = frozenset((".", ",", ";", "?", "!", ":", "-", '"', "'", "¤", "=>"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bare answer; one that the text does not mark as its answer (not `certain`) may only confirm.

    `unit_unread`: what stands behind the number was not read, so it confirms nothing that has a unit.
    """

    text: str
    certain: bool = True
    unit_unread: bool = False


def bare_answers(text: str, *, choice: bool) -> Iterator[Candidate]:
    """Candidates for the bare answer of a text, best first, in linear time; `choice`: an option's letter is wanted."""
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
    if choice:
        if chosen(kept) is not None:
            yield Candidate(kept)
        yield from map(Candidate, _choices(kept, marked))
    if marked is not None:
        yield from _shortened(marked)
        return
    if "\n" in kept and all(map(_PATTERN["value alone"].fullmatch, kept.split("\n"))):
        yield Candidate(kept.rpartition("\n")[2], certain=False)
        return
    if len(text) <= BARE_LIMIT:
        yield Candidate(kept)
    if _is_prose(kept):
        yield from _concluded(kept)


def _without_tags(text: str) -> str:
    """The text without a web page's tags and a model's signs of control: x<sup>2</sup> as x^{2}."""
    text = _PATTERN["entity"].sub(lambda found: unescape(found[0]), text)
    text = _PATTERN["lowered"].sub(r"_{\1}", _PATTERN["raised"].sub(r"^{\1}", text))
    return _PATTERN["control"].sub("", _PATTERN["tag"].sub(" ", text)).strip()


def is_told_once(text: str) -> bool:
    """Whether a text tells its answer once, by a box or words that begin a line, and takes nothing back behind it."""
    kept = _collapsed(text[-TAIL:])
    boxes, marks = _boxes_and_marks(kept)
    told = [mark for mark in marks if mark[0][0] != "#"]
    place = boxes[0].start() if boxes else told[0].start() if told else 0
    if any(mark.start() > place for mark in marks) or len(boxes) > 1 or _PATTERN["takes back"].search(kept, place):
        return False
    if boxes:
        return all(not kept[mark.end() : place].strip("$*:： ") for mark in told)
    return len(told) == 1 and (place == 0 or kept[place - 1] == "\n")


def _of_boxes(text: str, boxes: list[re.Match[str]]) -> Iterator[Candidate]:
    """The answer in boxes; where mathematics or a denial touches the last one, the line without boxes may confirm."""
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
    if whole:
        yield Candidate(boxed)


def _collapsed(text: str) -> str:
    """`text` without runs of white space, so that no pattern has to look into one, and with one sign for minus."""
    text = text if text.isascii() else text.translate(_MINUS)
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split()).replace("\\\\boxed", "\\boxed")
    text = text.replace("\\\\boxed", "\\boxed")
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def _is_prose(text: str) -> bool:
    """Whether this is a sentence, or several, and not a value with its unit."""
    if "\n" in text or ("**" in text and _PATTERN["bold"].search(text)):
        return True
    words = len(_PATTERN["word"].findall(text))
    if words == _PROSE_WORDS - 1 and _PATTERN["introduced"].search(text) is not None:
        return "=" not in text
    return words >= _PROSE_WORDS or len(_PATTERN["han"].findall(text)) >= _PROSE_HAN


def _boxed(text: str, boxes: list[re.Match[str]]) -> tuple[str, bool]:
    """The last box with its unit and those before it of one answer, and whether no mathematics stands behind it."""
    contents: list[str] = []
    following: int | None = None
    suffix, whole = "", True
    for box in reversed(boxes[-BOX_LIMIT:]):
        close = _closing_brace(text, box.end())
        # A box that is never closed ends with its line.
        content = text[box.end() : close]
        content = content.split("\n", maxsplit=1)[0].rstrip("$. ") if close is None else content
        end = len(text) if close is None else close + 1
        if following is None:
            behind = "}" + text[end : end + _SENTENCE].replace("\\)", " ").replace("$", " ")
            behind = _PATTERN["sentence end"].split(behind, maxsplit=1)[0][1:].strip(" ,.")
            # The unit, or the power of ten, that stands behind the box.
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
"""What stands behind a value: nothing but its unit and the rest of a sentence, words, or what was not read."""


def _unit_of(text: str) -> tuple[int, _Behind]:
    """How many characters at the beginning of a text are a unit, and what stands behind the value and that unit."""
    tokens = attempted(tokens_of, text[:_UNIT_CHARS])
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
    """Whether a sentence ends there or goes on: with punctuation, or with a word that is no part of a formula."""
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
    """What a text marks its answer with: where boxes open, and the words and headings that introduce one."""
    boxes = _PATTERN["box"].finditer(text) if "box" in text else ()
    marks = _PATTERN["mark"].finditer(text) if _PATTERN["mark signs"].search(text.lower()) else ()
    return list(boxes), list(marks)


def _marked(text: str, marks: list[re.Match[str]]) -> tuple[str | None, int]:
    """What follows the last mark that something follows, and where; None and −1 without one.

    Words that only call an answer right, and a heading in words, give way to what is marked before them, unless a value
    among them may take it back. A numbered heading is no mark.
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
        said = _PATTERN["a grade"].sub("", marked)
        # Words behind a mark may hold another answer than the one before it.
        if not in_words or _PATTERN["takes back"].search(said) or _PATTERN["a value"].search(said):
            return marked, mark.start()
        last = last or marked
    return last, -1


def _shortened(text: str) -> Iterator[Candidate]:
    """The line of a marked answer, its first sentence, and the value in that."""
    line = text.split("\n", maxsplit=1)[0].strip()
    line = _PATTERN["closing bold"].sub("", _PATTERN["bold"].sub(r"\1", line))
    if (denied := _PATTERN["another denied"].search(line)) is not None:
        line = line[: denied.start()]
    # `The answer is 26!` may be a factorial or a cry.
    yield Candidate(line, certain=not line.endswith("!"))
    sentence = _PATTERN["sentence end"].split(line, maxsplit=1)[0]
    if sentence != line:
        yield Candidate(sentence)
    if len(_PATTERN["word"].findall(sentence)) >= _PROSE_WORDS - 1 or len(_PATTERN["han"].findall(sentence)) > 1:
        yield from _ends(sentence)


def _choices(text: str, marked: str | None) -> Iterator[str]:
    """The options that a text names: behind its mark, at its beginning, or in what it says."""
    if marked is not None:
        if (letters := _PATTERN["letter choice"].match(_PATTERN["bold"].sub(r"\1", marked))) is not None:
            yield letters[1]
        return
    text = _PATTERN["bold"].sub(r"\1", text)
    if _PATTERN["leading denied"].match(text):
        return
    if (leading := _PATTERN["leading choice"].match(text)) is not None:
        yield leading[1]
    denied = {letter.upper() for letter in _PATTERN["denied choice"].findall(text)}
    found = _PATTERN["stated choice"].finditer(text)
    stated = {each[1] for each in found if each[1].isupper() and not _is_denied(text, each.start())} - denied
    if len(stated) == 1:
        yield stated.pop()


def _is_denied(text: str, place: int, words: re.Pattern[str] = _PATTERN["denied"]) -> bool:
    """Whether the words right before a place say that what stands there is not the answer."""
    return words.search(text[max(0, place - _CLAUSE) : place].rstrip()) is not None


def _concluded(text: str) -> Iterator[Candidate]:
    """The value in bold type, the last line, or the value at the end of the last sentence."""
    found = _PATTERN["bold"].finditer(text) if "**" in text else ()
    bold = [
        each[1]
        for each in found
        if not _is_denied(text, each.start()) and not _PATTERN["denies"].match(text, each.end())
    ]
    if bold:
        yield Candidate(bold[-1].strip(" :："))
    sentences = [sentence.strip() for sentence in _PATTERN["sentence end"].split(text) if sentence and sentence.strip()]
    if len(sentences) > 1 or (sentences and (len(text) > BARE_LIMIT or bold)):
        yield Candidate(sentences[-1])
    if len(sentences) == 1 or (sentences and _is_prose(sentences[-1])):
        yield from _ends(sentences[-1], whole=len(sentences) == 1 and len(text) <= _SENTENCE)


def _ends(sentence: str, *, whole: bool = False) -> Iterator[Candidate]:
    """The value at a sentence's end: behind `=` or `is`, the last formula, the only number. `whole`: it is certain."""
    introduced = list(_PATTERN["introduced"].finditer(sentence))
    if not (introduced or _PATTERN["may hold value"].search(sentence)) or DENIAL.search(sentence):
        return
    place = introduced[-1].start() if introduced else len(sentence)
    clause = sentence[max(place - _CLAUSE, sentence.rfind("，", 0, place), sentence.rfind(", ", 0, place), 0) :]
    if _PATTERN["vague"].search(clause):
        return
    if introduced:
        value = sentence[introduced[-1].end() :].strip(" .,:")
        yield Candidate(value, certain=whole)
        if (leading := _PATTERN["number"].match(value)) is not None:
            yield from _with_unit(leading[0], value[leading.end() :])
    formulas = list(_PATTERN["displayed"].finditer(sentence)) if "$" in sentence or "\\" in sentence else []
    if formulas:
        yield from _formula(sentence, formulas[-1])
        return
    places = [
        each.span()
        for each in _PATTERN["number"].finditer(sentence)
        if not _is_operand(sentence[: each.start()]) and not _is_member(sentence, each.start())
    ]
    priced = [(at, end) for at, end in places if _PATTERN["price"].search(sentence[max(0, at - 1) : end + 2])]
    # The only amount of money among numbers counts: 220 $ in 12 months.
    for at, end in places if len(places) == 1 else priced if len(priced) == 1 else ():
        yield from _with_unit(sentence[at:end], sentence[end:])


def _is_operand(before: str) -> bool:
    """Whether words right before a number make something else of it: half of 26, anything but 26."""
    clause = before[-_CLAUSE:]
    return _PATTERN["operand"].search(clause) is not None and _PATTERN["total of"].search(clause) is None


def _is_member(sentence: str, place: int) -> bool:
    """Whether a place is inside brackets with more than one member: the 5 of (0, -5)."""
    opened = max(sentence.rfind(bracket, 0, place) for bracket in "([（［")
    inside = _PATTERN["closing"].split(sentence[opened + 1 :], maxsplit=1)[0]
    return opened >= 0 and place <= opened + len(inside) and any(mark in inside for mark in ",;，；")


def _with_unit(number: str, behind: str) -> Iterator[Candidate]:
    """A number with the unit behind it; where what stands there is no unit, it may confirm a plain number alone."""
    length, rest = _unit_of(behind)
    if any(_PATTERN["makes another"].match(each) for each in (behind, behind[length:])):
        return
    if rest == "unread" or (rest == "words" and _PATTERN["han"].match(behind.strip()[:1])):
        return
    yield Candidate(number + behind[:length], certain=False, unit_unread=rest == "words")


def _formula(sentence: str, formula: re.Match[str]) -> Iterator[Candidate]:
    """The last formula of a sentence with the unit behind it, unless a number right before it belongs to it."""
    before = sentence[: formula.start()]
    if before.rstrip()[-1:].isdigit() or _is_operand(before):
        return
    inside = next(filter(None, formula.groups())).strip(" .,")
    behind = sentence[formula.end() :]
    length, rest = _unit_of(behind)
    if rest != "unread":
        yield Candidate(inside + behind[:length], certain=False, unit_unread=rest == "words")
