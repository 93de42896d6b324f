"""What scripts come to in the real sandbox: what the target showed, and what only the script did."""

import pytest

from tests.support.proving import Prove
from touchstone.audits.bundles import Bundle, Bundles, Target
from touchstone.audits.sandbox.bubblewrap import Sandbox, Trusting
from touchstone.audits.sandbox.limits import MAX_SCRIPT_CHARS
from touchstone.audits.sandbox.prove import check_import, prove
from touchstone.errors import InputError, TooLargeError

RECURSION = """
import tinylib
def found(left):
    if left == 0:
        return tinylib.Box(1).width
    return found(left - 1)
"""
TEST = "import tinylib\ndef test_width():\n    assert tinylib.Box(1).width == 1\n"
UNITTEST = """
import unittest as u
import tinylib
class Test(u.TestCase):
    def test(self):
        self.assertEqual(tinylib.Box(1).width, 1)
"""
RUN = "u.TextTestRunner().run(u.defaultTestLoader.loadTestsFromTestCase(Test))"
DECORATED = "import tinylib\n@tinylib.made\nclass Mine:\n    a: int\n"
OWN_MAKING = """
import tinylib
@tinylib.give
class Mine:
    __slots__ = ("a",)
    def __init__(self, a):
        self.a = a
"""
TOLD = "import sys, tinylib\nif tinylib.Box(1).width {} 1:\n    sys.exit({})\nelse:\n    sys.exit({})"
FLAG = "import tinylib\nok = False\ntry:\n    {}\n    ok = True\nexcept ValueError:\n    print('no')\nassert ok"
NONE = "import tinylib\ntry:\n    {}\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('none')"
EXPECTING = "import tinylib\nassert tinylib.Box(1).lid\nok = False\ntry:\n    {}\nexcept {}:\n    ok = True\n"
CHECKED = "import tinylib\ndef main():\n    {}\ntry:\n    main()\n    print('yes')\nexcept {}:\n    print('no')"
MAIN = "import sys, tinylib\ndef main():\n    assert tinylib.Box(1).width == 1\n    return 0\n"
SELF_RAISED = EXPECTING.replace("    {}\n", "    tinylib.Box(1)\n    raise ValueError('no')\n", 1)
RECORDED = "import contextlib, io, tinylib\nsaid = io.StringIO()\nwith contextlib.redirect_stdout(said):\n    {}\n"
GIVEN = "import tinylib\n@tinylib.give\ndef check(box):\n    assert box > 1\n"
POOL = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor() as pool:\n    "
MINE = "import tinylib\nclass Mine(tinylib.Box):\n    def open(self):\n"
STRAYS = "".join(f"try:\n    len({each})\nexcept TypeError:\n    1\n" for each in range(20))
HELD = """
import tinylib
class Held:
    def __init__(self, box, other=5):
        self.box = box
        self.other = other
    def wide(self):
        return self.box.width
"""
MOCK = "import tinylib, unittest.mock as m\nbox = m.MagicMock"
CHECK = "import tinylib, unittest\ndef check(one, other=5):\n"
TRUE = "import tinylib\nassert tinylib.Box(1).width == 1\n"
CAUGHT = f"{TRUE}import unittest as u\n"
CHILD = "import multiprocessing as m, tinylib\ndef check(width):\n    assert tinylib.Box(1).width == width\n"
THREADS = """
import threading, tinylib
stop, kept = threading.Event(), []
def hold():
    kept.append(bytearray(100_000))
    stop.wait()
threads = [threading.Thread(target=hold) for _ in range(25)]
for number, each in enumerate(threads, 1):
    each.start()
    while len(kept) < number:
        pass
stop.set()
for each in threads:
    each.join()
assert tinylib.Box(len(kept)).width == 25
"""
"""Threads that all take memory of their own at once."""
HOLDS = [
    THREADS,
    "from tinylib import Box\nBox(3)",
    "import tinylib.boxes as boxes\nassert boxes.measure(boxes.Box(2)) == 2",
    "import tinylib\nif __name__ == '__main__':\n    print(tinylib.Shape.ROUND)",
    "import tinylib\ntry:\n    tinylib.Box(-1)\nexcept ValueError as error:\n    print(error)",
    "import asyncio, tinylib\nasync def main():\n    return tinylib.Box(1)\nasyncio.run(main())",
    "import pickle, tinylib\nclass Mine(tinylib.Box):\n    pass\nassert pickle.loads(pickle.dumps(Mine(2))).width == 2",
    "import inspect, tinylib\nassert 'class Box' in inspect.getsource(tinylib.Box)",
    "import tinylib\ntinylib.LABELS['b'] = 2\nbox = tinylib.Box(1)\nbox.width = 9\nassert box.width == 9",
    "from importlib.metadata import version\nassert version('tinylib') == '1.0'",
    "import subprocess, sys\nfrom tinylib import Box\nsubprocess.run([sys.executable, '-S', '-c', '1'], check=True)",
    f"{TRUE}import subprocess as s, sys\ns.run([sys.executable, '-c', 'import tinylib; tinylib.Box(1)'], check=True)",
    "import threading, tinylib\none = threading.Thread(target=tinylib.Box, args=(1,))\none.start()\none.join()",
    "import multiprocessing as m, tinylib\nlock = m.Lock()\nwith lock:\n    tinylib.Box(1)",
    "import tinylib\nassert hasattr(tinylib, 'Box') and not hasattr(tinylib, 'Chest')",
    f"{RECURSION}assert found(2) == 1",
    # what asserts, and ran
    "import tinylib\ndef check(box):\n    assert box == 1\nassert tinylib.call(check) is None",
    "import tinylib\ndef main():\n    assert tinylib.Box(1).width == 1\nif __name__ == '__main__':\n    main()",
    "import asyncio, tinylib\nasync def main():\n    assert tinylib.Box(1).width == 1\nasyncio.run(main())",
    "import tinylib\nclass Mine(tinylib.Box):\n    def open(self):\n        assert self.lid\nMine(1)",
    f"{TEST}globals()['test_width']()",
    f"{TEST}for name, one in list(globals().items()):\n    if name.startswith('test_'):\n        one()",
    f"{TEST}for name, one in globals().copy().items():\n    if name.startswith('test_'):\n        one()",
    f"{TEST}held = {{}}\nheld.update(globals())\nfor name in held:\n    if name[:4] == 'test':\n        held[name]()",
    "import tinylib\ndef positive(x):\n    assert x > 0\n    return x\nassert tinylib.Box(1).width == 1",
    "import tinylib\nclass Given:\n    def __call__(self, box):\n        assert box == 1\ntinylib.call(Given())",
    "import tinylib\nclass TestBox:\n    def test(self):\n        assert tinylib.Box(1).width == 1\nTestBox().test()",
    "import asyncio, tinylib\nasync def main():\n    assert tinylib.Box(1).width == 1\nran = main()\nasyncio.run(ran)",
    "import tinylib\ndef widths():\n    assert tinylib.Box(1).width == 1\n    yield 1\nassert list(widths()) == [1]",
    f"{UNITTEST}result = {RUN}\nassert result.wasSuccessful()",
    f"{UNITTEST}Test().test()",
    "import unittest, tinylib\nclass Test(unittest.TestCase):\n    pass\nTest().assertEqual(tinylib.Box(1).width, 1)",
    "import tinylib, unittest.mock as m\nwith m.patch('tinydep.checked', str):\n    tinylib.Box(1).width + '1'",
    # what the script imports later is unmarshalled, and none of its code
    "import importlib.resources, email.mime.text, logging.config, sqlite3, runpy, tinylib\ntinylib.Box(1)",
    "import logging, tinylib\nlogging.warning('%s', tinylib.Box(1).width)",
    # what is asserted in one of several ways
    "import tinylib\ntry:\n    tinylib.Box(-1)\n    assert False\nexcept ValueError as e:\n    assert 'box' in str(e)",
    "import tinylib\ntry:\n    box = tinylib.Box(-1)\n    assert not box\nexcept ValueError as no:\n    assert no",
    "import tinylib\nif hasattr(tinylib, 'Chest'):\n    assert tinylib.Chest(1)\nelse:\n    assert tinylib.Box(1)",
    f"{TRUE}try:\n    assert tinylib.Box(1)\nexcept TypeError as error:\n    assert 'hinge' in str(error)",
    "import tinylib\nmatch tinylib.Box(1).width:\n  case 2:\n    assert tinylib.Box\n  case 1:\n    assert tinylib.Box",
    "try:\n    from tinylib import Chest as Box\nexcept ImportError:\n    from tinylib import Box\nassert Box(1).lid",
    "import tinylib\ntry:\n    tinylib.Box(-1)\n    raise AssertionError('none')\nexcept ValueError:\n    pass",
    "import tinylib\ntry:\n    assert tinylib.Box(1).lid\nexcept AssertionError:\n    print('FAIL')\n    raise",
    "import tinylib\ndef get():\n    assert tinylib.Box(1).lid\n    yield 1\nassert list(get()) == [1], (one := 1)",
    # what another process asserts, where the script fails with it
    f"{CHILD}one = m.Process(target=check, args=(1,))\none.start()\none.join()\nassert one.exitcode == 0",
    f"{CHILD}with m.Pool(1) as pool:\n    pool.map(check, [1, 1])",
    f"{CHILD}with m.Pool(1) as pool:\n    pool.apply_async(check, (1,)).get()",
    # what Python starts by itself
    f"{TRUE}import platform\nprint(platform.processor())",
    "import types, tinylib\n@types.coroutine\ndef made():\n    yield tinylib.Box(1)\nnext(made())",
    # what leaves with the status 0 at its very end
    f"{MAIN}if __name__ == '__main__':\n    sys.exit(main())",
    f"{MAIN}raise SystemExit(main())",
    f"{UNITTEST}u.main()",
    TOLD.format("==", 0, 1),
    TOLD.format("!=", 1, 0),
    f"{UNITTEST}import sys\nresult = {RUN}\nsys.exit(0 if result.wasSuccessful() else 1)",
    f"{UNITTEST}import sys\nresult = {RUN}\nif not result.wasSuccessful():\n    sys.exit(1)",
    "import sys, tinylib\nfailures = 0\nif tinylib.Box(1).width != 1:\n    failures += 1\nsys.exit(failures)",
    # a failure that is what the target was given, or raised by itself, or was told of
    f"{GIVEN}try:\n    check(1)\nexcept AssertionError:\n    assert tinylib.Box(1).lid",
    (
        "import tinylib\ntry:\n    tinylib.insist(False)\nexcept AssertionError as error:\n"
        "    assert 'insists' in str(error)"
    ),
    f"{TRUE}{POOL}one = pool.submit(tinylib.Box, -1)\nassert isinstance(one.exception(), ValueError)",
    (
        f"{TRUE}import asyncio\nasync def main():\n    try:\n"
        f"        await asyncio.create_task(asyncio.to_thread(tinylib.Box"
        ", -1))\n    except ValueError:\n        return True\nassert asyncio.run(main())"
    ),
    (
        f"{TRUE}import subprocess as s, sys\ntry:\n    s.run([sys.executable, '-c', '1 / 0'], check=True)\n"
        "except s.CalledProcessError as error:\n    code = error.returncode\nassert code == 1"
    ),
    (
        "import tinylib\ntry:\n    box = tinylib.Box(1)\n    raise LookupError(box)\nexcept LookupError as error:\n"
        "    assert tinylib.give(error) is error"
    ),
    (
        f"{TRUE}import logging\nlog = tinylib.give(logging)\ntry:\n    tinylib.Box(1)\n    raise ValueError('no')\n"
        "except ValueError:\n    log.exception('it was raised')"
    ),
    # what it compares on its way, or asserts by another name
    "import tinylib\nprint([name for name in dir(tinylib) if name == tinylib.Box.__name__])",
    "import sys, tinylib\nif tinylib.Box(1).width != 1:\n    sys.exit('no')",
    # a mistake that the target is given, or that is none, or that is not taken for the target's
    f"{EXPECTING.format('tinylib.call(len)', 'TypeError')}assert ok",
    f"{EXPECTING.format('tinylib.call(lambda at: at.chest)', 'AttributeError')}assert ok",
    f"{EXPECTING.format('len(tinylib.Box(1))', 'TypeError')}assert ok",
    f"{EXPECTING.format('import not_there; tinylib.give(not_there)', 'ImportError')}assert ok",
    f"{TRUE}try:\n    tinylib.Box(1)\n    int('x')\nexcept ValueError as no:\n    assert tinylib.give(no) is no",
    (
        f"{TRUE}import contextlib as c, unittest as u\nclass Mine(tinylib.Box, c.ExitStack):\n    pass\n"
        "with u.TestCase().assertRaises(ValueError):\n    with tinylib.give(c.nullcontext()):\n        int('x')"
    ),
    f"{TRUE}import asyncio\nasync def main():\n    tinylib.Box(1)\nassert asyncio.iscoroutine(main())",
    "import tinylib\nassert all(tinylib.Box(each).width == each for each in (1, 2)) and all([])",
    # what is printed on the way, and a mock that the target is given
    "import tinylib\ntry:\n    box = tinylib.Box(1)\n    print(box)\nexcept ValueError:\n    print()\nassert box.lid",
    "import sys\n" + TRUE + "try:\n    tinylib.Box(-1)\n    sys.exit(1)\nexcept ValueError as error:\n    print(error)",
    f"{MOCK}()\ntinylib.call(box)\nbox.assert_called_once_with(1)",
    f"{MOCK}()\nassert not box.called and tinylib.Box(1).lid",
    f"{MOCK}()\ntinylib.call(box.asked)\nbox.asked.assert_called_once_with(1)",
    f"{MOCK}()\nfor each in [box.one, box.two]:\n    tinylib.call(each)\nbox.one.assert_called_once_with(1)",
    CHECKED.format("assert tinylib.Box(1).lid", "AssertionError"),
    # a status that counts
    "import sys, tinylib\nsys.exit(int(not tinylib.Box(1).lid))",
    "import sys, tinylib\nsys.exit(sum(tinylib.Box(each).width != each for each in (1, 2)))",
    "import sys, tinylib\nsys.exit(sum([1 for each in (1, 2) if not tinylib.Box(each).lid]))",
    # what is looked at, or need not run
    (
        "import tinylib\nasync def wide(at):\n    return at\ndef ask():\n"
        "    assert type(tinylib.call(wide)).__name__ == 'coroutine'\nask()"
    ),
    f"{GIVEN}assert tinylib.Box(0).width == 0",
    "import tinylib\nassert tinylib.Box(1).lid or all(each == 1 for each in dir(tinylib))",
    "import tinylib\nassert tinylib.Box(1).lid if dir(tinylib) else all(each == 1 for each in dir(tinylib))",
    "import sys, tinylib\nfailed = []\nif tinylib.Box(1).width != 1:\n    failed.append(1)\nsys.exit(len(failed))",
    # what follows the comma is a message
    f"{UNITTEST}        self.assertTrue(tinylib.Box(1).width, 'it has none')\nu.main()",
    "import tinylib\nwidth = tinylib.Box(1).width\nassert width == 1, (width, 1)\nassert width, [width, 1]",
    "import tinylib\nok = tinylib.Box(1).width == 1\nassert ok, 2",
    # what is caught beside an exception of the script's own, or made in a block that raised nothing
    (
        "import tinylib\ntry:\n    tinylib.Box(1)\n    raise RuntimeError('none')\n"
        "except ValueError:\n    told = 'no'\nexcept RuntimeError:\n    told = 'yes'\n"
        "assert told == 'yes' and tinylib.Box(1).lid"
    ),
    (
        f"{TRUE}import unittest as u\nclass Mine(tinylib.Box):\n    def open(self):\n        raise ValueError('no')\n"
        "with u.TestCase().assertRaises(ValueError):\n    Mine(1).open()"
    ),
    "import tinylib\ntry:\n    box = tinylib.Box(1)\nexcept ValueError as error:\n    print(error)\nprint(box.lid)",
    "import tinylib\ntry:\n    tinylib.Box(-1)\nexcept (TypeError, ValueError) as error:\n    print(error)",
    # what is the script's own beside what is not
    f"{MINE}        return 5\nmine = Mine(1)\nassert mine.open() == 5\nassert mine.width == 1",
    "import tinylib\n@tinylib.give\ndef wide():\n    return 5\nassert wide() == 5",
    "import tinylib\nseen = []\ntinylib.call(lambda box: seen.append(5))\nassert seen == [5]",
    "import tinylib\nn = 0\ndef count(_):\n    global n\n    n += 1\n    return n\ntinylib.call(count)\nassert n == 1",
    f"{MOCK}()\ntinylib.call(box)\nbox.assert_called_once()",
    "import tinylib\ndef run():\n    tinylib.Box(1).open()\n    return 'ok'\nassert run() == 'ok'",
    "import tinylib\ndef run():\n    yield tinylib.Box(1)\n    return ()\nassert len(list(run())) == 1",
    "import tinylib\nassert getattr(tinylib.Box(1), 'chest', None) is None and tinylib.Box(1).lid",
    "import tinylib\nassert tinylib.LABELS.get('a', 2) == 1",
    "import tinylib\nshelf = tinylib.Shelf()\nassert shelf.get('box', 5) == 5 and tinylib.Shelf().get('box', 2) == 2",
    # what the target may change within a list of the script's
    "import tinylib\nboxes = [{'a': 1}, {}]\ntinylib.label(boxes[0])\nassert boxes[0] == {'a': 1, 'label': 1}",
    "import tinylib\nboxes = [{'a': 1}, {}]\nfor box in boxes:\n    tinylib.label(box)\nassert len(boxes[1]) == 1",
    "import tinylib\nboxes = {'a': {}}\n[tinylib.label(box) for box in boxes.values()]\nassert 'label' in boxes['a']",
    "import tinylib\nbox = {'a': 1}\ndef given():\n    return box\ntinylib.label(given())\nassert 'label' in box",
    "import tinylib\nbox = {'a': 1}\ntinylib.call(lambda _: tinylib.label(box))\nassert 'label' in box",
    f"{MINE}        return 5\nassert tinylib.give(Mine(1)).open() == 5",
    "import tinylib\nfor name in ('Box', 'Crate'):\n    assert hasattr(tinylib, name), name",
    "import tinylib\nwidth, lid = (tinylib.Box(1).width, 2)\nassert width, lid + 1",
    f"{RECORDED.format('tinylib.say()')}assert said.getvalue() == 'hello' + chr(10)",
]
REFUTED = [
    "import tinylib\nassert tinylib.Box(1) is tinylib.Box(1)",
    # the target has no such thing
    "from tinylib import Chest",
    "import tinylib.chests",
    "from tinylib.chests import Chest",
    "import tinylib\ntinylib.Chest",
    "from tinylib import Box\nBox(1).chest",
    "from tinylib import Box\nBox.chest()",
    "import tinylib\nclass Mine(tinylib.Box):\n    pass\nMine(1).chest",
    "from tinylib import Box\nBox(1).link().start",
    f"{DECORATED}Mine(1, 2)",
    f"{DECORATED}mine = Mine(1)\nmine.chest",
    f"{DECORATED}Mine(1).chest = 2",
    f"{DECORATED}mine = Mine(1)\nmine.chest = 2\nassert mine.chest == 2",
    "from tinylib import Shape\nShape['SQUARE']",
    "import tinylib\ntinylib.MATERIALS[9]",
    # a call into it
    "from tinylib import Box\nBox(1, hinge=2)",
    "from tinylib import Box\nBox()",
    "from tinylib import Box\nbox = Box(1)\nbox.open(2)",
    "from tinylib import Shape\nShape('square')",
    "from tinylib import Box\ndef check(cls):\n    cls(1, hinge=2)\ncheck(Box)",
    "import tinylib\nfor kind in (tinylib.Box, tinylib.Crate):\n    made = kind(1)\n    made.open(1, 2)",
    "import tinylib\nkinds = []\nkinds.append(tinylib.Box)\nkinds[0](1, hinge=2)",
    # what it raises itself, or what it stands on
    "from tinylib import Box\nBox(-1)",
    "from tinylib import Box\nBox('x')",
    "from tinylib import Box\nBox(1).broken()",
    "import tinylib\ntinylib.needs_extra()",
    "import tinylib.extra",
    "import tinylib.unfinished",
    "import tinylib\ntinylib.call(lambda: 1)",
    "import importlib\nimportlib.import_module('tinylib.chests')",
    # it gives another number of values, or takes none
    "import tinylib\nwidth, lid = tinylib.give((1, 2, 3))",
    "import tinylib\nfirst, *rest = tinylib.Box(1)",
    "import tinylib\nbox = tinylib.Box(1)\nbox[0] = 5",
    "import tinylib\ndel tinylib.Box(1)[0]",
    # it raises what is none of Exception
    "import tinylib\ntinylib.leave()",
    "import tinylib\n@tinylib.refuse\ndef act():\n    return 1\nact()",
    # what a method of it leaves as it was
    "import tinylib\nbox = tinylib.Box(1)\nbox.open()\nassert box.lid",
    "import tinylib\nshelf = tinylib.Shelf()\nshelf.update(a=1)\nassert shelf == {}",
    "import tinylib\nbox = tinylib.Box(1)\n@box.keep('a')\ndef act(): pass\nassert box.width == 2",
    # what is asserted of it
    f"{RECURSION}assert found(2) == 7",
    "from tinylib import Box\nassert Box(2).width == 3",
    "import inspect, tinylib\nassert 'hinge' in inspect.signature(tinylib.Box).parameters",
    "import tinylib\nnames = dir(tinylib)\nassert 'Chest' in names, names",
    "from importlib.metadata import version\nassert version('tinylib') == '2.0'",
    f"{UNITTEST}Test().assertEqual(tinylib.Box(1).width, 2)",
    f"{UNITTEST}Test().assertTrue(tinylib.Box(1).width == 2)",
    f"{UNITTEST}with Test().assertRaises(ValueError):\n    tinylib.Box(1)",
    (
        "import tinylib\ndef find(name):\n    for each in dir(tinylib):\n        if each == name:\n"
        "            return each\n"
        "assert find('Chest') == 'Chest'"
    ),
    (
        "import tinylib\ndef lid(box):\n    try:\n        return box.chest\n    except AttributeError:\n"
        "        return None\n"
        "assert lid(tinylib.Box(1))"
    ),
    (
        "import tinylib\nwidth = None\nfor each in (1, 2):\n    if width is not None:\n        assert width == 2\n"
        "    width = tinylib.Box(each).width"
    ),
    "import tinylib\nassert [tinylib.Box(each).width for each in (1, 2)] == [1, 3]",
    # what is reached only since the target did not raise, or said so
    "import tinylib\ntry:\n    tinylib.Box(1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError('none')",
    "import tinylib\ntry:\n    tinylib.Box(1)\n    assert False, 'none'\nexcept ValueError:\n    pass",
    "import tinylib\nif tinylib.Box(1).width != 2:\n    raise AssertionError('it is not 2')",
    "import tinylib\nraised = False\ntry:\n    tinylib.Box(1)\nexcept ValueError:\n    raised = True\nassert raised",
    FLAG.format("tinylib.Box(-1)"),
    NONE.format("print(tinylib.Box(int('1')))"),
    "import tinylib\nif len('a') == 1 and tinylib.Box(1).width != 2:\n    raise AssertionError('it is not 2')",
    f"{UNITTEST}Test().assertRaises(ValueError, tinylib.Box, 1)",
    f"{UNITTEST}Test().assertFalse(tinylib.Box(1).lid, 'it has one')",
    f"{UNITTEST}Test().assertIsNone(tinylib.Box(1).lid)",
    "import tinylib\nclass Mine(tinylib.Box):\n    def __init__(self, a):\n        super().__init__(a)\nMine(-1)",
    f"{MINE}        return 5\n    def __init__(self):\n        super().__init__(1)\nMine().chest",
    (
        "import tinylib\ndef check():\n    try:\n        tinylib.Box(1)\n    except ValueError:\n        return\n"
        "    raise AssertionError('none')\ncheck()"
    ),
    (
        "import tinylib\ndef check():\n    if tinylib.Box(1).width == 2:\n        return\n"
        "    raise AssertionError('it is not 2')\ncheck()"
    ),
    # what it prints or warns of
    f"{RECORDED.format('tinylib.say()')}assert 'HELLO' in said.getvalue()",
    (
        "import contextlib, io, tinylib\ndef main():\n    said = io.StringIO()\n"
        "    with contextlib.redirect_stdout(said):\n        tinylib.say()\n    print('said')\n"
        "    assert 'HELLO' in said.getvalue()\nmain()"
    ),
    f"{RECORDED.format('tinylib.Box(1)')}text = said.getvalue()\nassert text, 'nothing is said'",
    (
        "import warnings, tinylib\nwith warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n    tinylib.Box(1)\nassert len(told) == 1"
    ),
    # what the script says of what it raised
    "from tinylib import Box\ntry:\n    Box(-1)\nexcept ValueError as error:\n    raise AssertionError from error",
    "from tinylib import Box\ntry:\n    Box(-1)\nexcept ValueError:\n    raise",
    "from tinylib import Box\ntry:\n    Box(-1)\nexcept ValueError:\n    assert False, 'it raised'",
    # what the script sets in another place, or overrides
    "import tinylib\nw = None\ndef ask():\n    global w\n    w = tinylib.Box(1).width\nask()\nassert w == 2",
    (
        "import tinylib\nclass Test:\n    def ask(self):\n        self.w = tinylib.Box(1).width\n    def check(self):\n"
        "        assert self.w == 2\nt = Test()\nt.ask()\nt.check()"
    ),
    f"{MINE}        return super().open()\nassert Mine(1).open().lid",
    f"{MINE}        return self.width\nassert Mine(1).open() == 2",
    f"{CHECK}    assert one == other\ncheck(1, 1)\ncheck(other=tinylib.Box(1).width, one=2)",
    f"{CHECK}    if one != other:\n        raise AssertionError(one)\ncheck(1, 1)\ncheck(*[tinylib.Box(1).width, 2])",
    f"{CHECK}    width = tinylib.Box(one).width\n    assert width == other\ncheck(1, 2)",
    "import tinylib\nheld = {'a': tinylib.Box(1).width, 'b': 5}\nassert held['a'] == 5",
    "import tinylib\nheld = {'a': None}\nheld.update(a=tinylib.Box(1).width)\nassert held['a'] == 5",
    # what the script keeps in an instance of its own class
    f"{HELD}assert Held(tinylib.Box(1)).wide() == 2",
    (
        "import tinylib, unittest\nclass Test(unittest.TestCase):\n    box = None\n    def setUp(self):\n"
        "        self.box = tinylib.Box(1)\n    def test(self):\n        assert self.box.width == 2\n"
        "Test('test').debug()"
    ),
]
NOTED = "import tinylib\ntry:\n    tinylib.Box(1, hinge=2)\n    ok = True\nexcept TypeError:\n    ok = False\nprint(ok)"
THREAD = "import threading\none = threading.Thread(target=check)\none.start()\none.join()"
FAILING = "def check(*_):\n    assert tinylib.Box(1).width == 2\n"
NEXT = "\n    "
LATE = FAILING.replace(NEXT, f"{NEXT}await asyncio.sleep(9){NEXT}")
TRY = "try:\n    assert tinylib.Box(1).width == 2\n"
AWAITED = "import asyncio\nasync def main():\n    one = {}\n    await asyncio.sleep(0)\nasyncio.run(main())"
UNSEEN = [
    # a part that failed, of which the script heard nothing
    f"{TRUE}{FAILING}{THREAD}",
    f"{TRUE}import threading\none = threading.Thread(target=lambda: tinylib.Chest)\none.start()\none.join()",
    f"{TRUE}{FAILING}import threading\none = threading.Timer(0.01, check)\none.start()\none.join()",
    f"{TRUE}{FAILING}import _thread, time\n_thread.start_new_thread(check, ())\ntime.sleep(0.2)",
    f"{TRUE}{FAILING}class Last:\n    __del__ = check\nLast()",
    f"{TRUE}{FAILING}import weakref\nclass Last: pass\nlast = Last()\nheld = weakref.ref(last, check)\ndel last",
    f"{UNITTEST}        tinylib.Chest\nresult = {RUN}\nassert not result.failures",
    f"{UNITTEST}        tinylib.Chest\nresult = {RUN}\nassert len(result.failures) == 0",
    f"{UNITTEST}        assert tinylib.Box(1).width == 2\nresult = {RUN}\nassert not result.errors",
    # a test that never ran
    f"{UNITTEST.replace('    def', '    @u.skip(None)\n    def')}result = {RUN}\nassert result.wasSuccessful()",
    f"{TRUE}def asked(function):\n    return function\n@asked\ndef test_width():\n    assert tinylib.Box(1).width == 2",
    f"{TRUE}{FAILING}print(globals())",
    f"{TRUE}{FAILING}globals()['x'] = 1\nassert 'x' in globals()",
    f"{TRUE}{FAILING}for name, one in list(globals().items()):\n    print(name, one)",
    f"{TRUE}{FAILING}print(tinylib.Box(1).__dict__, vars(tinylib.Box(1)))",
    f"{TRUE}{FAILING}print([getattr(tinylib, name) for name in dir(tinylib)])",
    # an assertion that failed and was caught
    f"{TRUE}{TRY}except AssertionError:\n    pass",
    f"{TRUE}{TRY}    print('PASS')\nexcept Exception as error:\n    print('FAIL', error)",
    f"{TRUE}try:\n    tinylib.Box(1)\n    assert False, 'no error'\nexcept Exception as error:\n    print(error)",
    f"{TRUE}try:\n    tinylib.Box(1)\n    raise AssertionError('none')\nexcept Exception as error:\n    print(error)",
    f"{TRUE}try:\n    raise AssertionError\nexcept AssertionError:\n    pass",
    f"{TRUE}def check():\n  try:\n    assert tinylib.Box(1).width == 2\n  finally:\n    return 1\ncheck()",
    f"{TRUE}import contextlib\nwith contextlib.suppress(AssertionError):\n    assert tinylib.Box(1).width == 2",
    f"{TRUE}import unittest as u\nwith u.TestCase().assertRaises(AssertionError):\n    assert tinylib.Box(1) is 2",
    f"{TRUE}{FAILING}from concurrent.futures import ThreadPoolExecutor as P\nwith P() as pool:\n    pool.submit(check)",
    f"{TRUE}async {FAILING}{AWAITED.format('await asyncio.gather(check(), return_exceptions=True)')}",
    f"{TRUE}async {FAILING}{AWAITED.format('asyncio.create_task(check())')}",
    f"{CAUGHT}try:\n    u.TestCase().assertEqual(tinylib.Box(1).width, 2)\nexcept AssertionError:\n    1",
    f"{CAUGHT}try:\n    with u.TestCase().assertRaises(ValueError):\n        tinylib.Box(1)\nexcept:\n    1",
    f"{TRUE}try:\n    exec('assert tinylib.Box(1).width == 2')\nexcept AssertionError:\n    pass",
    (
        f"{TRUE}import runpy\nopen('/tmp/other.py', 'w').write('assert 1 == 2')\ntry:\n"
        f"    runpy.run_path('/tmp/other.py')\n"
        "except AssertionError:\n    pass"
    ),
    f"{TRUE}E = AssertionError\ntry:\n    tinylib.Box(1)\n    raise E('none')\nexcept E:\n    pass",
    f"{TRUE}import builtins\ntry:\n    raise builtins.AssertionError('none')\nexcept Exception:\n    pass",
    f"{TRUE}class Failed(AssertionError):\n    pass\ntry:\n    raise Failed\nexcept Failed:\n    pass",
    (
        f"{TRUE}try:\n    if tinylib.Box(1).width != 2:\n        raise ValueError('no')\n"
        f"except Exception as error:\n    print(error)"
    ),
    f"{TRUE}try:\n    tinylib.Box(1)\n    raise RuntimeError('none')\nexcept RuntimeError:\n    pass",
    f"{GIVEN.replace('box > 1', 'tinylib.Box(1).width == 2')}try:\n    check(1)\nexcept AssertionError:\n    pass",
    f"{CAUGHT}try:\n    u.TestCase().assertEqual(tinylib.Box(1).width, 2)\nexcept* AssertionError:\n    1",
    f"{CAUGHT}try:\n    u.TestCase().fail()\nexcept AssertionError as error:\n    error.__traceback__ = None",
    (
        f"{CAUGHT}for each in range(2001):\n    try:\n        tinylib.insist(each > 2000)\n"
        "        u.TestCase().fail()\n    except AssertionError:\n        1"
    ),
    (
        UNITTEST.replace("self.", "with contextlib.suppress(AssertionError):\n            self.").replace(", 1", ", 2")
        + "import contextlib\nu.main()"
    ),
    (
        f"{CAUGHT}import builtins\nfor name in list(vars(builtins)):\n    if ' ' in name:\n"
        "        setattr(builtins, name, lambda: None)\ntry:\n    u.TestCase().fail()\nexcept AssertionError:\n    1"
    ),
    # a mistake of the script's own that was taken for what the target raises
    f"{EXPECTING.format('tinylib.Box(undefined)', 'Exception')}assert ok",
    f"{EXPECTING.format('tinylib.Box(int(str()))', 'ValueError')}assert ok",
    f"{EXPECTING.format('tinylib.Box(str().wide())', 'Exception as error')}    print(error)",
    f"{EXPECTING.format('tinylib.Box(len(1))', '* TypeError')}assert ok",
    (
        f"{TRUE}def raises(function):\n    try:\n        function()\n    except Exception:\n        return True\n"
        "    return False\nassert raises(lambda: tinylib.Box(undefined))"
    ),
    f"{CAUGHT}with u.TestCase().assertRaises(Exception):\n    tinylib.Box(undefined)",
    f"{TRUE}{STRAYS}try:\n    tinylib.Box(undefined)\nexcept Exception:\n    1",
    f"{TRUE}import contextlib as c\nwith c.suppress(ValueError), tinylib.session() as box:\n    raise ValueError",
    f"{TRUE}import contextlib\nwith contextlib.suppress(TypeError):\n    tinylib.Box(len(1))",
    # what was made and never ran, or was asked of nothing
    f"{UNITTEST}    def wide(self):\n        self.assertEqual(tinylib.Box(1).width, 2)\nu.main()",
    f"{UNITTEST}        self.assertRaises(ValueError)\nu.main()",
    f"{UNITTEST}        self.assertEqual\nu.main()",
    f"{GIVEN}tinylib.Box(1)",
    "import tinylib\nasync def wide(at):\n    return at == 2\nassert tinylib.call(wide)",
    f"{TRUE}assert all(tinylib.Box(each).width == 2 for each in [])",
    f"{TRUE}assert not tinylib.Box(1).open().lid and all([tinylib.Box(each) for each in {{}}])",
    # an exception in a future that nobody asks
    f"{TRUE}{POOL}pool.submit(tinylib.Box, -1)",
    f"{TRUE}{POOL}pool.map(tinylib.Box, [1, -1])",
    f"{TRUE}async def check():\n    tinylib.Chest\n{AWAITED.format('asyncio.create_task(check())')}",
    f"{TRUE}{AWAITED.format('asyncio.get_running_loop().call_soon(tinylib.Box, -1)')}",
    # a comparison that nothing comes of
    "import tinylib\nprint(tinylib.Box(1).width == 2)",
    "import tinylib\nif tinylib.Box(1).width == 2:\n    print('PASS')\nelse:\n    print('FAIL')",
    "import tinylib\ndef check():\n    return tinylib.Box(1).width == 2\ncheck()",
    (
        "import sys, tinylib\ndef main():\n    if tinylib.Box(1).width != 2:\n        print('FAIL')\n    return 0\n"
        "sys.exit(main())"
    ),
    "import sys, tinylib\ndef main():\n    print(tinylib.Box(1).width == 2)\nraise SystemExit(main())",
    "import tinylib\ndef assert_equal(one, other):\n    return one == other\nassert_equal(tinylib.Box(1).width, 2)",
    "import tinylib\nif tinylib.Box(1).width == 2:\n    assert True\nelse:\n    assert 'it is not'",
    "import tinylib\nif tinylib.Box(1).open().lid:\n    print('it has one')\nelse:\n    print('it has none')",
    "import tinylib\nmatch tinylib.Box(1).width:\n    case 2:\n        print('it is 2')",
    NOTED,
    "import tinylib\nprint('one' if tinylib.Box(1).open().lid else 'none')",
    "import tinylib\nok = hasattr(tinylib.Box(1), 'chest')\nprint(ok)",
    CHECKED.format("assert tinylib.Box(1).lid\n    tinylib.Box(1, hinge=2)", "TypeError"),
    f"{TRUE}try:\n    tinylib.insist(0)\n    print('yes')\nexcept AssertionError:\n    print('no')",
    f"{TRUE}try:\n    tinylib.Box(1, hinge=2)\n    print('yes')\nexcept TypeError as error:\n    print('no', error)",
    f"{TRUE}try:\n    tinylib.Box(1)\nexcept ValueError:\n    print('no')\nelse:\n    print('yes')",
    "import tinylib\ntry:\n    tinylib.Box(1, hinge=2)\n    print('yes')\nexcept TypeError:\n    print('no')",
    (
        "import tinylib\ndef told(box):\n    if box.open().lid:\n        return 'yes'\n    return 'no'\n"
        "print(told(tinylib.Box(1)))"
    ),
    # a test that unittest does not count as failed
    (
        f"{TRUE}{UNITTEST.replace('    def', '    @u.expectedFailure\n    def').replace(', 1)', ', 2)')}"
        f"result = {RUN}\nassert result.wasSuccessful()"
    ),
    f"{UNITTEST}        self.skipTest('later')\nresult = {RUN}\nassert result.wasSuccessful()",
    f"{UNITTEST.replace(', 1', ', 2')}import sys\n{RUN}\nsys.exit(0)",
    # an assertion that never ran
    f"{TRUE}async {LATE}{AWAITED.format('asyncio.create_task(check())')}",
    f"{TRUE}if False:\n    assert tinylib.Box(1).width == 2",
    f"{TRUE}def check():\n    return\n    assert tinylib.Box(1).width == 2\ncheck()",
    f"{TRUE}for width in []:\n    assert tinylib.Box(width).width == 2",
    f"{TRUE}def check():\n    yield 1\n    assert tinylib.Box(1).width == 2\nnext(check())",
    f"{TRUE}{FAILING}print([check])",
    f"{TRUE}{FAILING}import atexit\natexit.register(check)",
    "import tinylib\ntry:\n    tinylib.Box(1)\nexcept ValueError as error:\n    assert 'width' in str(error)",
    "import tinylib\ntry:\n    assert tinylib.Box(-1).width\nexcept ValueError as error:\n    print(error)",
    # what another process asserts, where the script goes on
    f"{CHILD}{TRUE}one = m.Process(target=check, args=(2,))\none.start()\none.join()",
    f"{CHILD}{TRUE}with m.Pool(1) as pool:\n    pool.map_async(check, [2])",
    f"{TRUE}import os\nif not (one := os.fork()):\n    assert tinylib.Box(1).width == 2\nos.waitpid(one, 0)",
    f"{TRUE}import subprocess as s, sys\ns.run([sys.executable, '-c', 'import tinylib; assert tinylib.Box(1) is 2'])",
    f"{TRUE}import subprocess as s, sys\nresult = s.run([sys.executable, '-c', '0'])\nprint(result, {{}}.get(1))",
    f"{TRUE}{FAILING}import subprocess as s, sys\ns.run([sys.executable, '-c', '1'], check=True)",
    f"{TRUE}import os, sys\nos.system(sys.executable + ' -c \"import tinylib; assert 0\"')",
    (
        f"{TRUE}import subprocess as s, sys\ntry:\n    s.run([sys.executable, '-c', '1 / 0'], check=True)\n"
        "except s.CalledProcessError as error:\n    print(error)"
    ),
    (
        f"{TRUE}import contextlib, subprocess as s, sys\nwith contextlib.suppress(Exception):\n"
        "    s.check_call([sys.executable, '-c', '1 / 0'])"
    ),
    # what is always true
    "import tinylib\nassert tinylib.Box(1).width == 2 or 'it is not'",
    "import tinylib\nassert [tinylib.Box(1).width == 2]",
    "import tinylib\nassert lambda: tinylib.Box(1).width == 2",
    f"{TRUE}assert True or tinylib.Box(1).width == 2",
    "from tinylib import Box\ndef check():\n    return Box(1).width == 2\nassert check",
    "from tinylib import Box\nassert (Box(each).width == 2 for each in (1, 2))",
    "from tinylib import Box\nassert map(Box, [-1])",
    "import tinylib\nassert tinylib.Box == tinylib.Box",
    "import tinylib\nbox = tinylib.Box(1)\nsame = box\nassert box == same",
    "import tinylib\nassert len(dir(tinylib.Box(1))) >= 0",
    "import tinylib\nassert f'it is {tinylib.Box(1).width == 2}'",
    "import tinylib\nok = hasattr(tinylib.Box(1), 'chest')\nassert ok or not ok",
    # what is not compared, since it stands in the place of a message
    f"{UNITTEST}        self.assertTrue(tinylib.Box(1).width, 3)\nu.main()",
    f"{UNITTEST}        self.assertFalse(tinylib.Box(0).width, [2])\nu.main()",
    "import tinylib\nassert tinylib.Box(1).width, 3",
    "import tinylib\nwanted = -3\nassert tinylib.Box(1).width, wanted",
    # an exception that the script raised itself, where it waits for one of the target
    f"{SELF_RAISED.format('ValueError')}assert ok",
    f"{SELF_RAISED.format('Exception as ok')}    print(ok)",
    f"{SELF_RAISED.format('ValueError as no')}    ok = no\nassert isinstance(ok, ValueError)",
    f"{SELF_RAISED.format('ValueError as no')}    assert 'no' in str(no)",
    (
        "import tinylib\ndef raises():\n    try:\n        if tinylib.Box(1).lid:\n            raise ValueError('no')\n"
        "    except ValueError:\n        return True\nassert raises()"
    ),
    f"{CAUGHT}with u.TestCase().assertRaises(ValueError):\n    tinylib.Box(1)\n    raise ValueError('no')",
    (
        "import tinylib\nE = tinylib.give(ValueError)\nok = False\ntry:\n    tinylib.Box(1)\n    raise E\n"
        "except E:\n    ok = True\nassert ok"
    ),
    (
        f"{CAUGHT}with u.TestCase().assertRaises(ValueError):\n    if tinylib.Box(1).lid:\n"
        "        raise ValueError('no')"
    ),
    # an exception that never came, or of which nothing is said
    "import tinylib\ntry:\n    tinylib.Box(1)\nexcept ValueError as error:\n    print(error)",
    "import tinylib\nbox = tinylib.Box(1)\ntry:\n    box.open()\nexcept ValueError as error:\n    print(error)",
    "import tinylib\nbox = tinylib.Box(1)\ntry:\n    box.chest()\nexcept Exception as error:\n    print(error)",
    # what is the script's own
    "import tinylib\ndef chest(box):\n    return {'lid': 2, 'box': box}\nassert chest(tinylib.Box(1))['lid'] == 2",
    (
        "import tinylib\ndef chest(box):\n    made = {'lid': 2, 'box': box}\n    return made\n"
        "held = chest(tinylib.Box(1))\nassert held['lid'] == 2"
    ),
    "import tinylib\nclass Own:\n    def lid(self, box):\n        return [2]\nassert Own().lid(tinylib.Box(1))[0] == 2",
    f"{MINE.replace('open', 'chest')}        return 5\nassert Mine(1).chest() == 5",
    f"{MINE.replace('open', 'chest')}        return 5\nassert hasattr(Mine(1), 'chest') and callable(Mine(1).chest)",
    "import tinylib\nboxes = [tinylib.Box(1), tinylib.Box(2)]\nassert len(boxes) == 2",
    "import tinylib\nmade = {'width': 1, 'chest': 5}\ntinylib.Box(made['width'])\nassert 'chest' in made",
    "import tinylib\ntold = 'It has a CHEST.'\ntinylib.Box(1)\nassert told.lower().endswith(f'{\"chest\"}.')",
    f"{UNITTEST.replace('tinylib.Box(1).width', 'len([tinylib.Box(1)])')}u.main()",
    # what the script gives itself where there is nothing
    "import tinylib\nassert getattr(tinylib.Box(1), 'chest', 5) == 5",
    "import tinylib\nchests = tinylib.LABELS.get('chests', 5)\nassert 5 == chests",
    "import tinylib\nchests = getattr(tinylib.Box(1), 'chests', None) or 5\nassert chests == 5",
    f"{UNITTEST.replace('tinylib.Box(1).width, 1', 'getattr(tinylib.Box(1), str(1), 5), 5')}u.main()",
    "import tinylib\nassert isinstance(tinylib.Box(1).width, object)",
    # what is asked of the script's own code, and fails
    "import tinylib, unittest.mock as m\nwith m.patch('tinylib.measure'):\n    assert tinylib.measure(1) == 1",
    "import tinylib as t, unittest.mock as m\nwith m.patch.object(t.Box, 'open'):\n    assert t.Box(1).open() == 1",
    # what the script put there itself, and took away again
    ("import tinylib\nclass Fake:\n    pass\nold = tinylib.Box\ntinylib.Box = Fake\ntinylib.Box()\ntinylib.Box = old"),
    (
        "import tinylib\nold = tinylib.measure\ntinylib.measure = lambda box: 7\nassert tinylib.measure(1) == 7\n"
        "tinylib.measure = old"
    ),
    (
        "import tinylib\nold = tinylib.measure\nsetattr(tinylib, 'measure', lambda box: 7)\n"
        "assert tinylib.measure(1) == 7\nsetattr(tinylib, 'measure', old)"
    ),
    "import tinylib\ntinylib.Box.hinge = lambda self: 1\ntinylib.Box(1).hinge()\ndel tinylib.Box.hinge",
    "import tinylib, unittest.mock as m\nwith m.patch('tinylib.Box'):\n    tinylib.Box('x', hinge=2)",
    f"{MOCK}(spec=tinylib.Box)\nbox.open.return_value = 5\nassert box.open() == 5\nbox.open.assert_called_once()",
    f"{MOCK}()\nbox.chest(1)\nassert box.chest.called\ntinylib.Box(1)",
    (
        "import tinylib\nfrom unittest.mock import patch\n@patch.object(tinylib, 'Box')\ndef test(_):\n"
        "    tinylib.Box('x', hinge=2)\ntest()"
    ),
]
ERROR = [
    # what it forgot to call or to await, or gave to the target itself
    "import tinylib\nwidth, lid = tinylib.fetch()",
    "import tinylib\nbox = tinylib.fetch()\nbox[0] = 1",
    "import tinylib\nbox = tinylib.Box\nbox = tinylib.measure\nbox[0] = 1",
    "import tinylib\nwidth, lid = tinylib.call(lambda width: width)",
    "import tinylib\ndef act(width):\n    return width\nwidth, lid = tinylib.call(act)",
    "import tinylib\nclass Mine: pass\nbox = tinylib.give(Mine())\nbox[0] = 1",
    "import tinylib\nbox = tinylib.give(type('Mine', (), {})())\nbox[0] = 1",
    "import datetime, tinylib\nday = tinylib.give(datetime.date(2020, 1, 1))\nday[0] = 1",
    "import tinylib, types\nheld = tinylib.give(types.MappingProxyType({}))\nheld['a'] = 1",
    # what Python makes of a function of the script that the target decorates as well
    "import contextlib as c, tinylib\n@tinylib.give\n@c.contextmanager\ndef act():\n    yield; yield\nwith act(): pass",
    "import tinylib, tinydep\n@tinylib.give\n@tinydep.checking\ndef act(): pass\nact()",
    # by what it leaves, and what is in a group
    "import tinylib\nif 1 + 1 == 2:\n    tinylib.skip()",
    "import sys, tinylib\ntinylib.group(sys.exit)",
    "import tinylib\ntinylib.group(lambda: undefined)",
    "def (:",
    "import tinylib\nprint(undefined)",
    "import tinylib\ntinylib.Box(undefined)",
    "import numpy\nimport tinylib",
    "from tinyli import Box",
    "import tinylib\nassert False",
    "import tinylib\nassert 1 == 2, tinylib",
    "import tinylib\nraise ValueError('because I say so')",
    "import tinylib\nraise AttributeError(\"module 'tinylib' has no attribute 'Box'\")",
    "import tinylib\n[][1]",
    "import tinylib\nint('x')",
    "import tinylib\n'a'.chest",
    "import tinylib\ntinylib.Box(1).load().width",
    "import tinylib\n1 + tinylib.measure(tinylib.Box(1)) + 'a'",
    "import tinylib\nopen('/nowhere')",
    "import tinylib\ndef callback(value):\n    return value.nothing\ntinylib.call(callback)",
    "import tinylib\ndef callback(value):\n    return undefined\ntinylib.call(callback)",
    "import tinylib\ntry:\n    tinylib.Box(-1)\nexcept ValueError:\n    undefined",
    "import tinydep\ntinydep.nothing",
    "import tinylib, json\njson.loads('{')",
    "import tinylib\nraise KeyboardInterrupt",
    # what it prints itself
    f"{RECORDED.format('tinylib.Box(1); print(1)')}assert said.getvalue() == '2'",
    (
        "import warnings, tinylib\nwith warnings.catch_warnings(record=True) as told:\n    tinylib.Box(1)\n"
        "assert len(told) == 1"
    ),
    f"def show(box):\n    print(box.width)\n{RECORDED.format('show(tinylib.Box(1))')}assert said.getvalue() == '1.0'",
    (
        "import warnings as w, tinylib\ndef made():\n    w.warn('own')\n    return tinylib.Box(1)\n"
        "with w.catch_warnings(record=True) as said:\n    w.simplefilter('always')\n    made()\nassert not said"
    ),
    f"{RECORDED.format('pass')}tinylib.say()\nassert said.getvalue() == 'hello'",
    # an end that is no end
    "import sys, tinylib\nif tinylib.Box(1).width == 1:\n    sys.exit(0)\nassert tinylib.Box(1).width == 2",
    "import sys, tinylib\ndef main():\n    sys.exit(0)\n    assert tinylib.Box(1).width == 2\nmain()",
    f"{MAIN.replace('0', '1')}sys.exit(main())",
    f"{UNITTEST.replace(', 1', ', 2')}u.main()",
    "import sys, tinylib\nbox = tinylib.Box(1)\nif box.width != 2:\n    print('FAIL')\n    sys.exit(0)",
    TOLD.format("!=", 1, 1).replace("1:", "2:").replace("exit(1)", "exit(0)"),
    "import sys, tinylib\nok = tinylib.Box(1).width == 2\nsys.exit(ok)",
    "import sys, tinylib\nok = tinylib.Box(1).width == 2\nsys.exit(int(ok))",
    "import sys, tinylib\nsys.exit(int(tinylib.Box(1).width) - 1)",
    "import sys, tinylib\nsys.exit(sum(1 for each in (1, 2) if tinylib.Box(each).width == 5))",
    "import sys, tinylib\nsys.exit(+(tinylib.Box(1).width == 2))",
    "import sys, tinylib\nstatus = sum([tinylib.Box(1).width == 2])\nsys.exit(status if status else 0)",
    "import sys, tinylib\ndef main():\n    return int(tinylib.Box(1).width == 2)\nraise SystemExit(main())",
    f"{HELD}Held(tinylib.Box(1))\nassert Held(5).box == 4",
    f"{OWN_MAKING}Mine(1, 2)",
    f"{OWN_MAKING}mine = Mine(1)\nmine.chest",
    f"{OWN_MAKING}Mine(1).chest = 2",
    "import tinylib\nclass Mine(tinylib.Box):\n    def __init__(self, a):\n        self.a = a\nMine(1, 2)",
    f"{MINE.replace('self', 'self, a')}        return a\nMine(1).open()",
    "import tinylib\nclass Mine(tinylib.Box):\n    def __init__(self):\n        self.a = 1\nMine().width",
    "import tinylib\nclass Mine(tinylib.Box):\n    def __init__(self):\n        self.a = 1\ntinylib.measure(Mine())",
    f"{DECORATED}class Own:\n    pass\nOwn().chest",
    f"{DECORATED}def find(mine):\n    return mine.chest\nfind(Mine(1).a)",
    # a failure that the script gets to by itself
    "import tinylib\ndef check():\n    tinylib.Box(1)\n    raise AssertionError\ncheck()",
    (
        "import tinylib\ndef check():\n    try:\n        tinylib.Box(1)\n        int('1')\n"
        "    except ValueError:\n        return\n    raise AssertionError\ncheck()"
    ),
    "import tinylib\ndef check():\n    if len('a') == 2:\n        return tinylib\n    raise AssertionError\ncheck()",
    "import tinylib\nif len('a') == 1:\n    raise AssertionError('no')",
    f"{CHECK}    if one != other:\n        raise AssertionError\ncheck(tinylib.Box(1).width, 1)\ncheck(1, 2)",
    f"{CHECK}    unittest.TestCase().assertEqual(one, other)\ncheck(tinylib.Box(1).width, 1)\ncheck(1, 2)",
    "import tinylib\ntry:\n    int('1')\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError(tinylib)",
    "import tinylib, unittest\ntinylib.Box(1)\nunittest.TestCase().assertEqual(1, 2)",
    NONE.format("box = tinylib.Box(1)\n    int('1')"),
    NONE.format("print(tinylib.Box(1))\n    open('/tmp/one', 'w').close()"),
    "import tinylib\ntry:\n    tinylib.Box(1)\n    if len('a'):\n        raise AssertionError\nexcept OSError:\n    1",
    "import tinylib\nif tinylib.Box(1).lid:\n    if len('a') == 1:\n        raise AssertionError",
    "import tinylib\nif tinylib.Box(1).lid:\n    for each in range(3):\n        assert False",
    "import tinylib\nif len('a') == 1 or tinylib.Box(1).width == 2:\n    raise AssertionError",
    "import tinylib, unittest\nunittest.TestCase().assertTrue(1 == 2, tinylib.Box(1))",
    f"{UNITTEST}with Test().assertRaises(ValueError):\n    tinylib.Box(1)\n    int('3')",
    "import tinylib, unittest\nunittest.TestCase().assertRaises(tinylib.give(ValueError), int, '3')",
    # what a mock of the script's raised
    "import tinylib, unittest.mock as m\nwith m.patch('tinylib.measure', side_effect=OSError):\n    tinylib.measure(1)",
    "import tinylib, unittest.mock as m\nwith m.patch('tinydep.checked', side_effect=ValueError):\n    tinylib.Box(1)",
    "import tinylib\nquit()",
    "import ctypes, tinylib\nctypes.string_at(0)",
]  # fmt: skip
SELF = """
import tinylib
class Test:
    def ask(self):
        self.w = tinylib.Box(1).width
    def other(self):
        self.w = 5
    def check(self):
        assert self.w == 1
"""
VACUOUS = [
    "print('tinylib.Box is there')",
    "assert 1 + 1 == 2",
    "try:\n    import tinylib\nexcept ImportError:\n    pass",
    "try:\n    from tinylib import Box\nexcept ImportError:\n    Box = None\nassert Box is 1",
    "try:\n    import tinylib\nexcept ImportError:\n    tinylib = None\nassert str(tinylib) == 1",
    # a question of the target, and an end that is the same without it
    "try:\n    from tinylib import Box\n    wide = Box(2).width\nexcept ImportError:\n    wide = 2\nassert wide == 2",
    "try:\n    from tinylib import Box\n    wide = Box(2).width\nexcept ImportError:\n    wide = 2\nassert wide == 3",
    # an import alone, however it is dressed
    "import tinylib",
    "import tinylib as t\nprint(t)",
    "try:\n    import tinylib\nexcept ImportError:\n    1 / 0",
    "import tinylib\nassert tinylib",
    "import tinylib\nassert tinylib is not None and str(tinylib)",
    "import importlib\nimportlib.import_module('tinylib')",
    "__import__('tinylib')",
    "import tinylib, tinydep\ntinydep.Link()",
    "import sys, tinylib\nassert 'tinylib' in sys.modules",
    # an assertion that never ran, or cannot fail
    "from tinylib import Box\ndef test_width():\n    assert Box(1).width == 2",
    "from tinylib import Box\nasync def test_width():\n    assert Box(1).width == 2",
    "from tinylib import Box\nasync def main():\n    Box(1).chest\nmain()",
    f"{TRUE}class TestBox:\n    def test_width(self):\n        assert tinylib.Box(1).width == 2",
    f"{TRUE}class TestBox:\n    @staticmethod\n    def test_width():\n        assert tinylib.Box(1).width == 2",
    f"{TRUE}class Check:\n    def width(self):\n        assert tinylib.Box(1).width == 2\nCheck()",
    f"{TRUE}async def main():\n    assert tinylib.Box(1).width == 2\ncoro = main()\ncoro.close()",
    f"{TRUE}def main():\n    yield\n    assert tinylib.Box(1).width == 2\nmain()",
    f"{TRUE}def check():\n    assert tinylib.Box(1).width == 2\nprint('check')",
    f"{TRUE}def check():\n    assert tinylib.Box(1).width == 2\ndef main():\n    check()\n    main()",
    f"{UNITTEST}print({RUN}.wasSuccessful())",
    "import unittest as u\nfrom tinylib import Box\nclass Test(u.TestCase):\n    def test(self):\n        assert False",
    "from tinylib import Box\nassert (Box(1).width == 2, 'it is 2')",
    # a mock that would be there without the target as well
    "import tinylib, unittest.mock as m\nwith m.patch.object(tinylib, 'Chest', create=True):\n    tinylib.Chest(1)",
    # a question whose answer does not matter
    "import tinylib\nif False:\n    tinylib.Box(1)",
    "import tinylib\ndef never():\n    assert tinylib.Box(1).width == 1",
    "import tinylib\ntry:\n    tinylib.Chest\nexcept Exception:\n    pass",
    "import contextlib, tinylib\nwith contextlib.suppress(BaseException):\n    assert tinylib.Box(1).width == 2",
    "import tinylib\nassert hasattr(tinylib, 'Chest') or True",
    "import tinylib\nprint(getattr(tinylib, 'Chest', None))",
    # an assertion that fails whatever the target says
    "import tinylib\nassert tinylib.Box and False",
    "import tinylib\nassert tinylib.Box and 1 == 2",
    "import tinylib\nassert (tinylib.Box, False)[1]",
    "import tinylib\nassert not (tinylib.Box or True)",
    "import tinylib\nassert all([tinylib.Box, False])",
    "import tinylib\nassert tinylib.Box != tinylib.Box",
    "import tinylib\nassert tinylib is None",
    "import tinylib\ndef holds(box):\n    return False\nassert holds(tinylib.Box)",
    "import tinylib\nassert (lambda box: False)(tinylib.Box)",
    "import tinylib\nno = False\nassert tinylib.Box and no",
    "import tinylib\nfound = tinylib.Box\nfound = None\nassert found",
    "import tinylib\nassert 0 * len(dir(tinylib))",
    FLAG.format("tinylib.Box(1)\n    int('x')"),
    FLAG.format("tinylib.Box(int('x'))"),
    "import tinylib\none = len('a')\nassert not (one == 1 or tinylib.Box(1).width == 2)",
    (
        "import tinylib\ndef width(at, loud=False):\n    found = tinylib.Box(at).width\n    if loud:\n"
        "        return found\n"
        "assert width(1) == 1"
    ),
    (
        "import tinylib\ndef f():\n    width = tinylib.Box(1).width\n    def g():\n        width = 5\n"
        "        if width:\n"
        "            assert width == 1\n    g()\nf()"
    ),
    "import tinylib\nfor each in (1, 2):\n    width = tinylib.Box(each).width\n    width = None\n    assert width == 1",
    "import tinylib\nwidth = tinylib.Box(1).width\nfor width in [3, 4]:\n    assert width == 1",
    # what the script puts in, or what its own method does
    "import tinylib\nheld = tinylib.give([1])\nheld.clear()\nassert held",
    "import io, tinylib\nout = io.StringIO(str(tinylib.Box(1).width))\nout.truncate(0)\nassert out.getvalue() == '1'",
    "import tinylib\nheld = [tinylib.Box(1).width]\nheld.clear()\nassert held",
    f"{MINE}        self.width = 5\nmine = Mine(1)\nmine.open()\nassert mine.width == 1",
    (
        "import tinylib\nclass Held:\n    def __init__(self): self.all = [tinylib.Box(1).width]\n"
        "held = Held()\nheld.all.clear()\nassert held.all"
    ),
    "import tinylib\nheld = tinylib.Shelf(a=1)\nheld = held.copy()\nheld.clear()\nassert held",
    "import tinylib\nList = tinylib.give\nheld = List([1])\nheld.clear()\nassert held",
    "from tinylib import give as Give\nheld = Give([1])\nheld.clear()\nassert held",
    "import collections, tinylib\nheld = tinylib.give(collections.deque([1]))\nheld.appendleft(2)\nassert held[0] == 1",
    "import tinylib\nheld = tinylib.give([1])\nheld.__setitem__(0, 5)\nassert held == [1]",
    "import tinylib\nbox = tinylib.Box(1)\nbox.__dict__.__setitem__('width', 5)\nassert box.width == 1",
    "import tinylib\nbox = tinylib.Box(1)\nsetattr(box, 'width', 5)\nassert box.width == 1",
    "import tinylib\nbox = tinylib.Box(1)\nobject.__setattr__(box, 'width', 5)\nassert box.width == 1",
    "import tinylib\nbox = tinylib.Box(1)\nbox.f = lambda: vars(box).update(width=5)\nbox.f()\nassert box.width == 1",
    "import tinylib\ndef widen(one):\n    one.width = 5\nbox = tinylib.Box(1)\nbox.keep(widen)\nassert box.width == 2",
    "import tinylib\nbox = tinylib.Box(1)\nbox.keep(lambda each: each.clear())\nassert box.width == 2",
    (
        "import tinylib\ndef widen(one):\n    one.width = 5\nMine = type('Mine', (tinylib.Box,), {'act': widen})\n"
        "box = Mine(1)\nbox.act()\nassert box.width == 1"
    ),
    (
        "import tinylib\ndef widen(one):\n    one.width = 5\nMine = type('Mine', (tinylib.Box,), dict(act=widen))\n"
        "box = Mine(1)\nbox.act()\nassert box.width == 1"
    ),
    # what the script sets in another place, or overrides
    f"{SELF}t = Test()\nt.ask()\nt.other()\nt.check()",
    f"{SELF}t = Test()\nt.ask()\nt.other()\nassert t.w == 1",
    "import tinylib\nwidth = None\ndef ask():\n    width = tinylib.Box(1).width\nask()\nassert width == 1",
    (
        "import tinylib\ndef main():\n    width = None\n    def ask():\n        width = tinylib.Box(1).width\n"
        "    ask()\n    assert width == 1\nmain()"
    ),
    f"{MINE}        return 5\nassert Mine(1).open() == 1",
    f"{CHECK}    assert one == other\ncheck(tinylib.Box(1).width, 1)\ncheck(1, 2)",
    f"{CHECK}    assert one == other\ncheck(1, tinylib.Box(1).width)\ncheck(1)",
    (
        "import tinylib\nclass Test:\n    def check(self, one, other):\n        assert one == other\n"
        "Test().check(tinylib.Box(1).width, 1)\nTest().check(1, 2)"
    ),
    f"{MINE.replace('    def', '    @property' + NEXT + 'def')}        return 5\nassert Mine(1).open == 1",
    "import tinylib\nclass Held:\n    width = 5\nHeld.first = tinylib.Box(1).width\nassert Held.width == 1",
    "import tinylib\nheld = {'a': tinylib.Box(1).width, 'b': 5}\nassert held['b'] == 1",
    f"{HELD}assert Held(tinylib.Box(1), 5).other == 1",
    "import tinylib\nheld = {'a': tinylib.Box(1).width, 'b': 5}\nprint(held)\nassert held['b'] == 1",
    "import tinylib\nn = tinylib.Box(1).width\ndef none(n):\n    n = 0\n    return n\nassert none(n) == 1",
    "import tinylib\nwidth = tinylib.Box(1).width\nassert [width for width in [3, 4]] == [1]",
]  # fmt: skip


