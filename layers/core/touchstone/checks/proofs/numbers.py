"""Whole numbers: common divisors and multiples, remainders, primes."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from math import gcd, isqrt, lcm, prod

from touchstone.checks.findings import Proof
from touchstone.checks.proofs.answers import after_equals
from touchstone.checks.proofs.kinds import Kind, Task, number_of, patterns
from touchstone.checks.proofs.sentences import sentence
from touchstone.checks.values.kinds import Truth
from touchstone.checks.values.words import fixed

MAX_DIGITS = 30
"""Digits of a number in these problems."""
MAX_EXPONENT_DIGITS = 18
MAX_TRIAL = 10**12
"""Largest number that is factored: a million trial divisions at most, about 0.1 s."""

_INTEGER = rf"\d{{1,{MAX_DIGITS}}}"
_LIST = rf"{_INTEGER}(?:(?:\s*(?:,|、|和|与|and|及|, and)\s*){_INTEGER}){{1,5}}"
_VERB = r"(?:find|compute|calculate|determine|what is|what's|give|state|work out)(?: the)?"
_AROUND_PRIME = re.compile(r"^(?:it)?\s*+(?:is )?(?:an? )?|an? |(?:(?<!\s)\s++)?numbers?$|数字$")
_SPLIT = re.compile(r"\D+")

_PRIME = frozenset(("prime", "质数", "素数", "是质数", "是素数", "質數", "是質數"))
_NOT_PRIME = frozenset(("not prime", "composite", "合数", "是合数", "不是质数", "不是素数", "合數", "不是質數"))


def _verdict(task: Task, rule: str, value: int, line: str) -> Proof | None:
    """The proof for a problem whose answer is one whole number."""
    stated = task.answer.rpartition("=")[2] if re.fullmatch(r"[\w(), ]*=\s*-?[\d,]+", task.answer) else task.answer
    number = number_of(stated)
    if number is None:
        return None
    return task.compared(rule, line, equal=number.value == value, correct=str(value), given=stated.strip())


def _integers(text: str) -> list[int]:
    return [int(part) for part in _SPLIT.split(text) if part]


def _divisor(task: Task) -> Proof | None:
    numbers = _integers(task["numbers"])
    value = gcd(*numbers)
    line = sentence("gcd", task.language, numbers=", ".join(map(str, numbers)), value=value)
    return _verdict(task, "gcd", value, line) if all(numbers) else None


def _multiple(task: Task) -> Proof | None:
    numbers = _integers(task["numbers"])
    value = lcm(*numbers)
    line = sentence("lcm", task.language, numbers=", ".join(map(str, numbers)), value=value)
    return _verdict(task, "lcm", value, line) if all(numbers) else None


def _remainder(task: Task) -> Proof | None:
    number, modulus = task["number"], int(task["modulus"])
    if modulus == 0:
        return None
    base, _, exponent = number.replace(" ", "").replace("{", "").replace("}", "").partition("^")
    if exponent:
        value = pow(int(base), int(exponent), modulus)
        line = sentence("power_remainder", task.language, number=number, modulus=modulus, value=value)
    else:
        quotient, value = divmod(int(base), modulus)
        line = sentence("remainder", task.language, number=base, quotient=quotient, modulus=modulus, value=value)
    return _verdict(task, "remainder", value, line)


def prime_factors(number: int) -> list[int]:
    """The prime factors of a number from 2 to `MAX_TRIAL`, smallest first, by trial division."""
    factors: list[int] = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            factors.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2  # noqa: PLR2004  (after 2, only odd numbers)
    return [*factors, number] if number > 1 else factors


def _primality(task: Task) -> Proof | None:
    number = int(task["number"])
    said = task.answer.lower().replace(" ", "") if not task.answer.isascii() else task.answer.lower()
    said = said.partition(",")[0].partition("，")[0].removeprefix(str(number))
    said = _AROUND_PRIME.sub("", said).strip()
    meant = fixed(said)
    says_prime = meant.true if isinstance(meant, Truth) else said in _PRIME
    if number > MAX_TRIAL or not (isinstance(meant, Truth) or said in _PRIME | _NOT_PRIME):
        return None
    factors = prime_factors(number) if number > 1 else []
    is_prime = len(factors) == 1
    if number <= 1:
        line = sentence("unit", task.language, number=number)
    elif is_prime:
        line = sentence("prime", task.language, number=number, limit=max(2, isqrt(number)))
    else:
        line = sentence("composite", task.language, number=number, factors=_product(factors))
    words = ("是", "不是") if task.language == "zh" else ("yes", "no")
    if number <= 1 and said not in ("yes", "no", "是", "不是", "否"):
        return None
    return Proof(
        outcome="proved" if says_prime == is_prime else "refuted",
        rule="primality",
        derivation=(line,),
        correct_answer=words[0] if is_prime else words[1],
    )


def _product(factors: list[int]) -> str:
    return " × ".join(map(str, factors))


def _factorisation(task: Task) -> Proof | None:
    number = int(task["number"])
    if not 1 < number <= MAX_TRIAL:
        return None
    stated = after_equals(task.answer, frozenset({str(number)}))
    if stated is None:
        # "2×2×3 = 12" names the number last.
        left, _, right = task.answer.rpartition("=")
        stated = left if right.strip() == str(number) else None
    given = _stated_factors(stated) if stated is not None else None
    if given is None:
        return None
    factors = prime_factors(number)
    line = sentence("factors", task.language, number=number, factors=_product(factors))
    if sorted(given) == factors:
        return Proof(outcome="proved", rule="factorisation", derivation=(line,), correct_answer=_product(factors))
    closing = sentence("not_factors", task.language, given=task.answer, number=number)
    return Proof(outcome="refuted", rule="factorisation", derivation=(line, closing), correct_answer=_product(factors))


def _stated_factors(text: str) -> list[int] | None:
    """The factors, with repetition, of `2^2 * 3 * 7`; None where the text is no such product."""
    factors: list[int] = []
    for part in re.split(r"\s?(?:\*|x(?= ?\d))\s?", text.strip()):
        match = re.fullmatch(r"\(?(\d{1,13})(?:\s*\^\s*\{?(\d{1,2})\}?)?\)?", part)
        if match is None:
            return None
        factors += [int(match[1])] * int(match[2] or 1)
    return factors if prod(factors) else None


KINDS = (
    Kind(
        "gcd",
        patterns(
            rf"{_VERB} (?:greatest|highest|largest) common (?:divisor|factor)(?: \((?:gcd|gcf|hcf)\))? of (?P<numbers>{_LIST})",
            rf"(?:{_VERB} )?(?:gcd|gcf|hcf)(?: of |\s*\()(?P<numbers>{_LIST})\)?",
            rf"(?:求|计算|計算|写出)?\s*(?P<numbers>{_LIST})\s*(?:这[两三]个数)?的最大公(?:约数|因数|約數|因數)(?:是(?:多少|几))?",
        ),
        _divisor,
    ),
    Kind(
        "lcm",
        patterns(
            rf"{_VERB} (?:least|lowest|smallest) common multiple(?: \(lcm\))? of (?P<numbers>{_LIST})",
            rf"(?:{_VERB} )?lcm(?: of |\s*\()(?P<numbers>{_LIST})\)?",
            rf"(?:求|计算|計算|写出)?\s*(?P<numbers>{_LIST})\s*(?:这[两三]个数)?的最小公倍[数數](?:是(?:多少|几))?",
        ),
        _multiple,
    ),
    Kind(
        "remainder",
        patterns(
            rf"(?:{_VERB} )?(?P<number>{_INTEGER}(?:\s*\^\s*\{{?\d{{1,{MAX_EXPONENT_DIGITS}}}\}}?)?)\s*(?:\\?mod|\\pmod|modulo)\s*\{{?(?P<modulus>{_INTEGER})\}}?",
            rf"{_VERB} remainder (?:when|if|of) (?P<number>{_INTEGER}(?:\s*\^\s*\{{?\d{{1,{MAX_EXPONENT_DIGITS}}}\}}?)?)(?: is)? divided by (?P<modulus>{_INTEGER})",
            rf"(?:求|计算|計算)?\s*(?P<number>{_INTEGER}(?:\s*\^\s*\{{?\d{{1,{MAX_EXPONENT_DIGITS}}}\}}?)?)\s*除以\s*(?P<modulus>{_INTEGER})\s*(?:的|所得的?)?[余餘][数數](?:是(?:多少|几))?",
        ),
        _remainder,
    ),
    Kind(
        "primality",
        patterns(
            r"is (?:the number )?(?P<number>\d{1,15}) (?:a )?prime(?: number)?",
            r"(?:判断)?\s*(?P<number>\d{1,15})\s*(?:是不是|是否为|是否是|是)\s*(?:一个)?(?:质数|素数|質數)[吗嗎]?",
        ),
        _primality,
    ),
    Kind(
        "factorisation",
        patterns(
            rf"{_VERB} prime factori[sz]ation of (?P<number>\d{{1,13}})",
            r"(?:factor|factori[sz]e|decompose|write|express) (?P<number>\d{1,13}) (?:in)?to (?:a product of |its )?prime(?:s| factors)",
            r"(?:write|express) (?P<number>\d{1,13}) as a product of (?:its )?prime(?:s| factors)",
            r"[把将將]?\s*(?P<number>\d{1,13})\s*分解(?:质因数|素因数|質因數)",
            r"分解(?:质因数|素因数|質因數)\s*:?\s*(?P<number>\d{1,13})",
        ),
        _factorisation,
    ),
)
