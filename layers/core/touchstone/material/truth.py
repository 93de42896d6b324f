"""The words by which the key of a true-or-false question says which it is, in the commonest languages of learners."""

TRUE_WORDS = frozenset(
    {"true", "對", "正確", "是", "对", "正确", "wahr", "richtig", "vrai", "verdadero", "cierto", "verdadeiro", "vero"}
)
FALSE_WORDS = frozenset(
    {"false", "錯", "錯誤", "不對", "不正確", "否", "不是", "错", "错误", "不对", "不正确"}
    | {"falsch", "unwahr", "faux", "falso"}
)
