"""Conversations with tools on the wire: what a provider reads of one, what it refuses, and how its turns look.

What a real service wants back is wanted back here: the signature of what was thought before a call, a result for each
call, in the form it came. A conversation that lacks it is refused with a 400, as the services do.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from tests.support.wire import Answer, Asked, Behaviour, Called, counted_answer

type Body = Mapping[str, Any]


def signature(turn: int) -> str:
    """What stands for the thought before a turn, given by the service and wanted back by it."""
    return f"c2lnbmVk-{turn}"


def conversed(asked: Asked, body: Body) -> Asked:
    """The request, where it is one of a conversation with tools, as that."""
    if "tools" not in body:
        return asked
    read: dict[str, Callable[[Body], tuple[list[str], int, list[str], str]]] = {
        "gemini": _gemini_said,
        "anthropic": _anthropic_said,
    }
    tools, turn, results, fault = read.get(asked.provider, _chat_said)(body)
    asked = replace(asked, form="turn", tools=tuple(tools), turn=turn, results=tuple(results), fault=fault)
    return replace(asked, parameters=tuple(_parameters(body["tools"])))


def _parameters(tools: Any) -> Iterator[Body]:
    """The schemas of the tools' arguments, wherever a provider wants them."""
    for tool in tools:
        match tool:
            case {"functionDeclarations": [*declared]}:
                yield from (one["parametersJsonSchema"] for one in declared)
            case {"function": {"parameters": schema}} | {"input_schema": schema} | {"parameters": schema}:
                yield schema


def read_responses(key: str, body: Body) -> Asked:
    """A request for a response. Only turns of conversations are asked for this way."""
    items = body["input"]
    calls = [item for item in items if item.get("type") == "function_call"]
    outputs = [item for item in items if item.get("type") == "function_call_output"]
    thoughts = [item.get("encrypted_content") for item in items if item.get("type") == "reasoning"]
    fault = ""
    if [call["call_id"] for call in calls] != [output["call_id"] for output in outputs]:
        fault = "No tool output found for function call."
    elif thoughts != [signature(at) for at in range(len(thoughts))] or (calls and not thoughts):
        fault = "A function call was provided without its required reasoning item."
    elif body.get("store") is not False:
        fault = "This service keeps nothing."
    last = _last_run(items, lambda item: item.get("type") == "function_call_output")
    said = [item["content"] for item in items if item.get("role") == "user"]
    return Asked(
        provider="openai",
        model=body.get("model", ""),
        key=key,
        system=body.get("instructions", ""),
        prompt="\n".join(said),
        images=0,
        schema=None,
        title="",
        max_output_tokens=body.get("max_output_tokens"),
        temperature=body.get("temperature"),
        form="responses",
        tools=tuple(tool["name"] for tool in body.get("tools", ())),
        turn=len(thoughts),
        results=tuple(item["output"] for item in last),
        fault=fault,
        parameters=tuple(_parameters(body.get("tools", ()))),
    )


def reply(asked: Asked, behaviour: Behaviour) -> Answer:
    """A turn, of status 200, in the provider's form."""
    text = behaviour.value if isinstance(behaviour.value, str) else ""
    model = behaviour.model or asked.model
    if (line_id := asked.line_id) is not None:
        behaviour = behaviour.model_copy(update={"calls": tuple(_of_line(one, line_id) for one in behaviour.calls)})
    if asked.form == "responses":
        body = _responses(text, model, asked.turn, behaviour)
    elif asked.provider == "gemini":
        body = _gemini(text, model, asked.turn, behaviour)
    elif asked.provider == "anthropic":
        body = _anthropic(text, model, asked.turn, behaviour)
    else:
        body = _chat(text, model, asked.turn, behaviour)
    return counted_answer(body, behaviour)


def _of_line(called: Called, line_id: str) -> Called:
    """The call with the id of its line in a batch, unless a test says what stands there."""
    given = called.arguments
    return called.model_copy(update={"arguments": {"line_id": line_id, **given}}) if isinstance(given, dict) else called


def _object(called: Called) -> Any:
    return {"not json": called.arguments} if isinstance(called.arguments, str) else called.arguments


