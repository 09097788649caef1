"""Back-end `scripted`: fixed answers from a list, for examples and for tests of later steps. It shows nothing about
judges, and does not test transport, retries or resuming, which are tested over a network socket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.backends.protocol import Backend, Capabilities, Settings
from judge.base.errors import BackendError, DataError, SpecError, unknown
from judge.base.records import Request, Response


@dataclass(frozen=True, slots=True)
class Line:
    """One scripted answer, for queries whose messages contain `match`; None fits every query."""

    text: str
    match: str | None = None
    finish_reason: str | None = "stop"
    reasoning: str | None = None


# Scripts by name: `scripted/three`, and so on.
SCRIPTS: dict[str, tuple[Line, ...]] = {
    "three": (Line("Rating: 3"),),
    "points": tuple(Line(f"Rating: {point}") for point in (1, 2, 3, 4, 5)),
    "silent": (Line("I cannot put a number on this story."),),
    "endings": (
        Line("4\n\nExplanation: the story follows its story-prompt closely."),
        Line('{"rating": 2, "explanation": "the middle does not follow from the start"}'),
        Line("I would rate this story a 3."),
        Line("Somewhere between 3 and 4."),
        Line("The story opens with a storm and then", finish_reason="length"),
        Line(""),
    ),
}


class Scripted:
    """Gives the answers of its list in turn, again and again. Those whose `match` occurs take precedence over those
    without, and each set of fitting answers has its own position. A query that none fits is a BackendError that is not
    retryable."""

    def __init__(self, answers: Sequence[str | Line], name: str = "list") -> None:
        self.capabilities = Capabilities(structured=frozenset({"choice", "json"}))
        self.lines = tuple(answer if isinstance(answer, Line) else Line(answer) for answer in answers)
        self.name = f"scripted/{name}"
        self._turns: dict[tuple[Line, ...], int] = {}

    async def probe(self) -> Mapping[str, Any]:
        """Facts for the manifest: name of the script and number of its answers."""
        return {"script": self.name, "answers": len(self.lines)}

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """For each repeat, the next answer of the list that fits the query."""
        prompt_text = "\n".join(message.content for message in query.messages)
        fitting = tuple(line for line in self.lines if line.match is not None and line.match in prompt_text)
        fitting = fitting or tuple(line for line in self.lines if line.match is None)
        if not fitting:
            raise BackendError(f"{self.name} has no answer that fits the query", kind="request", retryable=False)
        turn = self._turns.get(fitting, 0)
        self._turns[fitting] = turn + len(repeats)
        return [self._response(fitting[(turn + offset) % len(fitting)]) for offset in range(len(repeats))]

    async def close(self) -> None:
        """Does nothing, because no resources are held."""

    def _response(self, line: Line) -> Response:
        return Response(text=line.text, finish_reason=line.finish_reason, reasoning=line.reasoning, model=self.name)


def open(model: str, settings: Settings) -> Backend:  # noqa: A001, ARG001 - every back-end's loader has this name
    """The answers of `scripted/NAME` (one of `SCRIPTS`) or `scripted/FILE.jsonl`."""
    if model in SCRIPTS:
        return Scripted(SCRIPTS[model], model)
    if not model.endswith(".jsonl"):
        raise SpecError(unknown("script", model, SCRIPTS), hint="write scripted/NAME or scripted/FILE.jsonl")
    return Scripted(read_script(Path(model)), model)


def read_script(path: Path) -> list[Line]:
    """A JSONL file with one `Line` per line: `{"text": ..., "match": ...}`. Only `text` is required."""
    try:
        rows = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=path) from None
    lines = [_line(path, number, row) for number, row in enumerate(rows, start=1) if row.strip()]
    if not lines:
        raise DataError("holds no answer", file=path, hint='write lines such as {"text": "Rating: 3"}')
    return lines


def _line(path: Path, number: int, row: bytes) -> Line:
    keys = tuple(Line.__dataclass_fields__)
    try:
        content = orjson.loads(row)
    except orjson.JSONDecodeError as error:
        raise DataError(f"not JSON ({error})", file=path, row=number) from None
    if not isinstance(content, dict) or not isinstance(content.get("text"), str):
        raise DataError("no text", file=path, row=number, column="text", found=content, allowed="a string")
    for key, value in content.items():
        if key not in keys:
            raise DataError(unknown("key", key, keys), file=path, row=number)
        if value is not None and not isinstance(value, str):
            raise DataError("not a string", file=path, row=number, column=key, found=value, allowed="a string or null")
    return Line(**content)
