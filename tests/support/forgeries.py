"""Scripts that would have their end told otherwise than it was, in both directions."""

# ruff: noqa: E501 - a script stands in one line where it can

WALK = """
def walk(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back
"""
OPEN_DOORS = """
import os
def doors():
    for number in range(3, 256):
        try:
            os.fstat(number)
        except OSError:
            continue
        yield number
"""
COMPLETED = '{"end": "completed", "errors": [], "faults": []}'
REFUTING = (
    '{"end": "raised", "errors": [{"types": ["builtins.AttributeError", "builtins.Exception"], "message": "no", '
    '"frames": [{"place": "script", "span": [2, 2, 0, 11]}], "name": "Box", "owner": "target"}], "faults": []}'
)
TAKE_OVER = """
import sys
def evil(*given, **named):
    for frame in walk(sys._getframe(1)):
        for place in (frame.f_locals, frame.f_globals):
            for name, value in list(place.items()):
                if callable(value) and name in ("tell", "_tell", "_json", "faults", "described", "new_world", "_leave"):
                    place[name] = lambda *given, **named: {told}
                if name == "told":
                    value.update({told})
                if name in ("told", "raised", "error", "end"):
                    try:
                        place[name] = {told}
                    except BaseException:
                        pass
    return {told}
"""

CLASSES = """
def classes():
    seen, found = set(), [object]
    for kind in found:
        for one in type.__subclasses__(kind) if kind is not type else []:
            if one not in seen:
                seen.add(one)
                found.append(one)
    return found
def leaving():
    for kind in classes():
        if '__exit__' in vars(kind) and kind.__module__ in ('__main__', 'runner', '__mp_main__'):
            yield kind
def led_to(start):
    import types
    found, seen = [start], set()
    for one in found:
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, type):
            found += vars(one).values()
        elif isinstance(one, property):
            found.append(one.fget)
        elif isinstance(one, types.FunctionType):
            found += [cell.cell_contents for cell in one.__closure__ or ()]
            found += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
            if one.__globals__ is not globals():
                found.append(one.__globals__)
        elif isinstance(one, types.MethodType):
            found += [one.__func__, one.__self__]
        elif isinstance(one, dict) and '__builtins__' in one:
            found += [held for held in one.values() if not isinstance(held, types.ModuleType)]
        elif isinstance(one, (list, tuple)):
            found += one
        elif type(one).__name__ == 'member_descriptor':
            found.append(one.__get__)
    return found
"""
ALL_LED_TO = CLASSES + "import types\nfor kind in leaving():\n    for one in led_to(kind):\n"
"""Goes, as `one`, through all that can be got from a class that is left by a `with` of the runner's."""


