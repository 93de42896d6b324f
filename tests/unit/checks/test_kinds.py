"""Each check that users call refuses an argument of a wrong kind with a sentence that names the argument."""

import inspect

import pytest

from touchstone import checks
from touchstone.errors import InputError

TEXTS = [
    (name, parameter.name)
    for name in dir(checks)
    if inspect.isfunction(check := getattr(checks, name))
    for parameter in inspect.signature(check).parameters.values()
    if parameter.annotation in {str, str | None}
]


def test_the_texts_of_all_checks_are_found() -> None:
    assert {("equivalent", "given"), ("explain", "expected"), ("find_pinyin_errors", "hanzi")} < set(TEXTS)
    assert len({name for name, _ in TEXTS}) == 9


@pytest.mark.parametrize("given", [1, b"x = 2", ["x"]])
@pytest.mark.parametrize(("name", "wrong"), TEXTS)
def test_what_is_no_text_is_refused(name: str, wrong: str, given: object) -> None:
    texts = {parameter: "x" for check, parameter in TEXTS if check == name}
    with pytest.raises(InputError) as caught:
        getattr(checks, name)(**{**texts, wrong: given})
    assert str(caught.value) == f"{wrong} must be a text, and this is of type {type(given).__name__}."
    assert caught.value.where == wrong


@pytest.mark.parametrize("name", ["equivalent", "explain"])
@pytest.mark.parametrize("tolerance", [0.01, {"relative": 0.01}, "1 %"])
def test_what_is_no_tolerance_is_refused_also_where_none_is_needed(name: str, tolerance: object) -> None:
    for given in ("9.79", "9.81"):
        with pytest.raises(InputError, match=r"Tolerance\(relative=Fraction\(1, 100\)\)"):
            getattr(checks, name)(given, "9.81", tolerance=tolerance)
