"""How a proof's outcome follows from its runs: with the target, without it, and with an empty one. No sandbox runs."""

import time
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from touchstone.audits.sandbox import prove as proving
from touchstone.audits.sandbox.bubblewrap import Trusting
from touchstone.audits.sandbox.limits import DEFAULT_LIMITS, MAX_SCRIPT_CHARS
from touchstone.audits.sandbox.outcomes import read_record
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.record import Frame, Over, Raised, Ready, Record
from touchstone.audits.sandbox.result import Outcome, ProofResult
from touchstone.audits.sandbox.running import Breach, Printed, Run
from touchstone.audits.sandbox.script.dependence import ProofScript

SCRIPT = """\
import lib
assert lib.width() == 2
assert lib.height() == 2
try:
    lib.open()
except ValueError as error:
    raise AssertionError from error
"""
TARGET: Any = SimpleNamespace(requirement="lib==1.0", site=Path("site"), modules=("lib", "lib_extra"))
SIGSEGV, SIGKILL, SIGABRT = 11, 9, 6


def _raised(line: int, *types: str, frames: tuple[Frame, ...] | None = None, **more: Any) -> Raised:
    text = SCRIPT.splitlines()[line - 1]
    here = Frame(place="script", span=(line, line, len(text) - len(text.lstrip()), len(text)))
    return Raised(
        types=tuple(f"builtins.{one}" for one in (*types, "Exception")),
        message=f"{types[0]}: x",
        frames=(here,) if frames is None else frames,
        **more,
    )


def _ran(
    record: Record | None = None, *, failures: tuple[str, ...] = (), breach: Breach | None = None, **end: Any
) -> Run:
    ready = Ready(event="ready", cpu_seconds=0, memory_bytes=0, failures=dict.fromkeys(failures, "ZeroDivisionError"))
    given: dict[str, Any] = {"signal": None, "reached_into": False, "cpu_seconds": 0.1, "record": record}
    over = Over.model_validate({"event": "ended"} | given | end)
    return Run(stdout=Printed(9), stderr=Printed(9), ready=ready, over=over, breach=breach)


def _silent(*, ready: Ready | None = None) -> Run:
    return Run(stdout=Printed(9), stderr=Printed(9), ready=ready)