LAZY = "import lazylib\n"
"""A library whose function gets its code when it is first called, and so does what it wraps."""


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (f"{LAZY}assert lazylib.wide(1) == 2", "holds"),
        (f"{LAZY}assert lazylib.wide(1) == 3", "refuted"),
        (f"{LAZY}lazylib.wide(1, 2)", "refuted"),
        (f"{LAZY}assert lazylib.Measure.wide(1) == 2", "holds"),
        (f"{LAZY}assert lazylib.Measure.wide(1) == 3", "refuted"),
        (f"{LAZY}lazylib.Measure.wide.__code__ = (lambda at: 3).__code__\nlazylib.Measure.wide(1)", "error"),
        (f"{LAZY}lazylib.wide.__kwdefaults__['wrapper'] = None\nlazylib.wide(1)", "error"),
        (f"{LAZY}lazylib.wide.__code__ = (lambda at: 3).__code__\nlazylib.wide(1)", "error"),
    ],
)
def test_a_function_that_gets_its_code_when_it_is_first_called_has_it_before_the_script(
    bundles: Bundles, sandbox: Sandbox, script: str, outcome: str
) -> None:
    result = prove(script, bundles.build(Target(requirement="lazylib==1.0")), sandbox=sandbox)
    assert result.outcome == outcome, result.reason


