"""Whole numbers: common divisors and multiples, remainders, primes."""

import re
from collections import Counter
from math import gcd, isqrt, lcm

from touchstone.checks.findings import Proof
from touchstone.checks.notation.trees import Apply, Number, Tree
from touchstone.checks.proofs.kinds import WORDS, ProofTask, kind, tree_of
from touchstone.checks.values.kinds import Truth
from touchstone.checks.values.words import fixed

MAX_TRIAL = 10**12
"""The largest number that is factored: this takes at most a million trial divisions, about 0.1 s."""

_AROUND_PRIME = re.compile(r"^(?:it)?\s*+(?:is )?(?:an? )?|an? |(?:(?<!\s)\s++)?numbers?$|数字$")
_SPLIT = re.compile(r"\D+")

_PRIME, _NOT_PRIME = (frozenset(WORDS[key]) for key in ("prime", "not prime"))


@kind("gcd")
@kind("lcm")
def _common(task: ProofTask) -> Proof | None:
    numbers = [int(part) for part in _SPLIT.split(task["numbers"]) if part]
    value = gcd(*numbers) if task.rule == "gcd" else lcm(*numbers)
    line = task.line(task.rule, numbers=", ".join(map(str, numbers)), value=value)
    return task.compared(line, str(value)) if all(numbers) else None


@kind("remainder")
def _remainder(task: ProofTask) -> Proof | None:
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


@kind("primality")
def _primality(task: ProofTask) -> Proof | None:
    number = int(task["number"])
    words = _AROUND_PRIME.sub("", re.split("[,，]", task.answer.lower())[0].removeprefix(str(number)).strip()).strip()
    truth = task.given if isinstance(task.given, Truth) else fixed(words)
    if number > MAX_TRIAL or not (isinstance(truth, Truth) or (words in _PRIME | _NOT_PRIME and number > 1)):
        return None
    factors = prime_factors(number) if number > 1 else []
    is_prime = len(factors) == 1
    key = "unit" if number <= 1 else "prime" if is_prime else "composite"
    line = task.line(key, number=number, limit=max(2, isqrt(number)), factors=_product(factors))
    correct = ("不是", "是") if task.language == "zh" else ("no", "yes")
    says_prime = truth.true if isinstance(truth, Truth) else words in _PRIME
    return task.proof(says_prime == is_prime, correct[is_prime], line)


def _product(factors: list[int]) -> str:
    return " × ".join(map(str, factors))


@kind("factorisation")
def _factorisation(task: ProofTask) -> Proof | None:
    number = int(task["number"])
    # In "2×2×3 = 12" the number stands last.
    sides = [side.strip(" .") for side in task.answer.split("=")]
    products = [side for side in sides if side != str(number)] or [str(number)]
    tree = tree_of(products[0]) if len(products) == 1 else None
    if not 1 < number <= MAX_TRIAL or tree is None or not tree.operations <= {"mul", "pow"}:
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
    """The factors of a product as written, each with its power; a sign is not a factor."""
    match tree:
        case Apply(operation="mul", arguments=arguments):
            return [factor for argument in arguments for factor in factors_of(argument)]
        case Apply(operation="neg", arguments=(inner,)):
            return factors_of(inner)
        case Apply(operation="pow", arguments=(base, Number(value=power))) if power > 1 and power.denominator == 1:
            return [(factor, times * int(power)) for factor, times in factors_of(base)]
        case _:
            return [(tree, 1)]
