"""One answer in all its forms is never called different, and another answer in any form is never called the same.

`tests/support/forms.py` makes the forms. `--hypothesis-profile=explore` tries at least 20,000 pairs of texts in each
test, spread over its kinds (six at least), others each time.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import forms
from tests.support.forms import Form
from touchstone.checks import equivalent
from touchstone.checks.equivalence import decision
from touchstone.checks.notation.unit_reading import is_foreign

# The time limit ends a thread by an exception, which may land in a callback of the interpreter, and is told there.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

type Kind = Callable[[], st.SearchStrategy[Form]]

EXPLORED = 680
"""Forms of each kind in each test when exploring: with their pairs and six kinds or more, over 20,000 in a test."""
EXAMPLES = 8
"""Forms of each kind in each test otherwise."""
DECIMALS = re.compile(r"\d(?:,\d|(?:\.|\{,\}|,\\!)\d{3})")
"""A decimal comma or point, a mark of thousands, or the comma of a list."""
PAIRS = 5
"""Pairs of texts of a form."""
READ: dict[str, Kind] = {
    "numbers": forms.numbers, "percentages": forms.percentages, "quantities": forms.quantities, "lists": forms.lists,
    "sets": forms.sets, "points": forms.points, "intervals": forms.intervals, "matrices": forms.matrices,
    "ratios": forms.ratios, "times": forms.times, "dates": forms.dates, "choices": forms.choices,
    "formulas": forms.formulas, "durations": forms.durations, "rates": forms.rates, "based": forms.based,
}  # fmt: skip
"""Kinds of which every form is read whole."""
EVERY: dict[str, Kind] = {**READ, "polynomials": forms.polynomials, "equations": forms.equations}
MEASURED = ("numbers", "quantities", "lists", "sets", "points", "intervals")

of_kinds_read = pytest.mark.parametrize("kind", READ.values(), ids=READ)
of_every_kind = pytest.mark.parametrize("kind", EVERY.values(), ids=EVERY)
of_values = pytest.mark.parametrize("kind", [EVERY[name] for name in MEASURED], ids=MEASURED)


@pytest.fixture(autouse=True, scope="module")
def patient() -> Iterator[None]:
    """Time for sympy on a machine that runs other things: what is tested is the verdict, not the speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision, "SECONDS", 20.0)
        yield


def holds(law: Callable[[Form, st.DataObject], None], kind: Kind) -> None:
    """Check a law for forms of a kind."""
    explored = settings.get_current_profile_name() == "explore"

    @settings(max_examples=EXPLORED if explored else EXAMPLES)
    @given(kind(), st.data())
    def each(form: Form, data: st.DataObject) -> None:
        for _ in range(PAIRS):
            law(form, data)

    each()


def one_of(texts: tuple[str, ...], data: st.DataObject) -> str:
    """One of the texts of a form."""
    return data.draw(st.sampled_from(texts))


