"""Whole numbers: common divisors and multiples, remainders, primes."""
# ruff: noqa: E501  (a pattern or a sentence is read whole)

import re
from collections import Counter
from math import gcd, isqrt, lcm

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import Apply, Number, Tree, operations_in
from touchstone.checks.proofs.kinds import Task, kind, tree_of
from touchstone.checks.values.kinds import Truth
from touchstone.checks.values.words import fixed

MAX_DIGITS = 30
"""Digits of a number in these problems."""
MAX_EXPONENT_DIGITS = 18
MAX_TRIAL = 10**12
"""Largest number that is factored: a million trial divisions at most, about 0.1 s."""

_INTEGER = rf"\d{{1,{MAX_DIGITS}}}"
_POWER = rf"{_INTEGER}(?:\s*\^\s*\{{?\d{{1,{MAX_EXPONENT_DIGITS}}}\}}?)?"
_LIST = rf"{_INTEGER}(?:(?:\s*(?:,|、|和|与|and|及|, and)\s*){_INTEGER}){{1,5}}"
_VERB = r"(?:find|compute|calculate|determine|what is|what's|give|state|work out)(?: the)?"
_AROUND_PRIME = re.compile(r"^(?:it)?\s*+(?:is )?(?:an? )?|an? |(?:(?<!\s)\s++)?numbers?$|数字$")
_SPLIT = re.compile(r"\D+")

_PRIME = frozenset(("prime", "质数", "素数", "是质数", "是素数", "質數", "是質數"))
_NOT_PRIME = frozenset(("not prime", "composite", "合数", "是合数", "不是质数", "不是素数", "合數", "不是質數"))


@kind(
    "gcd",
    rf"{_VERB} (?:greatest|highest|largest) common (?:divisor|factor)(?: \((?:gcd|gcf|hcf)\))? of (?P<numbers>{_LIST})",
    rf"(?:{_VERB} )?(?:gcd|gcf|hcf)(?: of |\s*\()(?P<numbers>{_LIST})\)?",
    rf"(?:求|计算|計算|写出)?\s*(?P<numbers>{_LIST})\s*(?:这[两三]个数)?的最大公(?:约数|因数|約數|因數)(?:是(?:多少|几))?",
)
@kind(
    "lcm",
    rf"{_VERB} (?:least|lowest|smallest) common multiple(?: \(lcm\))? of (?P<numbers>{_LIST})",
    rf"(?:{_VERB} )?lcm(?: of |\s*\()(?P<numbers>{_LIST})\)?",
    rf"(?:求|计算|計算|写出)?\s*(?P<numbers>{_LIST})\s*(?:这[两三]个数)?的最小公倍[数數](?:是(?:多少|几))?",
)
def _common(task: Task) -> Proof | None:
    numbers = [int(part) for part in _SPLIT.split(task["numbers"]) if part]
    value = gcd(*numbers) if task.rule == "gcd" else lcm(*numbers)
    line = task.line(task.rule, numbers=", ".join(map(str, numbers)), value=value)
    return task.compared(line, str(value)) if all(numbers) else None


@kind(
    "remainder",
    rf"(?:{_VERB} )?(?P<number>{_POWER})\s*(?:\\?mod|\\pmod|modulo)\s*\{{?(?P<modulus>{_INTEGER})\}}?",
    rf"{_VERB} remainder (?:when|if|of) (?P<number>{_POWER})(?: is)? divided by (?P<modulus>{_INTEGER})",
    rf"(?:求|计算|計算)?\s*(?P<number>{_POWER})\s*除以\s*(?P<modulus>{_INTEGER})\s*(?:的|所得的?)?[余餘][数數](?:是(?:多少|几))?",
)
def _remainder(task: Task) -> Proof | None:
    number, modulus = task["number"], int(task["modulus"])
    if modulus == 0:
        return None
    base, *exponent = (int(part) for part in _SPLIT.split(number) if part)
    value = pow(base, exponent[0], modulus) if exponent else base % modulus
    key = "power_remainder" if exponent else "remainder"
    line = task.line(key, number=number, quotient=base // modulus, modulus=modulus, value=value)
    return task.compared(line, str(value))


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


@kind(
    "primality",
    r"is (?:the number )?(?P<number>\d{1,15}) (?:a )?prime(?: number)?",
    r"(?:判断)?\s*(?P<number>\d{1,15})\s*(?:是不是|是否为|是否是|是)\s*(?:一个)?(?:质数|素数|質數)[吗嗎]?",
)
def _primality(task: Task) -> Proof | None:
    number = int(task["number"])
    said = _AROUND_PRIME.sub("", re.split("[,，]", task.answer.lower())[0].removeprefix(str(number)).strip()).strip()
    truth = task.given if isinstance(task.given, Truth) else fixed(said)
    if number > MAX_TRIAL or not (isinstance(truth, Truth) or (said in _PRIME | _NOT_PRIME and number > 1)):
        return None
    factors = prime_factors(number) if number > 1 else []
    is_prime = len(factors) == 1
    key = "unit" if number <= 1 else "prime" if is_prime else "composite"
    line = task.line(key, number=number, limit=max(2, isqrt(number)), factors=_product(factors))
    correct = ("不是", "是") if task.language == "zh" else ("no", "yes")
    says_prime = truth.true if isinstance(truth, Truth) else said in _PRIME
    return task.proof(says_prime == is_prime, correct[is_prime], line)


def _product(factors: list[int]) -> str:
    return " × ".join(map(str, factors))


@kind(
    "factorisation",
    rf"{_VERB} prime factori[sz]ation of (?P<number>\d{{1,13}})",
    r"(?:factor|factori[sz]e|decompose|write|express) (?P<number>\d{1,13}) (?:in)?to (?:a product of |its )?prime(?:s| factors)",
    r"(?:write|express) (?P<number>\d{1,13}) as a product of (?:its )?prime(?:s| factors)",
    r"[把将將]?\s*(?P<number>\d{1,13})\s*分解(?:质因数|素因数|質因數)",
    r"分解(?:质因数|素因数|質因數)\s*:?\s*(?P<number>\d{1,13})",
)
def _factorisation(task: Task) -> Proof | None:
    number = int(task["number"])
    # "2×2×3 = 12" names the number last.
    sides = [side.strip(" .") for side in task.answer.split("=")]
    products = [side for side in sides if side != str(number)] or [str(number)]
    tree = tree_of(products[0]) if len(products) == 1 else None
    if not 1 < number <= MAX_TRIAL or tree is None or not operations_in(tree) <= {"mul", "pow"}:
        return None
    given: Counter[int] = Counter()
    for factor, power in factors_of(tree):
        if not isinstance(factor, Number) or factor.value.denominator != 1:
            return None
        given[int(factor.value)] += power
    factors = prime_factors(number)
    line = task.line("factors", number=number, factors=_product(factors))
    closing = () if given == Counter(factors) else (task.line("not_factors", given=task.answer, number=number),)
    return task.proof(not closing, _product(factors), line, *closing)


def factors_of(tree: Tree) -> list[tuple[Tree, int]]:
    """The factors of a product as it is written, each with its power; a sign is no factor."""
    match tree:
        case Apply(operation="mul", arguments=arguments):
            return [factor for argument in arguments for factor in factors_of(argument)]
        case Apply(operation="neg", arguments=(inner,)):
            return factors_of(inner)
        case Apply(operation="pow", arguments=(base, Number(value=power))) if power > 1 and power.denominator == 1:
            return [(factor, times * int(power)) for factor, times in factors_of(base)]
        case _:
            return [(tree, 1)]
