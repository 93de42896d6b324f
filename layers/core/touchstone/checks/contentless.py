"""Recognises answers without content, which are refused before any judge is asked.

Judges were seen to pass ":", "Thought process:" or "解" alone (Zhao et al. 2025, "One Token to Fool LLM-as-a-Judge").
The rule: take away what formats (markup, punctuation, invisible characters), then what only announces an answer
(`LEAD_INS`); an answer of which nothing is left has no content.

Where one could argue, it is settled so:
- A sign that pupils answer with is content: √ × ✓ ✗ ○ > < = + ∅; so is any letter or digit: x, B, 是, 0, None.
- "N/A", "TBD" and "TODO" say that there is no answer: without content. "I don't know" and "null" are answers, if
  rarely right ones: content.
- "{}", "[]" and "-" are placeholders, not sets or signs: without content. ∅ and − (the minus sign) are content.
- "Solution" is announced, never answered, though it is a word of chemistry: without content.
"""

import re
import unicodedata

from touchstone.text import normalised

ANSWER_SIGNS = frozenset("√×✓✔☑✗✘☒❌✅○◯●⭕△▲□■÷±∅∞°→←↑↓⇒⇔♂♀")
"""Symbols that stand for an answer by themselves, beyond those of mathematics (category Sm)."""

INVISIBLE_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u17b4\u17b5")
"""Letters by category that show nothing."""

LEAD_INS = (
    "thought process", "thinking process", "thinking", "thoughts", "thought", "reasoning", "reason", "rationale",
    "analysis", "explanation", "explain", "proof", "derivation", "working", "work", "steps", "step", "step by step",
    "solution process", "solution steps", "solution", "the solution is", "the solution", "my solution", "answer",
    "the answer is", "the answer", "my answer is", "my answer", "final answer", "the final answer is",
    "the final answer", "final result", "result", "response", "conclusion", "output", "summary", "hint", "note",
    "let us solve this", "lets solve this", "let us solve this step by step", "lets solve this step by step",
    "let us solve this problem step by step", "lets solve this problem step by step", "let us solve the problem",
    "lets solve the problem", "lets solve it step by step", "let us solve it step by step", "lets solve it",
    "let us think step by step", "lets think step by step", "lets think", "let me think", "let me solve this",
    "let me think step by step", "let me solve this step by step", "lets begin", "lets start",
    "lets work through this", "lets work through this step by step", "lets break this down", "lets break it down",
    "lets analyze this", "we need to solve this problem", "to solve this problem", "to solve this",
    "here is the solution", "heres the solution", "here is the answer", "heres the answer", "here is my answer",
    "here is", "certainly", "sure", "okay", "of course", "first", "therefore", "thus", "hence", "so", "finally", "na",
    "tbd", "todo", "begin", "end", "problem", "question", "user", "assistant", "system", "解", "解答", "解析", "解法",
    "解题", "解題", "解题过程", "解題過程", "解题步骤", "解題步驟", "解答过程", "解答過程", "分析", "思路",
    "解题思路", "解題思路", "答", "答案", "答案是", "答案为", "答案為", "最终答案", "最終答案", "最终答案是",
    "最終答案是", "正确答案", "正確答案", "正确答案是", "正確答案是", "回答", "答复", "答覆", "结果", "結果", "结论",
    "結論", "过程", "過程", "步骤", "步驟", "思考", "思考过程", "思考過程", "推理", "推理过程", "推理過程", "证明",
    "證明", "说明", "說明", "提示", "综上所述", "綜上所述", "综上", "綜上", "所以", "因此", "首先", "最后", "最後",
    "故", "好的", "当然", "當然", "题目", "題目", "问题", "問題", "让我们一步一步思考", "讓我們一步一步思考",
    "让我们一步步思考", "讓我們一步步思考", "让我们逐步思考", "讓我們逐步思考", "让我们一步一步来",
    "讓我們一步一步來", "让我们一步一步解决这个问题", "讓我們一步一步解決這個問題", "让我们逐步解决这个问题",
    "讓我們逐步解決這個問題", "我们一步一步来", "我們一步一步來", "让我们来解决这个问题", "讓我們來解決這個問題",
    "让我想想", "讓我想想", "第一步", "步骤一", "步驟一", "かいせつ", "解説", "答え", "こたえ", "回答は", "解答は",
    "解き方", "考え方", "풀이", "정답", "답", "해설", "respuesta", "solucion", "reponse", "losung", "antwort",
    "resposta", "solucao", "risposta", "soluzione", "решение", "ответ", "الحل", "الجواب",
)  # fmt: skip
"""Phrases that announce an answer; each may repeat and follow the others. Apostrophes are left out."""

_MARKUP = re.compile(
    r"</?[a-zA-Z]{1,12}/?>|&[a-z]{2,8};|\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|displaystyle|left|right|quad|"
    r"qquad|begin|end|hspace|vspace|newline|section|par)(?![a-zA-Z])|\b(?:step|part|method)\s?\d{1,2}\s?[:.)：]",
    re.IGNORECASE,
)


class _Shown(dict[int, str]):
    """What `str.translate` puts for each character, found out when it first occurs: a loop takes ten times as long.

    A character says by itself what is left of it, since the marks that could move past one another are left out.
    """

    def __missing__(self, code: int) -> str:
        shown = "".join(map(_shown, normalised(chr(code), "NFKD")))
        if len(self) < MAX_KEPT:
            self[code] = shown
        return shown


MAX_KEPT = 30_000
"""Characters of which it is kept what they show: more than a language writes, less than a stranger may send."""


def _shown(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cf" or character in "'’/" or character in INVISIBLE_LETTERS:
        return ""  # Neither shown by itself nor a gap between words: accents, joiners, "let's", "n/a".
    is_shown = category[0] in "LN" or category == "Sm" or character in ANSWER_SIGNS
    return character if is_shown and character not in "|~" else " "


_SHOWN = _Shown()


def _folded(text: str) -> str:
    """What shows and means something: letters without case and accents, digits and answer signs, spaces between."""
    return " ".join(text.translate(_SHOWN).casefold().split())


_PHRASES = sorted({_folded(phrase) for phrase in LEAD_INS}, key=len, reverse=True)
_PHRASE = re.compile(f"(?:{'|'.join(map(re.escape, _PHRASES))})(?![a-z\u0430-\u044f]) ?")
"""The longest phrase first, so that "the answer is" is not left with "is"; a letter behind it makes another word."""


def is_contentless(text: str) -> bool:
    """Whether an answer says nothing: it is empty, invisible, mere formatting, or only announces an answer."""
    rest = _folded(_MARKUP.sub(" ", text))
    at = 0
    while at < len(rest):
        phrase = _PHRASE.match(rest, at)
        if phrase is None:
            return False
        at = phrase.end()
    return True
