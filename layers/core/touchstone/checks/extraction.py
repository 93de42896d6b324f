"""Where in a text its final answer stands.

Strongest first: a box, a marked answer (`#### 18`, `A: 18`, `The answer is 18.`, 答：, 【答案】, 故选), the text itself
where it is short and reads as a value, bold type, the last line, and the end of the last sentence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BARE_LIMIT = 400
"""Characters of a text that may be a bare answer as a whole."""
TAIL = 6_000
"""Characters at the end of a text in which the answer is looked for."""

_CLAUSE = 30
"""Characters before the word that introduces a value in which it may be called an estimate."""
_SENTENCE = 120
"""Characters of a sentence that may be a whole answer: `The solution is $x \\leq 5$`."""
BOX_LIMIT = 10
"""Boxes, counted from the last, that may together be one answer."""

_CONTROL = re.compile(r"<\|?/?[A-Za-z_]{1,20}\|?>.{0,20}$|<eo[a-z]>|<\|?im_\w+\|?>(?:user|assistant)?")
_NOTHING_FOLLOWS = re.compile(r"\s*I hope (?:it|this) (?:is correct|helps)\.?\s*$", re.IGNORECASE)
_BOX = re.compile(r"\\(?:boxed|fbox)\s?\{")
_BETWEEN_BOXES = re.compile(
    r"(?:[\s$.,;:、+&~]|\\[()\[\],;:! ]|\\q?quad|\\text\s?\{|\}|\band\b|\bor\b|和|或|与|以及"
    r"|[A-Za-z](?:_\{?\w\}?)?\s?=)*"
)
_MARK = re.compile(
    r"""(?:
      \#{3,4}
    | ^\s*(?:\*\*)?\s*(?:final\s+)?(?:answer|ans|a|答案?|réponse|respuesta|antwort)\s?(?:\*\*)?\s?[:：]\s?(?:\*\*)?
    | \b(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|choice|option)\s+(?:is|should\s+be|equals)\b(?:\s+therefore)?\s?:?
    | \b(?:final\s+)?answer\s?(?:\*\*)?\s?[:：]\s?(?:\*\*)?
    | 【\s?答案\s?】\s?[:：]?
    | (?:正确)?(?:的)?答案(?:应该|应当|应)?(?:选|是|为|：|:)+
    | 答[:：案]
    | (?:故|因此|所以|综上|应)[，,]?(?:本题|答案)?(?:应该|应)?选(?:择)?(?:项)?[:：]?
    )\s*""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_REPEATED_MARK = re.compile(
    r"^(?:the\s+)?(?:final\s+)?answer\s+is\s?:?\s*|^(?:应该|应|选|是|为)\s?[:：]?\s*", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"(?<=[^\d\s])\.(?=\s|$)|(?<=\d)\.(?=\s|$)|[。！!；]|\n")
_BOLD = re.compile(r"\*\*([^*\n]{1,200})\*\*")
_NUMBER = re.compile(r"(?<![\w.])-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?%?")
_LETTER_CHOICE = re.compile(
    r"^(?:for sure |definitely |option |choice |选项|选|\(|\[|\*\*)*\s*"
    r"([A-H](?:\s*(?:[,、和&]|and)?\s*[A-H](?![A-Za-z])){0,7})(?![A-Za-z'])"
)
_LEADING_CHOICE = re.compile(r"\(?([A-H])\s*[).:、．]\s+\S")
_INTRODUCED = re.compile(r"=|\b(?:is|are|was|were|equals?|total(?:l?ing)?(?: of)?)\b|[是为]|等于|共有?|得到?")
_LEADING_NUMBER = re.compile(
    r"[$€£¥]?\s?-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
    r"(?=\s+(?!hundred|thousand|million|billion|dozen|to\b|or\b)[A-Za-z]|[\u4e00-\u9fff]|$)"
)
_VAGUE = re.compile(
    r"\b(?:not?|isn't|never|at (?:least|most)|(?:more|less|fewer|greater) than|or (?:more|less|fewer)|about|around"
    r"|nearly|almost|approximately|between|either|maybe|perhaps|unless|if)\b"
    r"|左右|以上|以下|以内|至少|至多|大约|大概|约|不|没|可能|或许|超过|不足",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Za-z]{2}[^A-Za-z]+[A-Za-z]{2}|[\u4e00-\u9fff]{2}")
