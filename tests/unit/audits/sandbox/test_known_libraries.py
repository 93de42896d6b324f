"""Libraries as they are: what they do to themselves while they are used is not the script's doing."""

import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from touchstone.audits.bundles import Bundle
from touchstone.audits.sandbox.bubblewrap import Sandbox
from touchstone.audits.sandbox.prove import prove
from touchstone.audits.sandbox.result import ProofResult

type ProveOf = Callable[[str, str], ProofResult]


class Installed(Bundle):
    """A library as it is installed beside these tests."""

    def __init__(self, library: str, *, like: Bundle) -> None:
        self.folder = Path(sysconfig.get_path("purelib"))
        self.manifest = like.manifest.model_copy(update={"modules": (library,)})

    @property
    def site(self) -> Path:
        return self.folder


@pytest.fixture
def proof_of(bundle: Bundle, sandbox: Sandbox) -> ProveOf:
    """Runs a script with a library of these tests' own environment."""
    return lambda library, script: prove(script, Installed(library, like=bundle), sandbox=sandbox)


RAISES = "import jinja2\ntry:\n    jinja2.Template({text!r}).render()\nexcept jinja2.{error}:\n    pass\n"
RAISES += "else:\n    raise AssertionError"
INVALID = "class Model(BaseModel):\n    size: int\ntry:\n    Model(size='a')\nexcept ValidationError as error:\n"
INVALID += "    assert error.errors()[0]['type'] == {kind!r}\nelse:\n    raise AssertionError"
ADAPTED = "from pydantic import StrictBool, TypeAdapter\nassert TypeAdapter(StrictBool).validate_python(True)"
ROUTED = "from fastapi import FastAPI\nfrom fastapi.testclient import TestClient\napp = FastAPI()\n"
ROUTED += "@app.get('/{{size}}')\ndef act(size: int): return size\n"
ROUTED += "assert TestClient(app).get('/a').status_code == {status}"
MADE = "import sys, types, numpy._core.{0} as native\nmade = types.ModuleType('numpy._core.{0}.made')\n"
MADE += "sys.modules[made.__name__] = made\n"
TESTED = "import os, pathlib, pytest\nos.environ['PYTEST_DISABLE_PLUGIN_AUTOLOAD'] = '1'\n"
TESTED += "pathlib.Path('test_it.py').write_text('def test(): assert 1 == {0}')\n"
TESTED += "assert pytest.main(['-q', '-p', 'no:cacheprovider', 'test_it.py']) == {1}"
STRUCTURED = "import attrs, cattrs\nconverter = cattrs.Converter()\n@attrs.define\nclass Day:\n    at: bytes\n"
STRUCTURED += "converter.register_structure_hook(bytes, lambda at, _: bytes.fromhex(at))\ntry:\n"
STRUCTURED += (
    "    converter.structure({{'at': 'x'}}, Day)\nexcept cattrs.{0}:\n    pass\nelse:\n    raise AssertionError"
)
TAGGED = "import yaml\nyaml.add_constructor('!tag', lambda loader, node: node.value)\n"
TAGGED += "assert yaml.load('!tag a', Loader=yaml.Loader) == {value!r}"


@pytest.mark.parametrize(
    ("library", "script", "outcome"),
    [
        ("jinja2", RAISES.format(text="{{ x.y }}", error="UndefinedError"), "holds"),
        ("jinja2", RAISES.format(text="{% if %}", error="TemplateSyntaxError"), "holds"),
        ("jinja2", RAISES.format(text="{{ x }}", error="UndefinedError"), "refuted"),
        ("jinja2", RAISES.format(text="{% if %}", error="UndefinedError"), "refuted"),
        ("pydantic", f"from pydantic import BaseModel, ValidationError\n{INVALID.format(kind='int_parsing')}", "holds"),
        ("pydantic", f"from pydantic import BaseModel, ValidationError\n{INVALID.format(kind='int_type')}", "refuted"),
        ("pydantic", ADAPTED, "holds"),
        ("fastapi", ROUTED.format(status=422), "holds"),
        ("fastapi", ROUTED.format(status=400), "refuted"),
        ("pygments", "from pygments.lexers import get_lexer_by_name as get\nassert get('c').name == 'C'", "holds"),
        ("pygments", "from pygments.lexers import get_lexer_by_name as get\nassert get('c').name == 'D'", "refuted"),
        ("scipy", "from scipy import stats\nassert stats.norm.cdf(0) == 0.5", "holds"),
        ("scipy", "from scipy import stats\nassert stats.norm.cdf(0) == 0.4", "refuted"),
        ("tqdm", "from tqdm import tqdm\nassert list(tqdm(range(3), disable=True)) == [0, 1, 2]", "holds"),
        ("jinja2", "from jinja2 import meta\nassert meta.find_undeclared_variables", "holds"),
        ("websockets", "import websockets\nassert websockets.connect", "holds"),
        ("pytest", TESTED.format(1, 0), "holds"),
        ("pytest", TESTED.format(2, 1), "holds"),
        ("pytest", TESTED.format(2, 0), "refuted"),
        ("pytest", TESTED.format("1; import faulthandler as f; assert f.is_enabled()", 0), "holds"),
        ("pytest", "import pytest\nwith pytest.raises(ValueError):\n    raise ValueError", "holds"),
        ("pytest", "import pytest\n@pytest.fixture\ndef one(): return 1\nassert one() == 1", "refuted"),
        ("cattrs", STRUCTURED.format("ClassValidationError"), "holds"),
        ("cattrs", STRUCTURED.format("ForbiddenExtraKeysError"), "refuted"),
        ("yaml", TAGGED.format(value="a"), "holds"),
        ("yaml", TAGGED.format(value="b"), "refuted"),
    ],
)  # fmt: skip
def test_what_a_library_does_to_itself_leaves_a_proof_valid(
    proof_of: ProveOf, library: str, script: str, outcome: str
) -> None:
    result = proof_of(library, script)
    assert result.outcome == outcome, result