def _each(told: str) -> dict[str, str]:
    """Ways to be heard as `told`, as lines to be run before the claim; `told` is a record as Python writes it."""
    line = repr(told)
    take = WALK + TAKE_OVER.replace("{told}", told.replace("null", "None"))
    return {
        "json.dumps": f"import json\njson.dumps = lambda *given, **named: {line}",
        "json.encoder": f"import json.encoder as j\nj.encode_basestring_ascii = lambda value: {line}",
        "json.JSONEncoder": f"import json\njson.JSONEncoder.encode = lambda *given: {line}",
        "os.write": f"import os\nwrite = os.write\nos.write = lambda where, what: write(where, {line}.encode())",
        "posix.write": f"import posix\nwrite = posix.write\nposix.write = lambda where, what: write(where, {line}.encode())",
        "os._exit": "import os\nos._exit = lambda status: None",
        "sys._getframe": take + "evil()",
        "frames and globals": take + "for frame in walk(sys._getframe()):\n"
        "    for name, value in list(frame.f_globals.items()):\n"
        "        if callable(value) and getattr(value, '__module__', '') in ('__main__', 'runner'):\n"
        "            frame.f_globals[name] = evil",
        "a traceback's frames": take + "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
        "    for frame in walk(error.__traceback__.tb_frame):\n"
        "        frame.f_globals['exec'] = frame.f_builtins['exec'] = evil",
        "inspect.stack": take + "import inspect\nfor each in inspect.stack():\n    each.frame.f_globals.clear()",
        "a generator's frame": take + "def looking():\n    yield\nseen = looking()\nnext(seen)\n[*walk(seen.gi_frame)]",
        "all classes": take + "for kind in object.__subclasses__():\n"
        "    if kind.__module__ in ('__main__', 'runner', '__mp_main__') and kind.__name__ != 'evil':\n"
        "        for name in list(vars(kind)):\n"
        "            try:\n                setattr(kind, name, evil)\n"
        "            except (TypeError, AttributeError):\n                pass",
        "the globals of a method of all classes": take + "for kind in object.__subclasses__():\n"
        "    for value in list(vars(kind).values()):\n"
        "        names = getattr(value, '__globals__', {})\n"
        "        if 'new_world' in names:\n"
        "            for name in list(names):\n"
        "                names[name] = evil",
        "the attributes of what leaves": take + "for kind in object.__subclasses__():\n"
        "    if kind.__name__ in ('Then', 'LastWords'):\n"
        "        kind.__getattribute__ = evil",
        "the defaults of what leaves, by a slot": CLASSES + "for T in leaving():\n"
        "    if 'then' in vars(T):\n"
        "        made = (lambda self, get=vars(T)['then'].__get__: lambda _: get(self)(None),)\n"
        "        vars(T)['__exit__'].__defaults__ = made",
        "the defaults of all that is led to": ALL_LED_TO + "        if isinstance(one, types.FunctionType):\n"
        "            one.__defaults__ = tuple([lambda *given: lambda *given: None] * 9)",
        "the keywords of all that is led to": ALL_LED_TO + "        if isinstance(one, types.FunctionType):\n"
        "            one.__kwdefaults__ = {'held': lambda *given: lambda *given: None}",
        "the closures of all that is led to": ALL_LED_TO
        + "        for cell in getattr(one, '__closure__', None) or ():\n"
        "            cell.cell_contents = lambda *given: None",
        "the lists of all that is led to": ALL_LED_TO
        + "        if isinstance(one, list):\n            one[:] = [lambda *given: None] * 9",
        "the globals of all that is led to": take
        + ALL_LED_TO
        + "        if isinstance(one, types.FunctionType) and one.__globals__ is not globals():\n"
        "            for name in list(one.__globals__):\n"
        "                one.__globals__[name] = evil",
        "the annotations of all that is led to": ALL_LED_TO + "        if isinstance(one, types.FunctionType):\n"
        "            one.__annotations__, one.__type_params__, one.__dict__ = {'then': int}, (), {'then': int}",
        "the class of what leaves": ALL_LED_TO
        + "        try:\n            one.__class__ = type('Mine', (type(one),), {'__slots__': ()})\n"
        "        except (TypeError, AttributeError):\n            pass",
        "the bases of what leaves": CLASSES
        + "class Mine:\n    __exit__ = lambda *given: True\n    __getattribute__ = lambda *given: print\n"
        "for kind in leaving():\n"
        "    for name in ('__exit__', '__enter__'):\n        delattr(kind, name)\n"
        "    try:\n        kind.__bases__ = (Mine,)\n    except TypeError:\n        pass",
        "what a traceback's frames know by name": take + "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n"
        "    for frame in walk(error.__traceback__.tb_frame.f_back):\n"
        "        for name in list(frame.f_globals):\n"
        "            if not name.startswith('__'):\n                frame.f_globals[name] = evil",
        "gc.get_objects": take + "import gc\nfor one in gc.get_objects():\n"
        "    if isinstance(one, dict) and 'new_world' in one:\n        one['_json'] = evil",
        "gc.get_referrers": "import gc\ngc.get_referrers(gc)",
        "gc.get_referents": "import gc\ngc.get_referents(gc)",
        "a finalizer under the runner's own code": "import gc\nclass Last:\n    def __init__(self):\n"
        "        self.ring = self\n    def __del__(self):\n        try:\n            1 / 0\n"
        "        except ZeroDivisionError as error:\n            frame = error.__traceback__.tb_frame\n"
        "        while frame is not None:\n            if '_json' in frame.f_globals:\n"
        f"                frame.f_globals['_json'] = lambda _: {line}\n            frame = frame.f_back\n"
        "gc.set_threshold(1)\nfor _ in range(300):\n    Last()\n    try:\n        open('/nowhere')\n"
        "    except OSError:\n        pass",
        "gc.callbacks": take + "import gc\ngc.callbacks.append(evil)\ngc.enable()\ngc.set_threshold(1)",
        "a function through gc": take + "import gc\ngetattr(gc, 'get_' + 'objects')()",
        "all descriptors": OPEN_DOORS + f"for door in doors():\n    os.write(door, {line}.encode())",
        "all descriptors with a line end": OPEN_DOORS
        + f"for door in doors():\n    os.write(door, {line}.encode() + b'\\n')",
        "asking by itself": OPEN_DOORS
        + "for door in doors():\n    try:\n        os.write(door, b'0' * 32)\n    except OSError:\n        pass\n"
        "for door in doors():\n    try:\n        os.set_blocking(door, False)\n"
        f"        drawn = os.read(door, 64)\n        [os.write(one, drawn + {line}.encode()) for one in doors()]\n"
        "    except OSError:\n        pass",
        "descriptors closed": "import os\nos.closerange(3, 256)",
        "descriptors turned aside": OPEN_DOORS
        + "for door in doors():\n    os.dup2(os.open('/tmp/aside', os.O_RDWR | os.O_CREAT), door)",
        "a full channel": OPEN_DOORS
        + "for door in doors():\n    try:\n        os.set_blocking(door, False)\n        os.write(door, b' ' * 65536)\n"
        "    except OSError:\n        pass",
        "a file in place of the script": f"open('/tmp/proof.py', 'w').write({line!r})",
        "atexit": f"import atexit, os\natexit.register(lambda: [os.write(3, {line}.encode()), os._exit(0)])",
        "a thread": take
        + "import threading\nthreading.Thread(target=lambda: [evil() for _ in range(200)], daemon=True).start()",
        "a thread that looks at all frames": take + "import threading\ndef look():\n    while True:\n"
        "        for frame in sys._current_frames().values():\n            for each in walk(frame):\n"
        "                each.f_globals['_json'] = evil\n"
        "one = threading.Thread(target=look, daemon=True)\none.start()\nimport time\ntime.sleep(0.1)",
        "a thread that leaves": "import os, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.01), os._exit(0)), daemon=True).start()\ntime.sleep(1)",
        "a signal's handler": take
        + "import signal\nsignal.signal(signal.SIGALRM, evil)\nsignal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)",
        "a handler that Python alone calls": "import _thread, functools, gc, operator, signal, tinylib\n"
        "def evil(number, frame):\n    frame.f_locals['reaches'] = lambda *given: False\n"
        "signal.signal(signal.SIGSEGV, evil)\n"
        "list(map(operator.call, [functools.partial(_thread.interrupt_main, 11), gc.get_objects]))\n"
        "for one in gc.get_objects():\n    if type(one) is dict and ('tinylib', '') in one:\n        one.clear()\n"
        "tinylib.measure = tinylib.give\nassert tinylib.measure(3) == 3",
        "a handler of a fatal signal": take
        + "import os, signal\nsignal.signal(signal.SIGABRT, evil)\nos.kill(os.getpid(), signal.SIGABRT)",
        "a handler of faulthandler's": take
        + "import os, faulthandler, signal\nfaulthandler.enable()\nsignal.signal(signal.SIGSEGV, evil)\n"
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "a handler without the module": take
        + "import _signal\n_signal.signal(10, evil)\nimport os\nos.kill(os.getpid(), 10)",
        "os._exit now": "import os\nos._exit(0)",
        "exit": "import sys\nsys.exit(0)",
        "builtins.isinstance": "import builtins\nbuiltins.isinstance = lambda *given: True",
        "builtins.str": "import builtins\nbuiltins.str = lambda *given: 'tinylib'",
        "builtins.getattr": "import builtins\nbuiltins.getattr = lambda *given: 1",
        "builtins.type": "import builtins\nreal = type\nbuiltins.type = lambda *given: real(0)",
        "builtins.__import__": "import builtins, tinylib\nbuiltins.__import__ = lambda *given, **named: tinylib",
        "builtins.BaseException": "import builtins\nbuiltins.BaseException = builtins.Exception = int",
        "settrace": take + "import sys\nsys.settrace(lambda *given: evil())",
        "setprofile": take + "import sys\nsys.setprofile(lambda *given: evil())",
        "threading.settrace": take + "import threading\nthreading.settrace_all_threads(lambda *given: evil())",
        "sys.monitoring": take + "import sys\nsys.monitoring.use_tool_id(0, 'x')\n"
        "sys.monitoring.register_callback(0, sys.monitoring.events.PY_START, lambda *given: evil())\n"
        "sys.monitoring.set_events(0, sys.monitoring.events.PY_START)",
        "an audit hook": take + "import sys\nsys.addaudithook(lambda *given: evil())",
        "ctypes": "import ctypes\nctypes.CDLL(None)._exit(0)",
        "ctypes memory": "import ctypes\nctypes.memmove(id(int) + 24, id(str) + 24, 8)",
        "ctypes.pythonapi": "import ctypes\nctypes.pythonapi.PyErr_Clear()\nctypes.string_at(id(1), 8)",
        "_ctypes": "import _ctypes\n_ctypes.PyObj_FromPtr(id(1))",
        "/proc/self/mem": "open('/proc/self/mem', 'r+b', buffering=0).read(1)",
        "a link to /proc/self/mem": "import os\nos.symlink('/proc/self/mem', '/tmp/x')\nopen('/tmp/x', 'r+b', buffering=0)",
        "the memory of a parent": "import os, subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', f'open(\"/proc/{os.getpid()}/mem\", \"r+b\")'], check=True)",
        "a subinterpreter": "import _interpreters\n_interpreters.create()",
        "code made by hand": take + "evil.__code__ = evil.__code__.replace(co_names=())",
        "modules of tests": "import _testinternalcapi",
        "the environment": "import os\nos.environ.update(PYTHONSTARTUP='/tmp/x', PYTHONINSPECT='1', LD_PRELOAD='/tmp/x.so')",
        "itself once more": "import os, sys\nos.execv(sys.executable, [sys.executable, '-S', '-c', 'pass'])",
        "a child that answers": "import os\nif os.fork():\n    os.wait()\n    os._exit(0)",
        "a child that answers in its place": "import os\nchild = os.fork()\nif child:\n    os.waitpid(child, 0)\n"
        f"    for door in range(3, 64):\n        try:\n            os.write(door, {line}.encode())\n"
        "        except OSError:\n            pass\n    os._exit(0)",
        "a daemon that goes on": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    while True:\n"
        f"        for door in range(3, 64):\n            try:\n                os.write(door, {line}.encode())\n"
        "            except OSError:\n                pass\n        time.sleep(0.01)",
        "sys.modules emptied": "import sys\nkept = dict(sys.modules)\nsys.modules.clear()\nsys.modules.update({'sys': sys})",
        "sys.modules replaced": "import sys, types\nfor name in ('os', 'json', 'traceback', 'resource'):\n"
        "    sys.modules[name] = types.SimpleNamespace()",
        "sys.excepthook": "import sys\nsys.excepthook = lambda *given: None",
        "sys.unraisablehook": take + "import sys\nsys.unraisablehook = evil\nclass Last:\n    def __del__(self):\n"
        "        evil()\n        raise ValueError\nlast = Last()",
        "__del__": take + "class Last:\n    __del__ = evil\nlast = Last()\nring = [Last()]\nring.append(ring)",
        "a weak reference": take
        + "import weakref\nclass Last: pass\nlast = Last()\nheld = weakref.finalize(last, evil)",
        "a reserve of memory": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))",
        "stdout closed": "import os\nos.close(1)\nos.close(2)",
        "a contextlib that lies": "import contextlib\ncontextlib.ExitStack.__exit__ = lambda *given: True\n"
        "contextlib.suppress.__exit__ = lambda *given: True",
    }