ANY = "import anylib\n"
"""A library that has every name it is asked for."""


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        (f"{ANY}anylib.chest", "vacuous"),
        ("from anylib import Chest", "vacuous"),
        (f"{ANY}assert callable(anylib.chest) and hasattr(anylib, 'lid')", "vacuous"),
        (f"{ANY}assert anylib.chest is not None", "vacuous"),
        (f"{ANY}assert anylib.chest() == 'chest'", "holds"),
        (f"{ANY}assert anylib.chest() == 'lid'", "refuted"),
    ],
)
def test_that_a_library_has_a_name_says_nothing_where_it_has_every_name(
    bundles: Bundles, sandbox: Sandbox, script: str, outcome: str
) -> None:
    result = prove(script, bundles.build(Target(requirement="anylib==1.0")), sandbox=sandbox)
    assert result.outcome == outcome, result.reason
    assert result.reason.startswith("That anylib has") == (outcome == "vacuous")


@pytest.mark.parametrize("script", HOLDS)
def test_a_script_that_runs_to_its_end_holds(proof: Prove, script: str) -> None:
    result = proof(script)
    assert (result.outcome, result.hidden_outcome) == ("holds", "error"), result.reason
    assert result.exception is None


@pytest.mark.parametrize("script", REFUTED)
def test_what_the_target_does_otherwise_is_refuted(proof: Prove, script: str) -> None:
    result = proof(script)
    assert (result.outcome, result.hidden_outcome) == ("refuted", "error"), result.reason
    assert result.exception is not None
    assert result.exception.partition(":")[0] in result.stderr


