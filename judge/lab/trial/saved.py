"""Answers of a trial as plain data, appended to a file on request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import SpecError
from judge.base.records import Judgment, Query, Verdict
from judge.lab.trial.sheet import Answered


def record(answered: Answered, judge: str) -> dict[str, Any]:
    """One answer as plain data: request, answer, parsed content, tokens and cost."""
    query, response = answered.query, answered.response
    return {
        "judge": judge,
        "eval_prompt": query.eval_prompt,
        "criterion": ", ".join(criterion.name for criterion in query.criteria) or query.criterion.name,
        "messages": [{"role": m.role, "content": m.content} for m in query.messages],
        "text": None if response is None else response.text,
        "finish_reason": None if response is None else response.finish_reason,
        "reasoning": None if response is None else response.reasoning,
        **_taken(query, answered.read),
        "prompt_tokens": None if response is None else response.prompt_tokens,
        "completion_tokens": None if response is None else response.completion_tokens,
        "reasoning_tokens": None if response is None else response.reasoning_tokens,
        "cost": answered.cost,
        **({} if answered.error is None else {"error": answered.error}),
    }


def append(path: Path, records: Iterable[dict[str, Any]]) -> None:
    """Append records to a JSON Lines file. Raises SpecError where it cannot be written."""
    try:
        with path.open("ab") as stream:
            for entry in records:
                stream.write(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error


def _taken(query: Query, read: Sequence[Judgment] | Verdict) -> dict[str, Any]:
    """Rating, ratings per criterion, or preference with the stories in the order shown."""
    if isinstance(read, Verdict):
        other = "" if query.other is None else query.other.id
        return {"first": query.story.id, "second": other, "preference": read.preference, **_about(read)}
    if not query.criteria:
        return {"rating": read[0].rating, **_about(read[0])}
    each = zip(query.criteria, read, strict=True)
    return {"judgments": [{"criterion": criterion.name, "rating": j.rating, **_about(j)} for criterion, j in each]}


def _about(judged: Judgment | Verdict) -> dict[str, Any]:
    return {"status": judged.status, "flags": list(judged.flags), "explanation": judged.explanation}