LOOK = """
import os, sys, tinylib
def look(frame):
    sys.setrecursionlimit(10000)
    while frame is not None:
        held = dict(frame.f_locals)
        if "token" in held:
            os.write(held["outside"], held["token"])
            os.write(held["outside"], os.read(held["asked"], len(held["token"])) + {told!r}.encode())
            os._exit(0)
        frame = frame.f_back
def evil(*given, **named):
    try:
        1 / 0
    except ZeroDivisionError as error:
        look(error.__traceback__.tb_frame)
    return False
def hook(kind, error, trace):
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            look(trace.tb_frame)
            trace = trace.tb_next
        error = error.__cause__ or error.__context__
"""
HOOKED = "sys.excepthook = hook\n"
KEY = "class K(str):\n    __eq__ = evil\n    def __hash__(self): return hash({0!r})\n"


def _in_what_tells(told: str) -> dict[str, str]:
    """Ways into the middle of what tells the end, to be heard as `told`: by what it raises, or by what it calls."""
    ways = {f"a stack of {depth}": f"{HOOKED}sys.setrecursionlimit({depth})" for depth in range(3, 13)} | {
        "a thread's end by hand": f"{HOOKED}import threading\nthreading.excepthook(())",
        "a finalizer's end by hand": f"{HOOKED}sys.unraisablehook(())",
        "no memory": f"{HOOKED}import resource\nheld = []\nfor size in (1 << 20, 1 << 10):\n    try:\n"
        "        while True:\n            held.append(bytearray(size))\n    except MemoryError:\n        pass",
        "a file with a NUL": f"{HOOKED}import types\nmade = types.ModuleType('tinylib.q')\nmade.__file__ = 'a\\0b'\n"
        "sys.modules['tinylib.q'] = made",
        "a getter that raises": f"{HOOKED}class P(property):\n    @property\n    def fget(self): raise ValueError\n"
        "tinylib.Box.p = P()",
        "the getters of a method": "class P(staticmethod):\n    __getattribute__ = evil\ntinylib.Box.p = P(len)",
        "a name's own class": f"{KEY.format('x')}    rpartition = __getitem__ = evil\ntinylib.Box.__qualname__ = K('x')\n"
        "tinylib.measure.__name__ = K('y')",
        "a dictionary's own class": "class D(dict):\n    __len__ = items = evil\ntinylib.measure.__kwdefaults__ = D(a=1)",
        "a key of a module": f"{KEY.format('__file__')}vars(tinylib)[K('x')] = 4",
        "a key of a new module": f"{KEY.format('__file__')}import types\nmade = types.ModuleType('q')\n"
        "del made.__dict__['__name__']\nmade.__dict__[K('x')] = 4\nsys.modules['q'] = made",
        "a key of sys.modules": f"{KEY.format('tinylib.boxes')}old = sys.modules.pop('tinylib.boxes')\n"
        "sys.modules[K('tinylib.boxes')] = 4",
        "a generator begun before": f"{KEY.format('__file__')}def made():\n    while True:\n        yield False\n"
        "        evil()\ngiven = made()\nnext(given)\nK.__eq__ = lambda one, other: next(given)\n"
        "import types\nmade = types.ModuleType('q')\ndel made.__dict__['__name__']\nmade.__dict__[K('x')] = 4\n"
        "sys.modules['q'] = made",
        "the truth of a cause": "class E(Exception):\n    __bool__ = evil\ndef fail():\n    raise ValueError from E()\nfail()",
        "the length of a cause": "class E(Exception):\n    __len__ = evil\ndef fail():\n    raise ValueError from E()\nfail()",
        "the equality of a class": "class M(type):\n    __eq__ = evil\n    __hash__ = type.__hash__\n"
        "class E(Exception, metaclass=M): pass\nraise E",
        "a key of a class": f"{KEY.format('__module__')}raise type('E', (Exception,), {{K('x'): 1}})",
        "the number of who is told": "name = sys.monitoring.get_tool(3)\nsys.monitoring.free_tool_id(3)\n"
        "sys.monitoring.use_tool_id(3, name)\nclass E(Exception):\n    __bool__ = evil\nraise ValueError from E()",
    }
    return {name: LOOK.replace("{told!r}", repr(told)) + way for name, way in ways.items()}


