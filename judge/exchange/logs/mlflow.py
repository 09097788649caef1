"""Assessments of MLflow: traces as `Trace.to_json()` writes them, one per line or in a list. Format:
https://mlflow.org/docs/latest/genai/assessments/feedback. Feedback by LLM_JUDGE and CODE is a judge's; that by HUMAN
and expectations are people's. An `AssessmentError` is a lost score; an overridden assessment does not count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.exchange.logs.places import (
    CODE,
    Asked,
    LogFacts,
    LogRow,
    Tool,
    as_text,
    loss_of,
    lost,
    scored,
    unnamed,
    with_people,
)
from judge.exchange.reader import Look, as_object, lines, starts_lines, whole

_PEOPLE, _CODE, _UNNAMED = "HUMAN", "CODE", (None, "", "default")


def fits(look: Look) -> bool:
    return any(look.has(name, at=("info", "traces.info")) for name in ("trace_id", "request_id", "assessments"))


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of MLflow's traces, one row per assessment."""
    for number, trace in _traces(file):
        if not isinstance(trace.get("info"), dict):
            raise DataError("is no trace of MLflow: it has no 'info'", file=file, row=number)
        yield from with_people(_of_trace(file, number, trace, asked, log_facts), trace, asked.places)


def _traces(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if starts_lines(file):
        yield from lines(file)
        return
    data = whole(file)
    several = data if isinstance(data, list) else as_object(data, file, 1).get("traces", [data])
    yield from ((number, as_object(item, file, number)) for number, item in enumerate(several, start=1))


def _of_trace(file: Path, number: int, trace: Mapping[str, Any], asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    info = trace["info"]
    for held in info.get("assessments") or []:
        if held.get("valid") is False:
            log_facts.untold["assessments were overridden by later ones and do not count"] += 1
            continue
        feedback, expected = held.get("feedback"), held.get("expectation")
        source = held.get("source") or {}
        kind = source.get("source_type")
        if feedback is None and (expected is None or kind != _PEOPLE):
            log_facts.untold["assessments that are neither feedback nor a person's expectation were left out"] += 1
            continue
        row = _row(file, number, {**trace, "assessment": held}, held, asked, log_facts)
        error = (feedback or {}).get("error") or held.get("error")
        if error:
            code = (
                f"{error.get('error_code', '')} {error.get('error_message', '')}" if isinstance(error, dict) else error
            )
            yield lost(row, loss_of(str(code)))
        else:
            value = feedback.get("value") if feedback is not None else _expected(expected)
            value = asked.places.value("rating", {**trace, "assessment": held}, value)
            yield from scored(row, value, log_facts)


def _expected(held: Mapping[str, Any]) -> Any:
    return held.get("value", held.get("serialized_value"))


def _row(
    file: Path, number: int, record: Mapping[str, Any], held: Mapping[str, Any], asked: Asked, log_facts: LogFacts
) -> LogRow:
    places, info = asked.places, record["info"]
    name = str(held.get("assessment_name") or held.get("name") or "feedback")
    source = held.get("source") or {}
    kind, who = source.get("source_type"), source.get("source_id")
    row = LogRow(
        number=number,
        story=places.story(record, info.get("trace_id") or info.get("request_id"), file, number),
        criterion=name,
        story_prompt=places.text("story_prompt", record, _span(record, "mlflow.spanInputs")),
        system=places.text("system", record),
        text=places.text("text", record, _span(record, "mlflow.spanOutputs")),
    )
    if kind == _PEOPLE:
        return replace(row, people=True, rater=None if who in _UNNAMED else str(who))
    judge = places.text("judge", record)
    if judge is None and kind == _CODE:
        judge = f"{CODE}/{name if who in _UNNAMED else who}"
    if judge is None:
        judge = unnamed(name, log_facts) if who in _UNNAMED else str(who)
    reason = places.text("explanation", record, held.get("rationale"))
    return replace(row, judge=judge, eval_prompt=places.text("eval_prompt", record), explanation=reason)


def _span(trace: Mapping[str, Any], name: str) -> str | None:
    """The attribute `name` of a trace's root span, as text."""
    spans = (trace.get("data") or {}).get("spans") or []
    root = next((span for span in spans if not span.get("parent_span_id") and not span.get("parent_id")), None)
    value = ((root or {}).get("attributes") or {}).get(name)
    if isinstance(value, str):
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return value
    if isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    return as_text(value)


MLFLOW = Tool(
    "mlflow",
    "assessments of MLflow's traces; LLM_JUDGE and CODE are judges, HUMAN are people",
    fits,
    read,
    {
        "story": "the trace's id; a tag by its path, such as info.tags.story",
        "criterion": "the assessment's name",
        "judge": "the source's id where its type is LLM_JUDGE; code/ID where it is CODE; HUMAN are people",
        "story-prompt": "the first span's inputs, and its outputs are the story",
        "repeat": "numbered in the file's order, where one judge assessed a story again",
    },
    "mlflow-skinny 3.17.2",
)