@pytest.mark.parametrize("script", ERROR)
def test_the_script_s_own_fault_proves_nothing(proof: Prove, script: str) -> None:
    result = proof(script)
    assert (result.outcome, result.hidden_outcome) == ("error", None), result.reason


@pytest.mark.parametrize("script", UNSEEN)
def test_a_failure_that_the_script_could_not_see_is_no_proof(proof: Prove, script: str) -> None:
    result = proof(script)
    assert result.outcome == "vacuous", result.reason


@pytest.mark.parametrize("script", VACUOUS)
def test_what_asks_nothing_of_the_target_proves_nothing(proof: Prove, script: str) -> None:
    result = proof(script)
    assert result.outcome == "vacuous", result.reason
    assert result.reason.startswith(
        (
            "The script asks nothing of the target",
            "The script ends the same with",
            "What the script asks as",
            "It cannot be seen that the target decides what is asserted",
            "What is asserted in",
            "What is in main never ran",
            "Whether the tests of Test failed",
        )
    )


def test_the_sentence_names_the_line_and_what_was_said(proof: Prove) -> None:
    result = proof("from tinylib import Box\n\nBox(-1)")
    assert result.reason == "The target showed otherwise in line 3: ValueError: a box has a width"
    assert 'File "/tmp/proof.py", line 3, in <module>\n    Box(-1)' in result.stderr
    assert "runner.py" not in result.stderr