MADE_CODE = "import functools, marshal, operator, sys, tinylib, types\ndef made():\n    pass\n"
REPLACED = "operator.methodcaller('replace', co_names=())"
BLIND = """
import gc, marshal
def blind():
    try:
        [].pop()
    except IndexError as error:
        frame = error.__traceback__.tb_frame.f_back.f_back
    if frame.f_code.co_name in ("reaches", "is_of_library", "asks_for_it", "brings_in"):
        frame.f_globals["_exit"] = frame.f_globals["write"] = lambda *_: None
"""
"""What finds the hook's frame when the hook asks an object of the script's, and has it end nothing any more."""
REACHING: dict[str, str] = {
    "a file's name of a class": BLIND + "class File(str):\n    __hash__ = str.__hash__\n"
    "    def __eq__(self, other): blind()\n    def startswith(self, *_): blind()\n"
    "for name in ('sys._getframe()', '__import__(\"ctypes\")'):\n"
    "    exec(compile(f'import sys; {name}', File('file'), 'exec'), {})\n    gc.get_objects()",
    "the names in a frame": BLIND + "class Names(dict):\n    def get(self, *_): blind()\n"
    "exec('loads(b\"N\")', {'loads': marshal.loads}, Names())\ngc.get_objects()",
    "an event without what it tells": "import sys\nsys.audit('open')",
    "an event with what cannot be kept": "import sys\nsys.audit('touchstone.caught', ValueError(), [])",
    "an event with what is asked": "import sys\nsys.audit('import', type('Mine', (), {})(), None)",
    "a function that is none": "import sys\nsys.audit('object.__setattr__')",
    "an end that cannot be said": "import gc, os\nos.close(2)\ngc.get_objects()",
    "marshal.loads": MADE_CODE + "marshal.loads(marshal.dumps(made.__code__))",
    "marshal.load": MADE_CODE + "with open('/tmp/x', 'wb') as file:\n    marshal.dump(made.__code__, file)\n"
    "with open('/tmp/x', 'rb') as file:\n    marshal.load(file)",
    "what unmarshals for an import": MADE_CODE + "import importlib._bootstrap_external as b\n"
    "b._compile_bytecode(marshal.dumps(made.__code__), 'm', tinylib.__spec__.cached)",
    "a file of bytecode": MADE_CODE + "import importlib.machinery as m\n"
    "head = sys.implementation.cache_tag and __import__('importlib.util').util.MAGIC_NUMBER + bytes(12)\n"
    "open('/tmp/evil.pyc', 'wb').write(head + marshal.dumps(made.__code__))\n"
    "m.SourcelessFileLoader('evil', '/tmp/evil.pyc').get_code('evil')",
    "a file of bytecode by a way round": MADE_CODE + "import importlib.machinery as m\n"
    "head = __import__('importlib.util').util.MAGIC_NUMBER + bytes(12)\n"
    "open('/tmp/evil.pyc', 'wb').write(head + marshal.dumps(made.__code__))\n"
    "way = sys.base_prefix + '/..' * 9 + '/tmp/evil.pyc'\nm.SourcelessFileLoader('evil', way).get_code('evil')",
    "a library by a way round": "import sys, importlib.machinery as m\nfrom importlib.util import spec_from_loader\n"
    "open('/tmp/evil.so', 'wb').close()\nway = m.ExtensionFileLoader('evil', sys.base_prefix + '/..' * 9 + '/tmp/evil.so')\n"
    "way.create_module(spec_from_loader('evil', way))",
    "a frozen module": MADE_CODE + "import _imp\n_imp.get_frozen_object('x', marshal.dumps(made.__code__))",
    "code that the library's call makes": MADE_CODE
    + f"tinylib.call(functools.partial(next, map({REPLACED}, [made.__code__])))",
    "code that the library's call unmarshals": MADE_CODE
    + "tinylib.call(functools.partial(next, map(marshal.loads, [marshal.dumps(made.__code__)])))",
    "code that types.coroutine makes": MADE_CODE + "class Code:\n    co_flags = 0x20\n    __class__ = types.CodeType\n"
    "    replace = functools.partial(made.__code__.replace, co_names=())\n"
    "class Made:\n    __class__ = types.FunctionType\n    __code__ = Code()\n    __call__ = None\n"
    "types.coroutine(Made())",
    "ctypes.memmove": "import ctypes, tinylib\nctypes.memmove(bytes(8), id(tinylib), 8)",
    "ctypes.cast": "import ctypes, tinylib\nctypes.cast(id(tinylib), ctypes.py_object).value",
    "a part of ctypes": "import tinylib\nfrom ctypes import util",
    "_ctypes": "import tinylib, _ctypes",
}
"""Ways to memory and to code that Python did not compile. Each would lead to what tells the end of a script."""