def _text(called: Called) -> str:
    return called.arguments if isinstance(called.arguments, str) else json.dumps(called.arguments)


def _last_run(items: list[Any], fits: Callable[[Any], bool]) -> list[Any]:
    """The items at the end that fit."""
    run: list[Any] = []
    for item in reversed(items):
        if not fits(item):
            break
        run.insert(0, item)
    return run


def _parts(contents: list[Any], role: str, kind: str) -> Iterator[list[Any]]:
    """Of each message of a role the parts of a kind, where it has any."""
    for content in contents:
        parts = content.get("parts") or content.get("content")
        found = [part for part in parts if isinstance(part, dict) and (kind in part or part.get("type") == kind)]
        if content["role"] == role and found:
            yield found


def _gemini_said(body: Body) -> tuple[list[str], int, list[str], str]:
    contents = body["contents"]
    calls = list(_parts(contents, "model", "functionCall"))
    responses = list(_parts(contents, "user", "functionResponse"))
    turns = [content for content in contents if content["role"] == "model"]
    fault = ""
    if any(called[0].get("thoughtSignature") is None for called in calls):
        fault = "Function call is missing a thought_signature in functionCall parts."
    elif [len(each) for each in calls] != [len(each) for each in responses]:
        fault = "The number of function response parts must equal that of the function call parts."
    told = [each["functionResponse"]["response"] for each in (responses[-1] if responses else [])]
    names = [declared["name"] for declared in body["tools"][0]["functionDeclarations"]]
    return names, len(turns), [str(one.get("result", one.get("error"))) for one in told], fault


def _gemini(text: str, model: str, turn: int, behaviour: Behaviour) -> dict[str, Any]:
    calls: list[dict[str, Any]] = [
        {"functionCall": {"name": called.name, "args": _object(called), "id": f"fc{turn}x{at}"}}
        for at, called in enumerate(behaviour.calls)
    ]
    if calls:
        calls[0]["thoughtSignature"] = signature(turn)
    parts = [*([{"text": text}] if text else []), *calls]
    finish = {"max_tokens": "MAX_TOKENS", "refused": "SAFETY"}
    body: dict[str, Any] = {
        "usageMetadata": {
            "promptTokenCount": behaviour.input_tokens,
            "candidatesTokenCount": behaviour.output_tokens,
            "cachedContentTokenCount": behaviour.cached_tokens,
            "thoughtsTokenCount": behaviour.thinking_tokens,
        },
        "modelVersion": model,
    }
    if behaviour.kind == "blocked":
        return body | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    content = {"role": "model"} | ({} if behaviour.kind in {"empty", "refused"} else {"parts": parts})
    return body | {"candidates": [{"content": content, "finishReason": finish.get(behaviour.kind, "STOP")}]}


def _anthropic_said(body: Body) -> tuple[list[str], int, list[str], str]:
    messages = body["messages"]
    turns = [message["content"] for message in messages if message["role"] == "assistant"]
    calls = list(_parts(messages, "assistant", "tool_use"))
    results = list(_parts(messages, "user", "tool_result"))
    fault = ""
    if [[call["id"] for call in each] for each in calls] != [[one["tool_use_id"] for one in each] for each in results]:
        fault = "`tool_use` ids were found without `tool_result` blocks immediately after."
    elif any(content[0].get("signature") != signature(at) for at, content in enumerate(turns)):
        fault = "`thinking` blocks in the latest assistant message cannot be modified."
    told = [str(one["content"]) for one in (results[-1] if results else [])]
    return [tool["name"] for tool in body["tools"]], len(turns), told, fault


