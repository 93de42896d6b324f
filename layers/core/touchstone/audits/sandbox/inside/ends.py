"""How a script ended: its exception as plain values, and the places in its code that count."""

from opcode import opmap
from types import CodeType, FrameType, ModuleType, SimpleNamespace
from typing import Any

from touchstone.audits.sandbox.inside.exceptions import chain_of, frames_of
from touchstone.audits.sandbox.inside.objects import full_name, is_among, module_of, mro_of, word_of
from touchstone.audits.sandbox.inside.shared import MAX_MESSAGE_CHARS, MAX_TOLD, MODULES, Json
from touchstone.audits.sandbox.inside.syntax import all_code

MAX_FRAMES = 60
RETURNS = frozenset(opmap[name] for name in ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE") if name in opmap)
_NAME = {kind: kind.__dict__["name"].__get__ for kind in (ImportError, AttributeError, NameError)}
_NAME_FROM = ImportError.__dict__["name_from"].__get__
_OBJECT = AttributeError.__dict__["obj"].__get__
_FILE = SyntaxError.__dict__["filename"].__get__
_ERRNO = OSError.__dict__["errno"].__get__
_CODE = SystemExit.__dict__["code"].__get__


def ends_of(places: SimpleNamespace, own_code: dict[int, CodeType]) -> SimpleNamespace:  # noqa: C901, PLR0915 - no class
    """Functions that describe an end. `own_code` is the code of the script, by its identity."""
    place_of_file, owner_of = places.place_of_file, places.owner_of
    file_code: dict[str, frozenset[CodeType]] = {}

    def described(error: BaseException, texts: list[str]) -> list[Json]:
        """An exception and its causes, as plain values. `texts` are their messages."""
        chain: list[Json] = []
        for number, one in enumerate(chain_of(error)):
            said = texts[number] if number < len(texts) and type(texts[number]) is str else full_name(type(one))
            chain.append(told_of(one, said[:MAX_MESSAGE_CHARS]))
        return chain

    def told_of(error: BaseException, said: str) -> Json:
        kinds = mro_of(type(error))
        told: Json = {
            "types": [full_name(one) for one in kinds if one is not object][:MAX_FRAMES],
            "message": said,
            "frames": [frame_told(*one) for one in frames_of(error)[-MAX_FRAMES:]],
        }
        if is_among(ImportError, kinds):
            told |= {"name": word_of(error, _NAME[ImportError]), "name_from": word_of(error, _NAME_FROM)}
        elif is_among(AttributeError, kinds):
            told |= {"name": word_of(error, _NAME[AttributeError]), "owner": owner_of(_OBJECT(error))}
        elif is_among(NameError, kinds):
            told |= {"name": word_of(error, _NAME[NameError])}
        elif is_among(SyntaxError, kinds):
            told |= {"owner": place_of_file(_FILE(error))}
        elif is_among(OSError, kinds):
            number = _ERRNO(error)
            told |= {"errno": number if type(number) is int else None}
        return told

    def frame_told(frame: FrameType, instruction: int) -> Json:
        code = frame.f_code
        place = place_of_file(code.co_filename)
        told: Json = {"place": place}
        if place == "script" and id(code) in own_code:
            told["span"] = span_of(code, instruction)
        elif place == "target" and not (is_of_file(code) and _was_left_by_raising(frame)):
            told["place"] = "elsewhere"
        return told

    def span_of(code: CodeType, instruction: int) -> Any:
        positions = list(code.co_positions())
        return positions[instruction // 2] if 0 <= instruction // 2 < len(positions) else None

    def strays(strayed: dict[Any, tuple[CodeType, tuple[type, ...]]]) -> list[Any]:
        """The lines of the `except` and the places of `strayed`, without what the library itself made.

        A library may keep its frames out of a traceback, or put what a function of the script's raised in a group.
        """
        found = [(*key[:3], *one) for key, one in dict.items(strayed)]
        told = [
            (line, span_of(code, at))
            for line, _, at, code, makers in found
            if id(code) in own_code and not any(map(is_of_library, makers))
        ]
        return [(line, span) for line, span in told if span is not None and None not in span]

    def is_of_library(kind: type) -> bool:
        """Whether a class is one that a module of the bundle holds."""
        word = word_of(kind, module_of)
        module = MODULES.get(word) if word is not None else None
        held = module.__dict__ if type(module) is ModuleType else {}
        return places.place_of_module(word) in ("target", "bundle") and any(one is kind for one in held.values())

    def is_of_file(code: CodeType) -> bool:
        """Whether code that claims to be from a file of the target is really in that file."""
        path = code.co_filename
        if path not in file_code:
            try:
                with open(path, "rb") as file:  # noqa: PTH123
                    file_code[path] = frozenset(all_code(compile(file.read(), path, "exec", dont_inherit=True)))
            except (OSError, SyntaxError, ValueError):
                file_code[path] = frozenset()
        return code in file_code[path]

    def failed_at(caught: list[Any]) -> set[int]:
        """The lines of the script where an AssertionError came from that an `except` caught: from it, or from Python.

        One that the target raised by itself is what the script asks for, unless there are more than are kept.
        """
        lines: set[int] = set()
        for begin in list(caught):
            trace, place, line = begin, "", 0
            while trace is not None:
                place = place_of_file(trace.tb_frame.f_code.co_filename)
                line = trace.tb_lineno if place == "script" else line
                trace = trace.tb_next
            told = place not in ("target", "bundle") or len(caught) >= MAX_TOLD
            lines |= {line} if line and told else set()
        return lines

    def left_at(error: BaseException) -> object:
        """Where the script's outermost code left with the status 0; None if a function did, or with another."""
        code = _CODE(error)
        if code is not None and not (type(code) is int and code == 0):
            return None  # False is the status 0 to Python, and may mean the opposite
        told = [frame_told(*one) for one in frames_of(error)]
        spans = [one.get("span") for one in told if one["place"] == "script"]
        return spans[0] if len(spans) == 1 and spans[0] is not None and None not in spans[0] else None

    return SimpleNamespace(
        described=described, failed_at=failed_at, left_at=left_at, strays=strays, is_of_file=is_of_file
    )


def _was_left_by_raising(frame: FrameType) -> bool:
    code = frame.f_code.co_code
    return not 0 <= frame.f_lasti < len(code) or code[frame.f_lasti] not in RETURNS