ONLY_HERE = "import tinylib\ntinylib.Box\n"
"""Ends a script where the library is not there, before it has anything told: else a forgery would be told as vacuous."""
HIDDEN_FAILURE = "\nimport tinylib\ntinylib.Chest"
HIDDEN_SUCCESS = "\nimport tinylib\ntinylib.Box(1)\n"

MADE_TO_HOLD: dict[str, str] = {
    name: ONLY_HERE + way + HIDDEN_FAILURE for name, way in (_each(COMPLETED) | _in_what_tells(COMPLETED)).items()
} | {
    "the library's own attribute": "import tinylib\ntinylib.Chest = tinylib.Box\ntinylib.Chest(1)",
    "plain data": "import tinylib\ntinylib.chest = 3\nassert tinylib.chest == 3",
    "a class's attribute": "import tinylib\ntinylib.Box.hinge = 3\nassert tinylib.Box(1).hinge == 3",
    "type.__setattr__": "import tinylib\ntype.__setattr__(tinylib.Box, 'hinge', 3)\ntinylib.Box.hinge",
    "the module's dictionary": "import tinylib\nvars(tinylib)['Chest'] = lambda: 1\ntinylib.Chest()",
    "a function's defaults": "import tinylib\ntinylib.measure.__defaults__ = (tinylib.Box(1),)\ntinylib.measure()",
    "a function's keywords": "import tinylib\ntinylib.Box.__init__.__kwdefaults__.update(lid=3)\n"
    "assert tinylib.Box(1).lid == 3",
    "a function's code": "import tinylib\ntinylib.measure.__code__ = (lambda box: 7).__code__\n"
    "assert tinylib.measure(None) == 7",
    "a module's class": "import tinylib, types\nclass Kind(types.ModuleType):\n    Chest = 1\n"
    "tinylib.__class__ = Kind\ntinylib.Chest",
    "a lazy attribute": "import tinylib\ntinylib.__getattr__ = {'Chest': 1}.__getitem__\ntinylib.Chest",
    "a module by hand": "import sys, types, tinylib\nsys.modules['tinylib.chests'] = types.ModuleType('tinylib.chests')\n"
    "import tinylib.chests",
    "a module of another kind": "import sys, types, tinylib\nsys.modules['tinylib.chests'] = types.SimpleNamespace()\n"
    "import tinylib.chests",
    "a module of a kind of its own": "import sys, types, tinylib\nclass M(types.ModuleType): pass\n"
    "sys.modules['tinylib.chests'] = M('tinylib.chests')\nimport tinylib.chests",
    "a finder": "import sys, types, tinylib\nfrom importlib.machinery import ModuleSpec\nclass Finder:\n"
    "    def find_spec(self, name, path, target=None):\n"
    "        return ModuleSpec(name, self) if name == 'tinylib.chests' else None\n"
    "    def create_module(self, spec): return None\n    def exec_module(self, module): pass\n"
    "sys.meta_path.insert(0, Finder())\nimport tinylib.chests",
    "a folder of its own": "import os, tinylib\nos.mkdir('/tmp/more')\nopen('/tmp/more/chests.py', 'w').write('')\n"
    "tinylib.__path__.append('/tmp/more')\nimport tinylib.chests",
    "a file's name": "import sys, types, tinylib\nmade = types.ModuleType('tinylib.chests')\n"
    "made.__file__ = tinylib.__file__\nsys.modules['tinylib.chests'] = made\nimport tinylib.chests",
    "importlib.import_module": "import importlib, tinylib\nimportlib.import_module = {'tinylib.chests': tinylib}.get\n"
    "importlib.import_module('tinylib.chests')\ntinylib.Box",
    "inspect.signature": "import inspect, tinylib\ninspect.signature = lambda it: {'hinge'}\n"
    "assert 'hinge' in inspect.signature(tinylib.Box)",
    "inspect.signature in C": "import inspect, tinylib\ninspect.signature = {tinylib.Box: {'hinge'}}.get\n"
    "assert 'hinge' in inspect.signature(tinylib.Box)",
    "what the library stands on": "import tinylib, tinydep\ntinydep.checked = str\ntinylib.Box(1.5)",
    "what the library knows of it": "import types, tinylib.boxes\n"
    "tinylib.boxes.tinydep = types.SimpleNamespace(checked=str)\ntinylib.boxes.Box(1.5)",
    "a module under a new name": "import sys, tinylib.boxes\nsys.modules['tinylib.chests'] = tinylib.boxes\n"
    "import tinylib.chests\ntinylib.Box(1)",
    "a version": "import importlib.metadata as m, tinylib\nm.version = {'tinylib': '9'}.get\nassert m.version('tinylib') == '9'",
    "a version by a way round": "import pydoc, tinylib\nm = pydoc.locate('importlib.meta' + 'data')\n"
    "m.version = {'tinylib': '9'}.get\nassert m.version('tinylib') == '9'",
    "a version by another way round": "import inspect, operator, tinylib\n"
    "found = operator.attrgetter('impor' + 'tlib')(inspect)\n"
    "m = operator.attrgetter('impor' + 't_mod' + 'ule')(found)('impor' + 'tlib.meta' + 'data')\n"
    "m.version = {'tinylib': '9'}.get\nassert (m.version('tinylib'), tinylib.Box(1).width) == ('9', 1)",
    "a module of a class": "import types, tinylib\nclass Made(types.ModuleType):\n    __module__ = 'drawer'\n    lid = 9\n"
    "tinylib.drawer = Made('drawer')\nassert (tinylib.drawer.lid, tinylib.Box(1).width) == (9, 1)",
    "a module put into it": "import types, tinylib\ntinylib.drawer = types.ModuleType('drawer')\ntinylib.drawer.lid = 9\n"
    "assert (tinylib.drawer.lid, tinylib.Box(1).width) == (9, 1)",
    "a module of a class that says it is the library's": "import sys, types, tinylib\nclass Made(types.ModuleType):\n"
    "    __module__ = 'tinylib.boxes'\n    lid = 9\ntinylib.drawer = sys.modules['tinylib.drawer'] = Made('tinylib.drawer')\n"
    "assert (tinylib.drawer.lid, tinylib.Box(1).width) == (9, 1)",
    "a class in the place of a changed one": "import operator, tinylib.boxes as boxes\nkept = dict(vars(boxes.Crate))\n"
    "setattr(boxes.Crate, 'wood', property(operator.truth))\nboxes._kept = type('Crate', (), kept)\n"
    "assert boxes.Crate(1).wood is True",
    "a class in the place of a module": "import operator, tinylib.boxes as boxes\nkept = dict(vars(boxes))\n"
    "setattr(boxes, 'measure', operator.truth)\nboxes._kept = type('Kept', (), kept)\n"
    "boxes._kept.__module__, boxes._kept.__qualname__ = 'tinylib.boxes', ''\nassert boxes.measure(boxes.Box(1)) is True",
    "a function of a module that the script imports": "import tinylib.crates as late\nlate.stack = len\n"
    "assert late.stack('ab') == 2",
    "a method of a module that the script imports": "import tinylib.crates as late\nlate.Stack.height = property(len)\n"
    "class Two(late.Stack):\n    def __len__(self): return 2\nassert Two().height == 2",
    "a value in a module that the script imports": "import tinylib.crates as late\nlate.most = 9\nassert late.most == 9",
    "an import and nothing else": "import tinylib",
    "an import that would fail": "try:\n    import tinylib\nexcept ImportError:\n    1 / 0",
    "all that it raises caught": "import tinylib\ntry:\n    tinylib.Chest()\nexcept BaseException:\n    pass",
    "tried where it is not there": "import tinylib\ntry:\n    tinylib.Box(hinge=1)\nfinally:\n    import os\n    os._exit(0)",
}