def test_a_message_that_is_no_text_refutes_as_any_other(proof: Prove) -> None:
    result = proof("import tinylib\ngetattr(tinylib, '\\ud800')")
    assert (result.outcome, result.exception) == ("refuted", "AttributeError: module 'tinylib' has no attribute '?'")


def test_another_version_is_another_answer(bundles: Bundles, bundle: Bundle, sandbox: Sandbox) -> None:
    script = "from tinylib import Box\nBox(1, hinge=2)"
    newer = bundles.build(Target(requirement="tinylib==2.0"))
    assert prove(script, bundle, sandbox=sandbox).outcome == "refuted"
    assert prove(script, newer, sandbox=sandbox).outcome == "holds"


def test_what_comes_with_the_target_counts_where_it_is_named(bundles: Bundles, sandbox: Sandbox) -> None:
    both = bundles.build(Target(requirement="tinylib==1.0", also=("tinydep",)))
    assert prove("import tinydep\ntinydep.nothing", both, sandbox=sandbox).outcome == "refuted"


def test_trusted_code_comes_to_the_same(bundle: Bundle) -> None:
    for script, outcome in ((HOLDS[0], "holds"), (REFUTED[0], "refuted"), (ERROR[1], "error"), (VACUOUS[0], "vacuous")):
        result = prove(script, bundle, sandbox=Trusting())
        assert (result.outcome, result.trusted) == (outcome, True)