OTHER_CODE = """
import functools, operator, sys
from jinja2.debug import fake_traceback
made = compile("x", "f", "exec")
class Trace:
    @property
    def tb_frame(self):
        return self
    f_locals, co_name = {{}}, "root"
    {part}
fake_traceback(ValueError(), Trace(), "f", 3)
"""
LATER = "\n        ".join([
    "frame = sys._getframe(1)",
    "class Code:",
    "    def __getattr__(self, _):",
    "        frame.f_locals['code'] = made",
    "        return functools.partial(made.replace, co_names=())",
    "frame.f_locals['code'] = Code()",
    "return self",
])  # fmt: skip

TOLD_OF = "import sys, jinja2.debug\nmade = compile('x', 'f', 'exec')\nact_on = sys.monitoring.set_local_events\n"
NAMED = """
    class Name(str):
        def startswith(self, _):
            sys._getframe(1).f_locals.update({"location": self, "code": made})
    co_name = Name()
"""


@pytest.mark.parametrize(
    "script",
    [
        OTHER_CODE.format(part="f_code = property(lambda _: made.replace(co_names=()))"),
        OTHER_CODE.format(part="f_code = property(operator.methodcaller('replace', co_names=()))\n"
                               "    replace = staticmethod(made.replace)"),
        OTHER_CODE.format(part=f"@property\n    def f_code(self):\n        {LATER}"),
        OTHER_CODE.format(part="f_code = property(lambda self: self)").replace(
            "fake_traceback(", "sys.monitoring.set_local_events(4, fake_traceback.__code__, 0)\nfake_traceback("),
        "import jinja2\nmade = compile('x', 'f', 'exec')\nmade.replace(co_name='y')",
        f"{TOLD_OF}def act(): made.replace(co_names=())\nact_on(4, act.__code__, sys.monitoring.events.CALL)\nact()",
        f"{TOLD_OF}sys.monitoring.set_events(4, sys.monitoring.events.CALL)\nmade.replace(co_names=())",
        OTHER_CODE.format(part=f"f_code = property(lambda self: self)\n{NAMED}"),
    ],
)  # fmt: skip
def test_the_way_in_which_a_library_renames_code_makes_no_other_code(proof_of: ProveOf, script: str) -> None:
    result = proof_of("jinja2", script)
    assert (result.outcome, "reached into the interpreter" in result.reason) == ("error", True), result


@pytest.mark.parametrize(
    ("library", "script", "fault"),
    [
        ("pydantic", "import pydantic\npydantic.BaseModel\npydantic.EXTRA = 1", "pydantic.EXTRA was added"),
        ("pydantic", "import pydantic, pydantic_core\npydantic_core.EXTRA = pydantic.EXTRA = 1",
         "pydantic.EXTRA was added"),
        ("jinja2", "import jinja2.defaults\njinja2.NEWLINE_SEQUENCE = jinja2.defaults.NEWLINE_SEQUENCE",
         "jinja2.NEWLINE_SEQUENCE was added"),
        ("tqdm", "from tqdm.std import TqdmDefaultWriteLock as lock\nlock.my_lock = 1",
         "tqdm.std.TqdmDefaultWriteLock.my_lock was added"),
        ("pygments", "import types, pygments\nclass Mine(types.ModuleType): pass\npygments.mine = Mine('mine')",
         "pygments.mine is the script's own"),
        ("tqdm", "from tqdm.std import tqdm\ntqdm.desc = 1", "tqdm.std.tqdm.desc was added"),
        ("numpy", f"{MADE.format('_umath_tests')}from numpy._core._umath_tests import made",
         "numpy._core._umath_tests.made is no module of the bundle"),
        ("numpy", f"{MADE.format('_multiarray_umath')}native.made = made",
         "numpy._core._multiarray_umath.made was added"),
        ("numpy", f"{MADE.format('_multiarray_umath')}native._ARRAY_API = made".replace("made'", "_ARRAY_API'"),
         "numpy._core._multiarray_umath._ARRAY_API is no module of the bundle"),
        ("yaml", "import yaml\nyaml.Loader.yaml_extras = {}", "yaml.loader.Loader.yaml_extras was added"),
        ("yaml", "import yaml\nyaml.Loader.yaml_constructors = ()", "yaml.loader.Loader.yaml_constructors was added"),
        ("yaml", "import yaml\nsetattr(yaml.Loader, 'yaml_' + 'constructors', {})",
         "yaml.loader.Loader.yaml_constructors was added"),
        ("yaml", "import yaml\nyaml.Loader.yaml_constructors = dict(yaml.Loader.yaml_constructors)",
         "yaml.loader.Loader.yaml_constructors was added"),
        ("numpy", MADE.format("_umath_tests").replace("made'", "inner1d'"),
         "numpy._core._umath_tests.inner1d is no module of the bundle"),
        ("numpy", f"{MADE.format('_umath_tests')}native.made = made",
         "numpy._core._umath_tests.made is no module of the bundle"),
    ],
)  # fmt: skip
def test_what_no_library_does_to_itself_is_the_scripts_doing(
    proof_of: ProveOf, library: str, script: str, fault: str
) -> None:
    result = proof_of(library, script)
    assert result.outcome == "error", result
    assert fault in result.reason