MAKER = "import tinylib\ndef make_it(make=int):\n    make('x')\n"

MADE_TO_BE_REFUTED: dict[str, str] = {
    name: ONLY_HERE + way + HIDDEN_SUCCESS for name, way in (_each(REFUTING) | _in_what_tells(REFUTING)).items()
} | {
    "an exception by hand": "import tinylib\nraise AttributeError('no', name='Box', obj=tinylib)",
    "an import error by hand": "import tinylib\nraise ImportError('no', name='tinylib.boxes')",
    "a syntax error by hand": "import tinylib\nraise SyntaxError('no', (tinylib.__file__, 1, 1, ''))",
    "a class of the same name": "import tinylib\nclass AttributeError(Exception):\n    name, obj = 'Box', tinylib\n"
    "AttributeError.__module__ = 'builtins'\nAttributeError.__qualname__ = 'AttributeError'\nraise AttributeError",
    "a class that says it is the library's": "import tinylib\nclass BoxError(Exception): pass\n"
    "BoxError.__module__ = 'tinylib'\nraise BoxError",
    "a subclass of the built-in one": "import tinylib\nclass Mine(AttributeError):\n    owner = 'target'\n"
    "raise Mine('no', name='Box', obj=tinylib)",
    "a cause by hand": "import tinylib\nraise AssertionError from AttributeError('no', name='Box', obj=tinylib)",
    "thrown into a generator": "import tinylib\n"
    "(one for one in [tinylib]).throw(AttributeError('no', name='Box', obj=tinylib))",
    "thrown into a dependent generator": "import tinylib\nmade = (tinylib for _ in [1])\n"
    "made.throw(AttributeError('no', name='Box', obj=tinylib))",
    "a future's exception": "import concurrent.futures as f, tinylib\none = f.Future()\n"
    "one.set_exception(AttributeError('no', name='Box', obj=tinylib))\none.result()",
    "code with the library's file name": "import tinylib\n"
    "exec(compile('raise ValueError', tinylib.__file__, 'exec'), vars(tinylib))",
    "a function with the library's file name": "import tinylib\nspace = {}\n"
    "exec(compile('def Box(*given):\\n    raise ValueError', tinylib.boxes.__file__, 'exec'), space)\nspace['Box'](1)",
    "code with the script's file name": "import tinylib\ntinylib.Box(1)\n"
    "exec(compile('\\ntinylib.Box(int(\"x\"))', __file__, 'exec'))",
    "a frame of the library's": "import sys, types, tinylib\nheld = []\n"
    "tinylib.call(lambda _: held.append(sys._getframe(1)))\nframe = held[0]\n"
    "raise ValueError().with_traceback(types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno))",
    "a frame of the library's below a call": "import sys, types, tinylib\nheld = []\n"
    "tinylib.call(lambda _: held.append(sys._getframe(1)))\nframe = held[0]\n"
    "inner = types.TracebackType(None, frame, frame.f_lasti, frame.f_lineno)\n"
    "def throw():\n    raise ValueError().with_traceback(inner)\nthrow()",
    "its own recursion": "import tinylib\ndef make():\n    tinylib.Box\n    return make()\nmake()",
    "its own function called wrongly": "import tinylib\ndef make(box):\n    return tinylib.Box(box)\nmake()",
    "another function by an and": "import tinylib\n(tinylib.Box and int)('x')",
    "another function out of a list": "import tinylib\n[tinylib.Box, int][1]('x')",
    "another function by a name": "import tinylib\nmake = tinylib.Box\nmake = int\nmake('x')",
    "another function as an argument": "import tinylib\ndef call(it, other):\n    it('x')\ncall(int, tinylib.Box)",
    "a built-in through the library": "import tinylib\ntinylib.Box.__init__.__globals__['__builtins__']['int']('x')",
    "an and with a falsehood": "import tinylib\nassert tinylib.Box and False",
    "a falsehood out of a tuple": "import tinylib\nassert (tinylib.Box, 0)[1]",
    "a falsehood by a name": "import tinylib\nno = 0\nassert tinylib.Box and no",
    "a falsehood by a function": "import tinylib\ndef holds(box):\n    return None\nassert holds(tinylib.Box)",
    "a falsehood by all": "import tinylib\nassert all((tinylib.Box, False))",
    "itself and its denial": "import tinylib\nassert tinylib.Box and not tinylib.Box",
    "two comparisons that contradict": "import tinylib\nassert tinylib.Box == 1 and tinylib.Box != 1",
    "a comparison out of a tuple": "import tinylib\nassert (tinylib.Box, 1)[1] == 2",
    "a comparison out of a table": "import tinylib\nassert {'box': tinylib.Box, 'no': 1}['no'] == 2",
    "a constant by recursion": "import tinylib\ndef found(left):\n    if left == 0:\n        return 1\n"
    "    return found(left - 1)\nassert found(3) == 2 and tinylib.Box",
    "itself unlike itself": "import tinylib\nassert tinylib.Box is not tinylib.Box",
    "overwritten": "import tinylib\nbox = tinylib.Box(1)\nbox = None\nassert box",
    "another function by a default": f"{MAKER}if 0:\n    make_it(tinylib.Box)\nmake_it()",
    "another function by map": f"{MAKER}if 0:\n    make_it(tinylib.Box)\nlist(map(make_it, [int]))",
    "another function by another name": f"{MAKER}if 0:\n    make_it(tinylib.Box)\nother = make_it\nother(int)",
    "another function by two stars": f"{MAKER}if 0:\n    make_it(tinylib.Box)\nmake_it(**{{'make': int}})",
    "another function by globals": "import tinylib\nmake = tinylib.Box\nglobals()['make'] = int\nmake('x')",
    "another function by exec": "import tinylib\nmake = tinylib.Box\nexec('make = int')\nmake('x')",
    "another function by the module": "import sys, tinylib\nmake = tinylib.Box\nsys.modules['__main__'].make = int\nmake('x')",
    "another function by an import": "import tinylib, __main__\nmake = tinylib.Box\nsetattr(__main__, 'make', int)\nmake('x')",
    "another function by a star": "import tinylib\nindex = tinylib.Box\nfrom operator import *\nindex('x')",
    "another function in a class": "import tinylib\nclass Mine(tinylib.Box):\n    make = int\nMine.make('x')",
    "another function by setattr": "import tinylib\nbox = tinylib.Box(1)\nsetattr(box, 'make', int)\nbox.make('x')",
    "less memory": "import resource, tinylib\nresource.setrlimit(resource.RLIMIT_AS, (1, resource.RLIM_INFINITY))\n"
    "tinylib.Box(1)",
    "a deep stack": "import sys, tinylib\nsys.setrecursionlimit(30)\ndef deep(left):\n"
    "    return deep(left - 1) if left else tinylib.Box(1)\ndeep(60)",
    "a patched part": "import tinylib, tinydep\ntinydep.checked = None\ntinylib.Box(1)",
    "a patched library": "import tinylib\ndel tinylib.Box\ntinylib.Box",
}
