"""The sentences of all derivations, in the language of the problem."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

from typing import Literal

type Language = Literal["zh", "en"]

_SENTENCES: dict[str, dict[Language, str]] = {
    "value": {"en": "Evaluating: {expression} = {value}.", "zh": "计算：{expression} = {value}。"},
    "given": {"en": "The given answer is {given}.", "zh": "所给答案是 {given}。"},
    "equal": {"en": "{given} is the same value.", "zh": "{given} 与它相等。"},
    "unequal": {"en": "{given} is not that value.", "zh": "{given} 与它不相等。"},
    "gcd": {
        "en": "The greatest common divisor of {numbers}, by Euclid's algorithm, is {value}.",
        "zh": "用辗转相除法，{numbers} 的最大公因数是 {value}。",
    },
    "lcm": {"en": "The least common multiple of {numbers} is {value}.", "zh": "{numbers} 的最小公倍数是 {value}。"},
    "remainder": {
        "en": "{number} = {quotient} · {modulus} + {value}, so the remainder is {value}.",
        "zh": "{number} = {quotient} × {modulus} + {value}，所以余数是 {value}。",
    },
    "power_remainder": {
        "en": "By repeated squaring, {number} leaves the remainder {value} modulo {modulus}.",
        "zh": "用反复平方法，{number} 除以 {modulus} 的余数是 {value}。",
    },
    "prime": {"en": "No number from 2 to {limit} divides {number}: it is prime.", "zh": "2 到 {limit} 都不整除 {number}，它是质数。"},
    "composite": {"en": "{number} = {factors}, so it is not prime.", "zh": "{number} = {factors}，所以它不是质数。"},
    "unit": {"en": "{number} is neither prime nor composite.", "zh": "{number} 既不是质数也不是合数。"},
    "factors": {"en": "Into primes: {number} = {factors}.", "zh": "分解质因数：{number} = {factors}。"},
    "not_factors": {
        "en": "{given} is not a product of primes that equals {number}.",
        "zh": "{given} 不是等于 {number} 的质因数乘积。",
    },
    "compare": {"en": "{first} = {first_value} and {second} = {second_value}, so {relation}.",
                "zh": "{first} = {first_value}，{second} = {second_value}，所以 {relation}。"},
    "convert": {"en": "{quantity} = {value} {unit}.", "zh": "{quantity} = {value} {unit}。"},
    "roots": {
        "en": "The equation {equation} has exactly these real solutions: {roots}.",
        "zh": "方程 {equation} 的全部实数解是：{roots}。",
    },
    "no_roots": {"en": "The equation {equation} has no real solution.", "zh": "方程 {equation} 没有实数解。"},
    "always": {"en": "Both sides of {equation} are the same for every {name}.", "zh": "{equation} 的两边对任意 {name} 都相等。"},
    "root_holds": {"en": "Substituting {name} = {root}: both sides are equal.", "zh": "代入 {name} = {root}：两边相等。"},
    "root_fails": {
        "en": "Substituting {name} = {root}: the left side is {left}, the right side is {right}.",
        "zh": "代入 {name} = {root}：左边是 {left}，右边是 {right}。",
    },
    "root_missing": {"en": "The solution {name} = {root} is missing.", "zh": "漏了解 {name} = {root}。"},
    "all_found": {"en": "The given answer names all of them and no other.", "zh": "所给答案恰好是全部解。"},
    "system": {"en": "The system has exactly one solution: {solution}.", "zh": "方程组有唯一解：{solution}。"},
    "system_fails": {
        "en": "In {equation} the given values make the left side {left} and the right side {right}.",
        "zh": "把所给的值代入 {equation}：左边是 {left}，右边是 {right}。",
    },
    "system_holds": {"en": "The given values satisfy every equation.", "zh": "所给的值满足每个方程。"},
    "interval": {"en": "{inequality} holds exactly for {solution}.", "zh": "{inequality} 的解集是 {solution}。"},
    "interval_same": {"en": "The given answer is the same set.", "zh": "所给答案是同一个集合。"},
    "interval_in": {
        "en": "{name} = {point} satisfies the inequality but not the given answer.",
        "zh": "{name} = {point} 满足不等式，却不在所给答案中。",
    },
    "interval_out": {
        "en": "{name} = {point} is in the given answer but does not satisfy the inequality.",
        "zh": "{name} = {point} 在所给答案中，却不满足不等式。",
    },
    "derivative": {"en": "d/d{name} ({expression}) = {value}.", "zh": "对 {name} 求导：({expression})' = {value}。"},
    "differentiate_answer": {
        "en": "Differentiating the given answer: d/d{name} ({given}) = {value}.",
        "zh": "对所给答案求导：({given})' = {value}。",
    },
    "matches": {"en": "That equals {expression}.", "zh": "它等于 {expression}。"},
    "differs": {
        "en": "That is not {expression}: at {name} = {point} they are {first} and {second}.",
        "zh": "它不等于 {expression}：当 {name} = {point} 时，两者分别是 {first} 和 {second}。",
    },
    "integral": {
        "en": "The integral of {expression} from {lower} to {upper} is {value} (found exactly, confirmed numerically).",
        "zh": "{expression} 从 {lower} 到 {upper} 的积分等于 {value}（精确求出，并经数值验证）。",
    },
    "limit": {
        "en": "As {name} approaches {point}, {expression} approaches {value} (found exactly, confirmed numerically).",
        "zh": "当 {name} 趋于 {point} 时，{expression} 趋于 {value}（精确求出，并经数值验证）。",
    },
    "identical": {"en": "{given} equals {expression} identically.", "zh": "{given} 与 {expression} 恒等。"},
    "factored": {"en": "None of its factors can be factored further.", "zh": "各因式都不能再分解。"},
    "not_factored": {"en": "It is not a product of factors; {value} is.", "zh": "它没有写成因式的乘积；应为 {value}。"},
    "expanded": {"en": "It holds no product of sums any more.", "zh": "其中不再有括号的乘积。"},
}  # fmt: skip


def sentence(key: str, language: Language, /, **values: object) -> str:
    """One line of a derivation."""
    return _SENTENCES[key][language].format(**values)
