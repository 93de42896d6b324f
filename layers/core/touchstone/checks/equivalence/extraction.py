"""Where in a text its final answer stands.

Strongest first: a box, a marked answer (`#### 18`, `A: 18`, `The answer is 18.`, 答：, 【答案】, 故选), the text itself
where it is short and reads as a value, bold type, the last line, and the end of the last sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from touchstone.checks.notation.tokens import Token, tokens_of
from touchstone.checks.notation.trees import OutOfBoundsError
from touchstone.checks.notation.units import read_unit
from touchstone.checks.values.quantities import PERCENT_WORDS
from touchstone.checks.values.words import DENIAL
from touchstone.checks.values.words import choice as chosen

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

_CONTROL = re.compile(r"<\|?/?[A-Za-z_]{1,20}\|?>.{0,20}$|<eo[a-z]>|<\|?im_\w{1,20}\|?>(?:user|assistant)?")
_NOTHING_FOLLOWS = re.compile(r"\sI hope (?:it|this) (?:is correct|helps)\.?$", re.IGNORECASE)
_MINUS = str.maketrans("−–－﹣", "----")
_LEAD = re.compile(
    r"(?:so|thus|therefore|hence|finally)(?: then)?[,:]? (?:we (?:get|have|find) )?|(?:所以|因此)[，,：:]?(?=\S)",
    re.IGNORECASE,
)
"""How a conclusion begins, which says nothing of its value."""
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_BETWEEN_BOXES = re.compile(
    r"(?:[\s$.,;:、+&~]|\\[()\[\],;:! ]|\\q?quad|\\text\s?\{|\}"
    r"|\b(?:and|or|the|first|second|third|other|root|solution|value|is|are)\b|和|或|与|與|以及"
    r"|[A-Za-z](?:_\{?\w\}?)?\s?=)*+"
)
_MARK = re.compile(
    r"""(?:
      \#{3,4}
    | ^(?:\*\*)?(?:final\s)?(?:answer|ans|a|答案?|réponse|respuesta|antwort|risposta|resposta)
      \s?(?:\*\*)?\s?[:：]\s?(?:\*\*)?
    | \b(?:the\s)?(?:final\s|correct\s)?(?:answer|choice|option)\s(?:is|should\sbe|equals)\b(?:\stherefore)?\s?:?
    | \b(?:la\s)?(?:réponse|respuesta|risposta|resposta)\s(?:finale\s)?(?:est|es|è|é)\b\s?:?
    | \b(?:die\s)?antwort\sist\b\s?:?
    | \b(?:final\s)?answer\s?(?:\*\*)?\s?[:：]\s?(?:\*\*)?
    | ^answer\s(?=\$|\\\()
    | 【\s?答案\s?】\s?[:：]?
    | (?:正确|正確)?的?答案(?:应该|应当|应|應該|應)?(?:选|選|是|为|為|：|:){1,2}
    | 答[:：案]
    | (?:故|因此|所以|综上|綜上|应|應)[，,]?(?:本题|答案)?(?:应该|应|應該|應)?[选選](?:择|擇)?(?:项)?[:：]?
    )\s?""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_MARK_SIGNS = re.compile("ans|###|a ?[:：]|choice|option|r[ée]spo|répons|respu|antwort|rispo|[答选選]")
"""Of which every mark holds one: most texts hold none, and need no looking for marks."""
_REPEATED_MARK = re.compile(
    r"^(?:the\s)?(?:final\s)?answer\sis\s?:?\s?|^(?:应该|应|選|选|是|为|為)\s?[:：]?\s?", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"\.(?<=\S\.)(?=\s|$)|[。！；\n]|!(?<!\\!)")
_BOLD = re.compile(r"(?<![-+/^)}\]0-9A-Za-z])\*\*([^*\n]{1,200})\*\*")
"""Bold type; two stars right behind a number, a name or a bracket are a power, as programs write it."""
_CLOSING_BOLD = re.compile(r"\*\*(?=[\s.,;。，；]|$)")
_NUMBER = re.compile(
    r"(?<![\w.,({\[])(?:-?[$€£¥￥]\s?)?-?(?:\d{1,3}+(?:,\d{3}(?!\d))++|\d++)(?:\.\d++)?(?:/\d++)?%?(?![\d])"
)
_MAY_HOLD_VALUE = re.compile(r"[\d$\\]")
_PUNCTUATION = frozenset((".", ",", ";", "?", "!", ":", "-", '"', "'", "¤", "=>"))
_OPERAND = re.compile(r"(?:\b([a-z]+) )?\b(of|than|but|except|from|by|times|over) \(?[$€£¥]?$", re.IGNORECASE)
_TOTALS = frozenset(
    ("total", "sum", "value", "amount", "result", "score", "difference", "product", "average", "mean", "number", "area",
     "length", "volume", "weight", "mass", "speed", "price", "cost", "profit", "loss", "answer", "median", "grand")
)  # fmt: skip
"""What a number may be of: a total of 26 is 26."""
_PRICE = re.compile(r"[$€£¥￥]")
_LETTER_CHOICE = re.compile(
    r"^(?:for sure |definitely |option |choice |[选選]项|[选選]|\(|\[|\*\*){0,4}\s?"
    r"([A-H](?:\s?(?:[,、和&]|and)?\s?[A-H](?![A-Za-z])){0,7})(?![A-Za-z'])"
)
_LEADING_CHOICE = re.compile(r"\(?([A-H])(?:\s?[).:、．]\s\S|[，,。;；])")
_STATED_CHOICE = re.compile(
    r"(?<!not )(?<!n't )(?<![不别非])(?:\b(?:it'?s|it is|is|be|choose|pick|select|chose|picked|go with|option|choice"
    r"|est|es|ist)\s|[选選](?:择|擇)?(?:项|項)?\s?|[是为為]\s?)"
    r"\(?(?:option )?([A-H])\)?(?![A-Za-z'(=+*/^_-])(?!\s[a-z])"
    r"(?!\s?(?:[,、，;&和及或]|and\b|or\b)\s?\(?[A-H](?![A-Za-z]))",
    re.IGNORECASE,
)
_DENIED_CHOICE = re.compile(r"(?:\bnot |n't (?:be )?|[不别非](?:选|選|是)?)\(?([A-H])\)?(?![A-Za-z'])")
_INTRODUCED = re.compile(
    r"=|\b(?:is|are|was|were|equals?|total(?:l?ing)?(?: of)?|est|sont|ist|sind|es|son)\b|[是为為]|等[于於]|共有?|得到?"
)
_VAGUE = re.compile(
    r"\b(?:not?|isn't|never|at (?:least|most)|(?:more|less|fewer|greater) than|or (?:more|less|fewer)|about|around"
    r"|nearly|almost|approximately|between|either|maybe|perhaps|unless|if|below|above|without|besides|except|instead)\b"
    r"|左右|以上|以下|以内|以內|至少|至多|大约|大約|大概|约|約|不|没|沒|可能|或许|或許|超过|超過|不足|剩|原来|原來",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<![\\A-Za-zÀ-ɏ])[A-Za-zÀ-ɏ]{2,}+")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_TOUCHES_BEFORE = re.compile(r"(?:(?<!\+)[-+*/^_{(\d]|\\(?:sqrt|frac|ne|neq|pm|mp|cdot|times|div)(?![A-Za-z])\s?)\$?$")
_TOUCHES_BEHIND = re.compile(r"[/^_!]|\s?[-+](?=[\s\d\\A-Za-z(])|\s?\\(?:div|pm)")
"""Mathematics right before or behind a box: the box is a part of something else."""
_DENIED = re.compile(
    r"(?:\b(?:not|never|no|cannot|reject(?:ed)?|discard(?:ed)?)|n['’]t)(?: (?:be|equal|equal to|just|simply))?$"
    r"|\\neq?$|≠$|不[是选選为為]?$|不等[于於]$|[并並绝絕而]非$|[舍捨]去$",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"[\s$*)]{0,4}(?:(?:is|are|was|would be) (?:not|wrong|incorrect|rejected|false)\b|(?:is|are|was)n['’]t\b"
    r"|是?(?:不[对對是]|[错錯]))"
)
_ANOTHER_DENIED = re.compile(
    r"[,，;；(（]\s?(?:and |but )?(?:not\b|而?不[是选選]|[并並而]非)|\s(?:rather than|instead of)\b", re.IGNORECASE
)
"""Behind an answer: which one it is not."""
_LEADING_DENIED = re.compile(
    r"\(?[A-H]\)?\.?(?:[\s,、;&]{1,3}+(?:and )?\(?[A-H]\)?(?![A-Za-z]))*+"
    r"\s?(?:(?:is|are|was)(?:n['’]t| not| wrong| incorrect)|是?(?:不[对對是]|[错錯]))"
)
_GOES_ON = re.compile(r"\d|[*×·]|\\(?:times|cdot)(?![A-Za-z])")
"""Behind a box: the answer goes on, `\\boxed{2.2} \\times 10^{-6}`."""
_BOXED_NAME = re.compile(
    r"(?<![\w+*/^-])([A-Za-z](?:_\{?\w\}?)?\s?(?:=|\\in(?![A-Za-z])|∈|[<>]=?|\\[lg](?:t|eq?)?(?![A-Za-z])|[≤≥]))\s?(?:\$|\\\()?\s?$"
)
_DISPLAYED = re.compile(
    r"\$\$?((?:[^$\\]|\\[^$]){1,300}+)\$\$?|\\\(((?:[^\\]|\\[^)]){1,300}+)\\\)|\\\[((?:[^\\]|\\[^\]]){1,300}+)\\\]"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bare answer. `certain`: the text marks it as its answer; a candidate that is not may only confirm.

    `unit_unread`: what stands behind the number was not read, so it confirms nothing that has a unit.
    """

    text: str
    certain: bool = True
    unit_unread: bool = False


def bare_answers(text: str, *, choice: bool) -> Iterator[Candidate]:
    """Candidates for the bare final answer of `text`, best first; `choice` when an option's letter is wanted.

    Linear in the length of the text.
    """
    kept = _collapsed(text[-TAIL:])
    if len(text) <= BARE_LIMIT:
        kept = kept.strip("`")
        lead = _LEAD.match(kept)
        kept = kept if lead is None else kept[lead.end() :]
    if "<" in kept:
        kept = _CONTROL.sub("", kept).rstrip()
    if "hope" in kept:
        kept = _NOTHING_FOLLOWS.sub("", kept)
    marked, place = _marked(kept)
    boxes = list(_BOX.finditer(kept)) if "box{" in kept or "boxed" in kept else []
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
    if len(text) <= BARE_LIMIT:
        yield Candidate(kept)
    if _is_prose(kept):
        yield from _concluded(kept)


def _of_boxes(text: str, boxes: list[re.Match[str]]) -> Iterator[Candidate]:
    """The answer in boxes; where mathematics or a denial touches the last one, the line without boxes may confirm."""
    last = boxes[-1]
    close = _closing_brace(text, last.end())
    before = text[: last.start()].rsplit("\n", maxsplit=1)[-1].rstrip()
    before = before.removesuffix("\\(").removesuffix("\\[").rstrip().removesuffix("**").rstrip()
    behind = "" if close is None else text[close + 1 :].split("\n", maxsplit=1)[0]
    if _DENIED.search(before.rstrip("$ ")) or _DENIES.match(behind):
        return
    if close is not None and (_TOUCHES_BEFORE.search(before) or _TOUCHES_BEHIND.match(behind)):
        yield Candidate(f"{before}({text[last.end() : close]}){behind}", certain=False)
        return
    boxed, whole = _boxed(text, boxes)
    yield Candidate(boxed, certain=whole)


def _collapsed(text: str) -> str:
    """`text` without runs of white space, so that no pattern has to look into one, and with one sign for minus."""
    text = text if text.isascii() else text.translate(_MINUS)
    if "\n" not in text and "\r" not in text:
        return " ".join(text.split()).replace("\\\\boxed", "\\boxed")
    text = text.replace("\\\\boxed", "\\boxed")
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def _is_prose(text: str) -> bool:
    """Whether this is a sentence, or several, and not a value with its unit."""
    if "\n" in text or ("**" in text and _BOLD.search(text)):
        return True
    words = len(_WORD.findall(text))
    if words == _PROSE_WORDS - 1 and _INTRODUCED.search(text) is not None:
        return "=" not in text
    return words >= _PROSE_WORDS or len(_HAN.findall(text)) >= _PROSE_HAN


def _boxed(text: str, boxes: list[re.Match[str]]) -> tuple[str, bool]:
    """The content of the last box, with its unit and with the boxes right before it that belong to the same answer.

    And whether that is all of the answer: what stands behind the box may be mathematics that was not read.
    """
    contents: list[str] = []
    following: int | None = None
    suffix, whole = "", True
    for box in reversed(boxes[-BOX_LIMIT:]):
        close = _closing_brace(text, box.end())
        # A box that is never closed ends with its line.
        content = (
            text[box.end() :].split("\n", maxsplit=1)[0].rstrip("$. ") if close is None else text[box.end() : close]
        )
        end = len(text) if close is None else close + 1
        if following is None:
            suffix, whole = _unit_behind(_sentence_behind(text[end : end + _SENTENCE]))
        elif not _BETWEEN_BOXES.fullmatch(text[end:following]):
            break
        name = _BOXED_NAME.search(text[max(0, box.start() - 20) : box.start()])
        contents.append(f"{name[1]} {content}" if name and "=" not in content else content)
        following = box.start() - (len(name[0]) if name else 0)
    return ", ".join(dict.fromkeys(reversed(contents))) + suffix, whole


def _sentence_behind(text: str) -> str:
    """What stands behind a box up to the end of its sentence."""
    return _SENTENCE_END.split("}" + text.replace("\\)", " ").replace("$", " "), maxsplit=1)[0][1:].strip(" ,.")


def _unit_behind(text: str) -> tuple[str, bool]:
    """The unit or the power of ten that stands behind a box, "" where there is none; and whether all was read."""
    if _GOES_ON.match(text):
        return f" {text}", True
    length, behind = _unit_of(text)
    return (f" {text[:length]}", True) if length else ("", behind != "unread")


type _Behind = Literal["read", "words", "unread"]
"""What stands behind a value: nothing but its unit and the rest of a sentence, words, or what was not read."""


def _unit_of(text: str) -> tuple[int, _Behind]:
    """How many characters at the beginning of a text are a unit, and what stands behind the value and that unit."""
    try:
        tokens = tokens_of(text[:_UNIT_CHARS])
    except OutOfBoundsError:
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
    if after is not None and after.is_sign("/", "^", "*", "_", "=") and not (after.spaced and after.text == "="):
        return False
    if token.kind == "close" and token.text == ")":
        return True
    if token.kind == "letters" and len(token.text) == 1:
        # `à payer`, `a day`: a letter between words.
        return token.text.islower() and after is not None and after.kind == "letters" and after.spaced
    return token.kind == "han" or (token.kind == "letters" and not token.upright)


def _closing_brace(text: str, start: int) -> int | None:
    depth = 1
    for place in range(start, len(text)):
        if text[place] == "{" and text[place - 1] != "\\":
            depth += 1
        elif text[place] == "}" and text[place - 1] != "\\":
            depth -= 1
            if depth == 0:
                return place
    return None


def _marked(text: str) -> tuple[str | None, int]:
    """What follows the last mark that something follows, and where; None and −1 without one."""
    marks = list(_MARK.finditer(text)) if _MARK_SIGNS.search(text.lower()) else []
    for mark in reversed(marks):
        rest = text[mark.end() :].strip()
        if rest.strip("*#:： \n"):
            return _REPEATED_MARK.sub("", rest.lstrip("*#:： \n")), mark.start()
    return None, -1


def _shortened(text: str) -> Iterator[Candidate]:
    """The line of a marked answer, its first sentence, and the value in that."""
    line = text.split("\n", maxsplit=1)[0].strip()
    line = _CLOSING_BOLD.sub("", _BOLD.sub(r"\1", line))
    if (denied := _ANOTHER_DENIED.search(line)) is not None:
        line = line[: denied.start()]
    # `The answer is 26!` may be a factorial or a cry.
    yield Candidate(line, certain=not line.endswith("!"))
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    if sentence != line:
        yield Candidate(sentence)
    if len(_WORD.findall(sentence)) >= _PROSE_WORDS - 1 or len(_HAN.findall(sentence)) > 1:
        yield from _ends(sentence)


def _choices(text: str, marked: str | None) -> Iterator[str]:
    """The options that a text names: behind its mark, at its beginning, or in what it says."""
    if marked is not None:
        if (letters := _LETTER_CHOICE.match(_BOLD.sub(r"\1", marked))) is not None:
            yield letters[1]
        return
    text = _BOLD.sub(r"\1", text)
    if _LEADING_DENIED.match(text):
        return
    if (leading := _LEADING_CHOICE.match(text)) is not None:
        yield leading[1]
    denied = {letter.upper() for letter in _DENIED_CHOICE.findall(text)}
    stated = {
        each[1]
        for each in _STATED_CHOICE.finditer(text)
        if each[1].isupper() and not _DENIED.search(text[max(0, each.start() - _CLAUSE) : each.start()].rstrip())
    } - denied
    if len(stated) == 1:
        yield stated.pop()


def _concluded(text: str) -> Iterator[Candidate]:
    """The value in bold type, the last line, or the value at the end of the last sentence."""
    bold = [
        each[1]
        for each in (_BOLD.finditer(text) if "**" in text else ())
        if not _DENIED.search(text[max(0, each.start() - _CLAUSE) : each.start()].rstrip())
        and not _DENIES.match(text, each.end())
    ]
    if bold:
        yield Candidate(bold[-1].strip(" :："))
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence and sentence.strip()]
    if sentences:
        if len(sentences) > 1 or len(text) > BARE_LIMIT or bold:
            yield Candidate(sentences[-1])
        if len(sentences) == 1 or _is_prose(sentences[-1]):
            yield from _ends(sentences[-1], whole=len(sentences) == 1 and len(text) <= _SENTENCE)


def _ends(sentence: str, *, whole: bool = False) -> Iterator[Candidate]:
    """The value at the end of a sentence of prose: behind its last `=` or `is`, its last formula, its only number.

    `whole`: the sentence is all there is, so that the value is certainly its answer.
    """
    introduced = list(_INTRODUCED.finditer(sentence))
    if not (introduced or _MAY_HOLD_VALUE.search(sentence)) or DENIAL.search(sentence):
        return
    place = introduced[-1].start() if introduced else len(sentence)
    clause = sentence[max(place - _CLAUSE, sentence.rfind("，", 0, place), sentence.rfind(", ", 0, place), 0) :]
    if _VAGUE.search(clause):
        return
    if introduced:
        value = sentence[introduced[-1].end() :].strip(" .,:")
        yield Candidate(value, certain=whole)
        if (leading := _NUMBER.match(value)) is not None:
            yield from _with_unit(leading[0], value[leading.end() :])
    formulas = list(_DISPLAYED.finditer(sentence)) if "$" in sentence or "\\" in sentence else []
    if formulas:
        yield from _formula(sentence, formulas[-1])
        return
    numbers = [number for number in _NUMBER.finditer(sentence) if not _is_operand(sentence[: number.start()])]
    priced = [number for number in numbers if _PRICE.search(sentence[max(0, number.start() - 1) : number.end() + 2])]
    if len(numbers) > 1 and len(priced) == 1:
        # The only amount of money among numbers: 220 $ in 12 months.
        numbers = priced
    if len(numbers) == 1:
        yield from _with_unit(numbers[0][0], sentence[numbers[0].end() :])


def _is_operand(before: str) -> bool:
    """Whether words right before a number make something else of it: half of 26, anything but 26."""
    found = _OPERAND.search(before[-_CLAUSE:])
    return found is not None and not (found[2].lower() == "of" and (found[1] or "").lower() in _TOTALS)


def _with_unit(number: str, behind: str) -> Iterator[Candidate]:
    """A number with the unit behind it; where what stands there is no unit, it may confirm a plain number alone."""
    length, rest = _unit_of(behind)
    if rest == "unread" or (rest == "words" and _HAN.match(behind.strip()[:1])):
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