COMPLETED = Record(end="completed")
NO_LIB = Record(end="raised", errors=(_raised(1, "ModuleNotFoundError", "ImportError", name="lib"),))
NO_WIDTH = Record(end="raised", errors=(_raised(2, "AttributeError", name="width", owner="target"),))
OTHER_WIDTH = Record(end="raised", errors=(_raised(2, "AssertionError"),))
OTHER_HEIGHT = Record(end="raised", errors=(_raised(3, "AssertionError"),))
OTHER_ERROR = Record(end="raised", errors=(_raised(2, "ValueError"),))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Proves the script by these runs, of which each is made once at most."""

    def by(with_target: Run, without: Run | None = None, with_empty: Run | None = None) -> ProofResult:
        left: dict[tuple[bool, bool], Run | None] = {
            (True, False): with_target,
            (False, False): without,
            (False, True): with_empty,
        }

        def run(script: str, *, site: Path | None, modules: tuple[str, ...], empty: bool = False, **_: Any) -> Run:
            assert (script, modules) == (SCRIPT, TARGET.modules)
            found = left.pop((site is not None, empty))
            assert found is not None, "a run more than the outcome needs"
            return found

        monkeypatch.setattr(proving, "run", run)
        return prove(SCRIPT, TARGET, sandbox=Trusting())

    return by


@pytest.mark.parametrize(
    ("with_target", "without", "with_empty", "outcome", "hidden"),
    [
        (COMPLETED, NO_LIB, NO_WIDTH, "holds", "error"),
        (COMPLETED, COMPLETED, None, "vacuous", "holds"),
        (COMPLETED, NO_LIB, COMPLETED, "vacuous", "error"),
        (COMPLETED, OTHER_WIDTH, NO_WIDTH, "holds", "error"),
        (OTHER_WIDTH, NO_LIB, None, "refuted", "error"),
        (OTHER_WIDTH, OTHER_WIDTH, None, "vacuous", "error"),
        (OTHER_WIDTH, OTHER_HEIGHT, None, "refuted", "error"),
        (OTHER_WIDTH, OTHER_ERROR, None, "refuted", "error"),
        (OTHER_WIDTH, COMPLETED, None, "refuted", "holds"),
    ],
)
def test_an_end_that_is_the_same_without_the_target_proves_nothing(
    *, runs: Any, with_target: Record, without: Record, with_empty: Record | None, outcome: Outcome, hidden: Outcome
) -> None:
    result = runs(_ran(with_target), _ran(without), None if with_empty is None else _ran(with_empty))
    assert (result.outcome, result.hidden_outcome) == (outcome, hidden), result.reason
    assert (outcome == "vacuous") == result.reason.startswith("The script ends the same with")


@pytest.mark.parametrize("without", [_ran(breach="wall"), _silent(), _ran(signal=SIGKILL), _ran(None)])
def test_a_run_without_the_target_that_says_nothing_takes_nothing_from_a_proof(runs: Any, without: Run) -> None:
    assert runs(_ran(COMPLETED), without, _ran(NO_WIDTH)).outcome == "holds"
    assert runs(_ran(COMPLETED), _ran(NO_LIB), without).outcome == "holds"
    assert runs(_ran(OTHER_WIDTH), without).outcome == "refuted"


@pytest.mark.parametrize("record", [COMPLETED, OTHER_WIDTH, None])
@pytest.mark.parametrize(
    ("end", "outcome", "said"),
    [
        ({"breach": "wall"}, "timeout", "stopped after 30 s."),
        ({"breach": "cpu"}, "timeout", "stopped after 5 s of processor time"),
        ({"breach": "memory"}, "blocked", "bytes of memory"),
        ({"breach": "processes"}, "blocked", "more than 64 processes"),
        ({"breach": "import"}, "error", "did not come to the end of its import"),
        ({"failures": ("lib", "lib_extra")}, "error", "cannot be imported: lib: ZeroDivisionError"),
        ({"signal": SIGKILL, "cpu_seconds": DEFAULT_LIMITS.cpu_seconds}, "timeout", "5 s of processor time"),
        ({"signal": SIGKILL}, "error", "ended by signal 9."),
        ({"signal": SIGABRT}, "error", "ended by signal 6, as native code ends itself, often where it gets no more"),
        ({"signal": SIGSEGV, "cpu_seconds": DEFAULT_LIMITS.cpu_seconds}, "error", "ended by signal 11"),
        ({"reached_into": True}, "error", "reached into the interpreter"),
    ],
)
def test_what_ended_a_script_from_outside_is_no_word_of_the_target_whatever_the_script_reported(
    *, runs: Any, end: dict[str, Any], outcome: Outcome, said: str, record: Record | None
) -> None:
    result = runs(_ran(record, **end))
    assert (result.outcome, result.hidden_outcome) == (outcome, None)
    assert said in result.reason


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (_silent(), "ended the interpreter when it was imported"),
        (_silent(ready=_ran().ready), "ended the process that watched it"),
        (_ran(None), "without a word"),
        (_ran(Record(end="exit")), "by SystemExit"),
        (_ran(COMPLETED.model_copy(update={"faults": ("json.loads",)})), "changed what it is judged by (json.loads)"),
        (_ran(COMPLETED.model_copy(update={"faults": ("lib.Box.mine was added",)})), "ask for what needs no such name"),
    ],
)
def test_a_script_that_did_not_come_to_its_end_is_at_fault(runs: Any, run: Run, said: str) -> None:
    result = runs(run)
    assert (result.outcome, result.hidden_outcome) == ("error", None)
    assert said in result.reason


def test_one_module_of_the_target_that_can_be_imported_is_enough(runs: Any) -> None:
    assert runs(_ran(COMPLETED, failures=("lib_extra",)), _ran(NO_LIB), _ran(NO_WIDTH)).outcome == "holds"


@pytest.mark.parametrize(
    ("cause", "outcome"),
    [
        (
            _raised(5, "ValueError", frames=(Frame(place="script", span=(5, 5, 4, 14)), Frame(place="target"))),
            "refuted",
        ),
        (_raised(5, "ValueError", frames=(Frame(place="target"), Frame(place="elsewhere"))), "refuted"),
        (_raised(5, "ValueError", frames=(Frame(place="elsewhere"),)), "error"),
        (_raised(5, "ValueError", frames=()), "error"),
    ],
)
def test_what_a_script_raises_is_the_targets_only_where_its_cause_came_out_of_the_target(
    runs: Any, cause: Raised, outcome: Outcome
) -> None:
    said = Record(end="raised", errors=(_raised(7, "AssertionError"), cause))
    assert runs(_ran(said), _ran(NO_LIB)).outcome == outcome


def test_a_pool_whose_process_was_ended_met_a_bound_of_the_sandbox(runs: Any) -> None:
    broken = Raised(
        types=("pool.TerminatedError", "concurrent.futures.process.BrokenProcessPool", "builtins.Exception"),
        message="TerminatedError: x",
        frames=(Frame(place="script", span=(2, 2, 7, 18)), Frame(place="target")),
    )
    assert runs(_ran(Record(end="raised", errors=(broken,)))).outcome == "blocked"


def _lines(first: str, line: str, last: str) -> str:
    """A script of `first`, `line` for each number from 0, as often as there is room, and `last`."""
    made = [line.format(number, number + 1) for number in range(MAX_SCRIPT_CHARS // len(line))]
    rest = MAX_SCRIPT_CHARS - len(first) - len(last)
    return (
        first + "".join(each for each, end in zip(made, accumulate(map(len, made)), strict=True) if end <= rest) + last
    )


def _doubled(line: str, last: str) -> str:
    return f"import lib\n{''.join(line.format(number, number + 1) for number in range(40))}{last}"


LARGE = {
    "functions that nothing calls": _lines("import lib\n", "def f{}():\n assert lib.x\n", "assert lib.x"),
    "functions that call the next": _lines("import lib\n", "def f{}(): f{}(); lib.x\n", "f0()"),
    "functions of one name": _lines("import lib\n", "def f(): f();f();lib.x\n", "f()"),
    "methods": _lines("import lib\nclass C:\n", " def m{}(self): assert lib.x\n", "C()"),
    "classes": _lines("import lib\nlib.x\n", "class C{}:\n def m(self): 0\nx = C{}()\nx\n", "x"),
    "names in texts": _lines("import lib\nlib.x\neval\n", "def f{}(): 0\n'f{} f f f'\n", "f0()"),
    "names that are the next": _lines("import lib\n", "a{} = a{}\n", "lib.x\na0()"),
    "one name": _lines("import lib\nx = lib.x\n", "x = x\nassert x\n", "assert x"),
    "statements before": _lines("import lib\nx = lib.x\n", "y = 1\n", f"assert {'x and ' * 3000}x"),
    "tests of a result": _lines(
        "import lib, unittest as u\n", "class C{}(u.TestCase):\n def test(s): 0\nassert x\n", "x()"
    ),
    "methods of one name": _lines("import lib\n", "x = lib.X()\nx.add()\n", "assert x"),
    "an elif": "import lib\nlib.x\nif 1: 0\n" + "elif x: 0\n" * 2500 + "else:\n raise\nlib.x()",
    "attributes": f"import lib\nassert lib{'.a' * 2500}",
    "a sum": f"import lib\nassert lib.x{'+1' * 2500}",
    "names twice": _doubled("a{0} = [a{1}, a{1}]\n", "a40 = lib.x\na0[0]()"),
    "names by or": _doubled("a{0} = a{1} or a{1}\n", "a40 = lib.x\na0()"),
    "functions twice": _doubled("def a{0}(): return a{1}() and a{1}()\n", "def a40(): return lib.x\nassert a0()"),
    "functions twice, often": _doubled(
        "def a{0}(): return a{1}() and a{1}()\n", "def a40(): return lib.x\n" + "assert a0()\n" * 1400 + "assert a0()"
    ),
    "functions by two ways": _doubled(
        "def a{0}(): return a{1}() and b{1}()\ndef b{0}(): return b{1}() and a{1}()\n",
        "def a40(): return lib.x\ndef b40(): return lib.x\nassert a0()",
    ),
    "a large function, often": "import lib\nlib.x\ndef f():\n"
    + " b(1)\n" * 3000
    + " return 5\n"
    + "assert f() == 5\n" * 3000,
    "what is recorded": "import lib, io\nb = io.StringIO()\n"
    + "with redirect_stdout(b):\n    lib.x()\n" * 1800
    + "assert b.getvalue()\n",
    "one long recording": "import lib, io\nb = io.StringIO()\nwith redirect_stdout(b):\n"
    + "    lib.x()\n" * 6000
    + "assert b.getvalue()\n",
    "recordings and prints": "def f():\n    print()\n" * 1500
    + "import lib\n"
    + "with redirect_stdout(b):\n    lib.x()\n" * 1200,
    "lists in lists": f"import lib\na = [{'[1],' * 9000}]\n" + "lib.x(a[0])\n" * 2500 + "assert a[1] == [1]",
    "what a try makes": _lines("import lib\n", "try:\n x{} = lib.x()\nexcept V:\n 0\nx{}\n", "x0"),
    "names that a try sets": "import lib\ntry:\n"
    + "".join(f"    lib.x(f{i})\n    f{i} = 1\n" for i in range(3000))
    + "except ValueError:\n    f0 = 2\nassert f0",
    "a flag of many tries": "import lib\nok = 0\n"
    + "try:\n    lib.x()\n    ok = 1\nexcept V:\n    ok = 0\nassert ok\n" * 1500,
}
READ_SECONDS = 15.0
"""Far more than any takes, on a machine that has other work: what is not linear takes minutes, or has no end."""


@pytest.mark.parametrize("script", LARGE)
def test_a_script_of_any_size_is_read_in_no_time(script: str) -> None:
    text = LARGE[script]
    last = text.count("\n") + 1
    here = Frame(place="script", span=(last, last, 0, len(text.splitlines()[-1])))
    began = time.process_time()
    source = ProofScript(text, ("lib",))
    for kind in ("AssertionError", "ValueError"):
        read_record(Record(end="raised", errors=(_raised(2, kind, frames=(here,)),)), source, ("lib",))
    lines = tuple(range(1, last + 1))[:2000]
    outcomes = [
        read_record(record, source, ("lib",)).outcome
        for record in (COMPLETED, Record(end="completed", unpassed=lines, idle=lines))
    ]
    assert time.process_time() - began < READ_SECONDS
    assert len(text) <= MAX_SCRIPT_CHARS
    assert outcomes[1] != "holds" or script not in ("functions that nothing calls", "tests of a result")


def test_thousands_of_functions_that_all_ran_are_no_reason_to_doubt_a_proof() -> None:
    for script in ("functions that call the next", "functions of one name"):
        assert read_record(COMPLETED, ProofScript(LARGE[script], ("lib",)), ("lib",)).outcome == "holds"
    script = LARGE["functions that call the next"].replace("lib.x\n", "assert lib.x\n", 9)
    meaning = read_record(Record(end="completed", unpassed=(9,)), ProofScript(script, ("lib",)), ("lib",))
    assert meaning.reason == "What is asserted in line 9 never ran to its end."


def test_what_ran_is_believed_whatever_the_syntax_shows() -> None:
    script = (
        "import lib, __main__, operator\ndef test_x():\n assert lib.x\noperator.attrgetter('test' + '_x')(__main__)()"
    )
    source = ProofScript(script, ("lib",))
    ends: list[dict[str, Any]] = [{}, {"idle": (2,)}, {"unpassed": (3,)}, {"failed": (3,)}]
    outcomes = [read_record(Record(end="completed", **each), source, ("lib",)).outcome for each in ends]
    assert outcomes == ["holds", "vacuous", "vacuous", "vacuous"]