_PERCENT = re.compile(r"\s?\$?\s?(\\?%|percent|pct)")
_BOXED_NAME = re.compile(r"([A-Za-z](?:_\{?\w\}?)?\s?=)\s*(?:\$|\\\()?\s*$")
_DISPLAYED = re.compile(r"\$\$?((?:[^$\\]|\\.){1,300})(?<!\\)\$\$?|\\\((.{1,300}?)\\\)|\\\[(.{1,300}?)\\\]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A bare answer. `certain`: the text marks it as its answer; a candidate that is not may only confirm."""

    text: str
    certain: bool = True


def bare_answers(text: str, *, choice: bool) -> Iterator[Candidate]:
    """Candidates for the bare final answer of `text`, best first; `choice` when an option's letter is wanted.

    Linear in the length of the text.
    """
    kept = _NOTHING_FOLLOWS.sub("", _CONTROL.sub("", _collapsed(text[-TAIL:])))
    marked, place = _marked(kept)
    boxes = list(_BOX.finditer(kept))
    if boxes and place <= boxes[-1].start():
        yield Candidate(_boxed(kept, boxes))
        return
    if choice:
        yield from map(Candidate, _choices(kept, marked))
    if marked is not None:
        yield from _shortened(marked)
        return
    if len(text) <= BARE_LIMIT:
        yield Candidate(kept)
    yield from _concluded(kept)


def _collapsed(text: str) -> str:
    """`text` without runs of white space, so that no pattern has to look into one, and without doubled backslashes."""
    text = text.replace("\\\\boxed", "\\boxed")
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)


def _boxed(text: str, boxes: list[re.Match[str]]) -> str:
    """The content of the last box, with those right before it that belong to the same answer."""
    contents: list[str] = []
    following: int | None = None
    suffix = ""
    for box in reversed(boxes[-BOX_LIMIT:]):
        close = _closing_brace(text, box.end())
        # A box that is never closed ends with its line.
        content = (
            text[box.end() :].split("\n", maxsplit=1)[0].rstrip("$. ") if close is None else text[box.end() : close]
        )
        end = len(text) if close is None else close + 1
        if following is None:
            percent = _PERCENT.match(text, end)
            suffix = percent[1] if percent else ""
        elif not _BETWEEN_BOXES.fullmatch(text[end:following]):
            break
        name = _BOXED_NAME.search(text[max(0, box.start() - 20) : box.start()])
        contents.append(f"{name[1]} {content}" if name and "=" not in content else content)
        following = box.start() - (len(name[0]) if name else 0)
    return ", ".join(dict.fromkeys(reversed(contents))) + suffix


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
    for mark in reversed(list(_MARK.finditer(text))):
        rest = text[mark.end() :].strip()
        if rest.strip("*#:： \n"):
            return _REPEATED_MARK.sub("", rest.lstrip("*#:： \n")), mark.start()
    return None, -1


def _shortened(text: str) -> Iterator[Candidate]:
    """The line of a marked answer, its first sentence, and the value in that."""
    line = text.split("\n", maxsplit=1)[0].strip().replace("**", "")
    yield Candidate(line)
    sentence = _SENTENCE_END.split(line, maxsplit=1)[0]
    if sentence != line:
        yield Candidate(sentence)
    yield from _ends(sentence)


def _choices(text: str, marked: str | None) -> Iterator[str]:
    if marked is not None and (chosen := _LETTER_CHOICE.match(marked.replace("**", ""))) is not None:
        yield chosen[1]
    elif marked is None and (leading := _LEADING_CHOICE.match(text)) is not None:
        yield leading[1]


def _concluded(text: str) -> Iterator[Candidate]:
    """The value in bold type, the last line, or the value at the end of the last sentence."""
    bold = _BOLD.findall(text)
    if bold:
        yield Candidate(bold[-1].strip(" :："))
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence and sentence.strip()]
    if sentences:
        yield Candidate(sentences[-1])
        yield from _ends(sentences[-1], whole=len(sentences) == 1 and len(text) <= _SENTENCE)


def _ends(sentence: str, *, whole: bool = False) -> Iterator[Candidate]:
    """The value at the end of a sentence of prose: behind its last `=` or `is`, its last formula, its only number.

    `whole`: the sentence is all there is, so that the value is certainly its answer.
    """
    if not _PROSE.search(sentence):
        return
    introduced = list(_INTRODUCED.finditer(sentence))
    place = introduced[-1].start() if introduced else len(sentence)
    clause = sentence[max(place - _CLAUSE, sentence.rfind("，", 0, place), sentence.rfind(", ", 0, place), 0) :]
    if _VAGUE.search(clause):
        return
    if introduced:
        value = sentence[introduced[-1].end() :].strip(" .,:")
        yield Candidate(value, certain=whole)
        if (leading := _LEADING_NUMBER.match(value)) is not None:
            yield Candidate(leading[0], certain=False)
    formulas = [next(filter(None, groups)) for groups in _DISPLAYED.findall(sentence)]
    numbers = _NUMBER.findall(sentence)
    if formulas:
        yield Candidate(formulas[-1].strip(" .,"), certain=False)
    elif len(numbers) == 1:
        yield Candidate(numbers[0], certain=False)