def undelimited(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The texts without signs of mathematics of their own."""
    return tuple(text for text in texts if not any(mark in text for mark in ("$", r"\(", r"\boxed")))


@of_kinds_read
def test_any_two_forms_of_one_answer_are_the_same(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        one, other = one_of(form.same, data), one_of(form.same, data)
        assert equivalent(one, other) is True, (one, other)

    holds(law, kind)


@of_every_kind
def test_a_rewriting_is_never_called_different(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        one, other = one_of(form.same + form.near, data), one_of(form.same, data)
        assert equivalent(one, other) is not False, (one, other)

    holds(law, kind)


@of_every_kind
def test_a_mutation_is_never_called_the_same(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        mutation, original = one_of(form.other, data), one_of(form.same + form.near, data)
        assert equivalent(mutation, original) is not True, (mutation, original)

    holds(law, kind)


@of_every_kind
def test_bare_answers_compare_alike_either_way_round(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        one, other = one_of(form.same, data), one_of(form.same + form.other, data)
        assert equivalent(one, other) is equivalent(other, one), (one, other)

    holds(law, kind)


@of_every_kind
def test_no_text_is_called_different_from_itself(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        text = one_of(form.same + form.near + form.other, data)
        assert equivalent(text, text) is not False, text

    holds(law, kind)


@of_kinds_read
def test_a_sentence_around_an_answer_changes_nothing(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        sentence = one_of(forms.SENTENCES, data)
        text, original = sentence.format(one_of(form.same, data)), one_of(form.same, data)
        # In a sentence of another language 1,000 may have three decimals, and {1,2} one member.
        told = (True, None) if DECIMALS.search(text) and is_foreign(text) else (True,)
        assert equivalent(text, original) in told, (text, original)

    holds(law, kind)


@of_kinds_read
def test_a_box_around_an_answer_changes_nothing(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        text = one_of(forms.BOXES, data).format(one_of(undelimited(form.same), data))
        original = one_of(form.same, data)
        assert equivalent(text, original) is True, (text, original)

    holds(law, kind)


@of_kinds_read
def test_the_signs_of_mathematics_and_boxes_in_each_other_change_nothing(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        around = one_of(forms.DELIMITERS + forms.NESTED, data)
        text, original = around.format(one_of(undelimited(form.same), data)), one_of(form.same, data)
        assert equivalent(text, original) is not False, (text, original)

    holds(law, kind)


@of_every_kind
def test_a_mutation_within_all_of_them_is_never_called_the_same(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        around = one_of(forms.DELIMITERS + forms.NESTED, data)
        text, original = around.format(one_of(undelimited(form.other), data)), one_of(form.same, data)
        assert equivalent(text, original) is not True, (text, original)

    holds(law, kind)


@of_every_kind
def test_an_answer_that_is_denied_confirms_nothing(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        denied = one_of(forms.DENIALS, data).format(one_of(form.same, data))
        same, other = one_of(form.same, data), one_of(form.other, data)
        assert equivalent(denied, same) is not True, (denied, same)
        assert equivalent(denied, other) is None, (denied, other)

    holds(law, kind)


@of_every_kind
def test_an_answer_beside_a_denied_one_is_not_taken_for_it(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        same, other = one_of(form.same, data), one_of(form.other, data)
        text = one_of(forms.CHOSEN_BETWEEN, data).format(same=same, other=other)
        original = one_of(form.same, data)
        assert equivalent(text, original) is not False, (text, original)
        assert equivalent(text, other) is not True, (text, other)

    holds(law, kind)


@of_every_kind
def test_a_mutation_in_a_sentence_is_never_called_the_same(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        sentence = one_of(forms.SENTENCES + forms.BOXES, data)
        text, original = sentence.format(one_of(form.other, data)), one_of(form.same, data)
        assert equivalent(text, original) is not True, (text, original)

    holds(law, kind)


@of_values
def test_with_something_unknown_beside_it_an_answer_is_left_open(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        text = f"{one_of(form.same, data)} {one_of(forms.UNKNOWN, data)}"
        for other in (one_of(form.same, data), one_of(form.other, data), "5", "5 cm", "(1, 2)"):
            assert equivalent(text, other) is None, (text, other)

    holds(law, kind)


@of_values
def test_with_something_unknown_beside_it_an_answer_in_a_sentence_is_left_open(kind: Kind) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        inside = f"{one_of(form.same, data)} {one_of(forms.UNKNOWN, data)}"
        text = one_of(forms.SENTENCES, data).format(inside)
        for other in (one_of(form.same, data), one_of(form.other, data), "5", "5 cm", "(1, 2)"):
            assert equivalent(text, other) is None, (text, other)

    holds(law, kind)


@pytest.mark.parametrize("counted", forms.DOCUMENTED_COUNTS)
def test_a_plain_noun_counts_things_and_leaves_the_number_to_decide(counted: str) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        number = one_of(tuple(text for text in form.same if text.isascii() and text.isdigit()) or ("18",), data)
        assert equivalent(f"{number} {counted}", number) is True
        assert equivalent(f"{int(number) + 1} {counted}", number) is False

    holds(law, forms.numbers)


@pytest.mark.parametrize(
    ("kind", "least"), [("numbers", 9), ("quantities", 100), ("intervals", 9), ("points", 7), ("lists", 20)]
)
def test_the_generator_writes_many_forms_of_each_kind(kind: str, least: int) -> None:
    def law(form: Form, data: st.DataObject) -> None:
        assert len(form.same) >= least
        assert form.other

    holds(law, EVERY[kind])