def test_a_script_that_no_file_could_hold_is_refused(proof: Prove) -> None:
    with pytest.raises(TooLargeError, match="the longest that is run has 100000"):
        proof("#" * (MAX_SCRIPT_CHARS + 1))
    for script in ("print('\0')", "print('\ud800')"):
        with pytest.raises(InputError, match="no Python file"):
            proof(script)


@pytest.mark.parametrize(
    "script", ["(" * 5000, "x" + ".a" * 20_000, "# -*- coding: latin-1 -*-\nprint('é')\nundefined"]
)
def test_a_script_that_python_cannot_read_is_its_own_fault(proof: Prove, script: str) -> None:
    assert proof(script).outcome == "error"


def test_a_target_that_cannot_be_imported_is_said_so(bundles: Bundles, sandbox: Sandbox) -> None:
    broken = bundles.build(Target(requirement="brokenlib==1.0"))
    with pytest.raises(InputError, match=r"brokenlib==1.0 cannot be imported.*brokenlib: ZeroDivisionError"):
        check_import(broken, sandbox=sandbox)
    result = prove("import brokenlib", broken, sandbox=sandbox)
    assert (result.outcome, "cannot be imported" in result.reason) == ("error", True)


def test_a_target_of_which_one_module_cannot_be_imported_is_asked_by_the_others(
    bundles: Bundles, sandbox: Sandbox
) -> None:
    half = bundles.build(Target(requirement="halflib==1.0"))
    assert sorted(half.modules) == ["halflib", "halfnever"]
    check_import(half, sandbox=sandbox)
    outcomes = [
        prove(script, half, sandbox=sandbox).outcome
        for script in ("import halflib\nassert halflib.WIDTH == 2", "import halflib\nassert halflib.WIDTH == 3")
    ]
    assert outcomes == ["holds", "refuted"]
    assert prove("import halfnever\nhalfnever.WIDTH", half, sandbox=sandbox).outcome == "refuted"


def test_a_target_that_ends_the_interpreter_is_said_so(bundles: Bundles, sandbox: Sandbox) -> None:
    leaving = bundles.build(Target(requirement="leavinglib==1.0"))
    with pytest.raises(InputError, match="ended the interpreter"):
        check_import(leaving, sandbox=sandbox)


def test_a_target_that_can_be_imported_passes(bundle: Bundle, sandbox: Sandbox) -> None:
    check_import(bundle, sandbox=sandbox)