def _anthropic(text: str, model: str, turn: int, behaviour: Behaviour) -> dict[str, Any]:
    calls = [
        {"type": "tool_use", "id": f"toolu_{turn}x{at}", "name": called.name, "input": _object(called)}
        for at, called in enumerate(behaviour.calls)
    ]
    thought = {"type": "thinking", "thinking": "", "signature": signature(turn)}
    stop = {"max_tokens": "max_tokens", "refused": "refusal", "blocked": "refusal"}
    silent = behaviour.kind in {"refused", "blocked"}
    said = [] if behaviour.kind == "empty" else [*([{"type": "text", "text": text}] if text else []), *calls]
    return {
        "id": f"msg_{turn}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [] if silent else [thought, *said],
        "stop_reason": stop.get(behaviour.kind, "tool_use" if calls else "end_turn"),
        "usage": {
            "input_tokens": behaviour.input_tokens - behaviour.cached_tokens,
            "cache_read_input_tokens": behaviour.cached_tokens,
            "output_tokens": behaviour.output_tokens + behaviour.thinking_tokens,
        },
    }


def _responses(text: str, model: str, turn: int, behaviour: Behaviour) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    if behaviour.kind == "refused":
        part = {"type": "refusal", "refusal": "I'm sorry, I can't assist with that request."}
    message = {"type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed", "content": [part]}
    calls = [
        {
            "type": "function_call",
            "id": f"fc_{turn}_{at}",
            "call_id": f"call_{turn}x{at}",
            "name": called.name,
            "arguments": _text(called),
            "status": "completed",
        }
        for at, called in enumerate(behaviour.calls)
    ]
    thought = {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": signature(turn)}
    why = {"max_tokens": "max_output_tokens", "blocked": "content_filter"}.get(behaviour.kind)
    said = [message] if text or behaviour.kind == "refused" else []
    return {
        "id": f"resp_{turn}",
        "object": "response",
        "status": "completed" if why is None else "incomplete",
        "incomplete_details": None if why is None else {"reason": why},
        "error": None,
        "model": model,
        "output": [thought] if behaviour.kind == "empty" else [thought, *said, *calls],
        "usage": {
            "input_tokens": behaviour.input_tokens,
            "input_tokens_details": {"cached_tokens": behaviour.cached_tokens},
            "output_tokens": behaviour.output_tokens + behaviour.thinking_tokens,
        },
    }


def _chat_said(body: Body) -> tuple[list[str], int, list[str], str]:
    messages = body["messages"]
    turns = [message for message in messages if message["role"] == "assistant"]
    calls = [call for message in turns for call in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    fault = ""
    if [call["id"] for call in calls] != answered:
        fault = "An assistant message with 'tool_calls' must be followed by tool messages."
    elif any(not isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls):
        fault = "The chat template wants the arguments of a call as an object."
    elif [message.get("reasoning_content") for message in turns] != [signature(at) for at in range(len(turns))]:
        fault = "The reasoning_content in the thinking mode must be passed back to the API."
    last = _last_run(messages, lambda message: message["role"] == "tool")
    names = [tool["function"]["name"] for tool in body["tools"]]
    return names, len(turns), [message["content"] for message in last], fault


def _chat(text: str, model: str, turn: int, behaviour: Behaviour) -> dict[str, Any]:
    """As small servers answer: without ids where there is one call."""
    calls = [
        {"type": "function", "function": {"name": called.name, "arguments": _text(called)}}
        | ({"id": f"call_{turn}x{at}"} if len(behaviour.calls) > 1 else {})
        for at, called in enumerate(behaviour.calls)
    ]
    finish = {"max_tokens": "length", "blocked": "content_filter"}
    declined = behaviour.kind == "refused"
    message = {
        "role": "assistant",
        "content": text or None,
        "refusal": "I'm sorry, I can't assist with that request." if declined else None,
        "reasoning_content": signature(turn),
        **({"tool_calls": calls} if calls else {}),
    }
    choice = {"message": message, "finish_reason": finish.get(behaviour.kind, "tool_calls" if calls else "stop")}
    return {
        "model": model,
        "choices": [] if behaviour.kind == "empty" else [choice],
        "usage": {
            "prompt_tokens": behaviour.input_tokens,
            "completion_tokens": behaviour.output_tokens + behaviour.thinking_tokens,
            "total_tokens": behaviour.input_tokens + behaviour.output_tokens + behaviour.thinking_tokens,
            "prompt_tokens_details": {"cached_tokens": behaviour.cached_tokens},
        },
    }
