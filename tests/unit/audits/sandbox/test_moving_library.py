"""A library that changes itself while it is used: what it does is its own, and what a script does so is not."""

from collections.abc import Callable

import pytest

from touchstone.audits.bundles import Bundles, Target
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.result import ProofResult

type ProveMoving = Callable[[str], ProofResult]
IMPORT = "import sys, types, movinglib\n"
FAKED = "made = types.ModuleType({0!r})\nsys.modules[made.__name__] = made\n"
SET = f"{IMPORT}def put(on, name, value):\n    setattr(on, name[:2] + name[2:], value)\n"


@pytest.fixture
def proof_of(bundles: Bundles, sandbox: Sandbox) -> ProveMoving:
    """Runs a script with movinglib."""
    return lambda script: prove(script, bundles.build(Target(requirement="movinglib==1.0")), sandbox=sandbox)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        # a module of the library's that stands for another until it is used, as polars has them
        ("assert movinglib.hue(0.5) == 0.5", "holds"),
        ("assert movinglib.hue(0.5) == 0.4", "refuted"),
        # a module of the package in the place of one of the same name from elsewhere, as in joblib
        ("assert movinglib.scan() == 3", "holds"),
        ("assert movinglib.scan() == 4", "refuted"),
        # a method in the place of another, as pyparsing does it
        ("movinglib.Parser.quicken()\nassert movinglib.Parser().parse() == 'cached'", "holds"),
        ("movinglib.Parser.quicken()\nassert movinglib.Parser().parse() == 'plain'", "refuted"),
    ],
)
def test_what_a_library_puts_in_the_place_of_its_own_leaves_a_proof_valid(
    proof_of: ProveMoving, script: str, outcome: str
) -> None:
    result = proof_of(f"{IMPORT}{script}")
    assert result.outcome == outcome, result


@pytest.mark.parametrize(
    ("script", "fault"),
    [
        ("import json\nput(movinglib, 'colorsys', json)", "movinglib.colorsys was replaced"),
        ("put(movinglib, 'colorsys', types.ModuleType('colorsys'))", "movinglib.colorsys was replaced"),
        (f"{FAKED.format('colorsys')}put(movinglib, 'colorsys', made)", "movinglib.colorsys was replaced"),
        ("import json\nput(movinglib.colorsys, '__name__', 'json')\nput(movinglib, 'colorsys', json)",
         "movinglib.colorsys was replaced"),
        ("import json\nsys.modules['movinglib.scanner'] = json\nput(movinglib, 'scanner', json)",
         "movinglib.scanner was replaced"),
        (f"{FAKED.format('movinglib.scanner')}put(movinglib, 'scanner', made)", "movinglib.scanner was replaced"),
        ("movinglib.Parser.parse = movinglib.Parser.cached", "movinglib.Parser.parse was replaced"),
        ("type.__setattr__(movinglib.Parser, 'parse', movinglib.Parser.cached)", "movinglib.Parser.parse was replaced"),
        ("put(movinglib.Parser, 'parse', movinglib.Parser.other)", "movinglib.Parser.parse was replaced"),
        ("put(movinglib.Parser, 'plain', movinglib.Parser.cached)", "movinglib.Parser.plain was replaced"),
        ("put(movinglib.Parser, 'parse', lambda self: 'mine')", "movinglib.Parser.parse was replaced"),
    ],
)  # fmt: skip
def test_nothing_else_takes_the_place_of_what_is_the_librarys(proof_of: ProveMoving, script: str, fault: str) -> None:
    result = proof_of(f"{SET}{script}\nassert movinglib.hue")
    assert result.outcome == "error", result
    assert fault in result.reason


DRAWN = "import matplotlib.pyplot as plt\nassert plt.figure() == {0!r}"
PUT = "\nsetattr(plt.matplotlib.backends, 'back' + 'end', {0!r})\nassert plt.matplotlib.backends.backend == {0!r}"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (DRAWN.format("figure"), "holds"),
        (DRAWN.format("plot"), "refuted"),
        (DRAWN.format("figure") + PUT.format("svg"), "error"),
        (DRAWN.format("figure") + PUT.format(None), "error"),
        (DRAWN.format("figure") + "\nplt.matplotlib.backends.backend = 'agg'", "error"),
        (PUT.format("agg").replace("\n", "import matplotlib.pyplot as plt\n", 1), "error"),
    ],
)
def test_what_a_library_holds_in_two_places_is_its_own_as_long_as_both_agree(
    bundles: Bundles, sandbox: Sandbox, script: str, outcome: str
) -> None:
    result = prove(script, bundles.build(Target(requirement="matplotlib==0.1")), sandbox=sandbox)
    assert result.outcome == outcome, result


CAUGHT = "try:\n    {0}\nexcept {1}:\n    pass\nelse:\n    raise AssertionError"
ORDERED = "def act(x):\n    if x > 0:\n        return x\n"
READ = "def act(x):\n    return int(x)\n"
MISTAKEN = READ.replace("int(x)", "undefined")
TWICE = "movinglib.Parser()\n    {0}"
GATHERED = "\n    try:\n        int('x')\n    except ValueError as error:\n        {0}"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        # the library keeps its frames out of the traceback, as jax does
        (f"{ORDERED}{CAUGHT.format('movinglib.trace(act)', 'movinglib.TraceError')}", "holds"),
        # it puts what a function of the script's raised into a group, as cattrs does
        (f"{READ}{CAUGHT.format('movinglib.gather(act)', 'movinglib.GatheredError')}", "holds"),
        # what the function raised is no word on what it was given
        (f"{MISTAKEN}{CAUGHT.format('movinglib.gather(act)', 'movinglib.GatheredError')}", "vacuous"),
        (f"{READ.replace('int(x)', 'x.size')}{CAUGHT.format('movinglib.gather(act)', 'movinglib.GatheredError')}",
         "vacuous"),
        (CAUGHT.format(TWICE.format("1 + 'x'"), "TypeError"), "vacuous"),
        (CAUGHT.format(TWICE.format("exec('raise movinglib.TraceError')"), "movinglib.TraceError"), "vacuous"),
        (CAUGHT.format(TWICE.format(GATHERED.format("raise movinglib.GatheredError('', [error])")),
                       "movinglib.GatheredError"), "vacuous"),
        (CAUGHT.format(TWICE.format(GATHERED.format("exec('raise movinglib.GatheredError(\"\", [error])')")),
                       "movinglib.GatheredError"), "vacuous"),
        (CAUGHT.format(TWICE.format(GATHERED.format(
            "(one for one in [1]).throw(movinglib.GatheredError('', [error]))")), "movinglib.GatheredError"),
         "vacuous"),
    ],
)  # fmt: skip
def test_what_a_library_makes_of_an_exception_is_no_mistake_of_the_script(
    proof_of: ProveMoving, script: str, outcome: str
) -> None:
    result = proof_of(f"{IMPORT}{script}")
    assert result.outcome == outcome, result
