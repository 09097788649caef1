"""Scores from tools that trace programs: MLflow, Arize Phoenix and Langfuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.exchange.logs.fields import (
    CODE,
    Entry,
    LogFacts,
    LogOptions,
    LogRow,
    Tool,
    as_text,
    loss_of,
    lost,
    records,
)
from judge.exchange.reader import Look, as_list, as_object, lines, starts_lines, whole
from judge.inputs.datasets.files.source_file import csv_rows

# Span annotations of Arize Phoenix: JSON of its REST API and client, or the client's data frame as CSV. Format:
# https://arize.com/docs/phoenix (REST API, span annotations). Annotator kinds LLM and CODE are judges, HUMAN are
# people. An annotation's score is used if it has one, otherwise its label.

_RESULT = ("label", "score", "explanation")
# Keys of an annotation's metadata that may name the judge.
_MODELS = ("model", "model_name", "llm", "judge")


def read_phoenix(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of Arize Phoenix's span annotations."""
    for number, held in _annotations(file):
        if "annotator_kind" not in held:
            raise DataError("is no annotation of Phoenix: it has no 'annotator_kind'", file=file, row=number)
        entry = Entry(file, number, held, asked.places, log_facts)
        yield from entry.with_people(_of_annotation(entry))


def _annotations(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix.lower() == ".csv":
        for number, cells in csv_rows(file, ("annotator_kind",)):
            yield number, _from_cells(cells)
        return
    if starts_lines(file):
        yield from ((number, _from_cells(held)) for number, held in lines(file))
        return
    yield from records(
        file,
        lambda value: (
            value if isinstance(value, list) else as_list(as_object(value, file, 1).get("data"), "data", file)
        ),
    )


def _from_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the client's data frame in the API's structure."""
    if isinstance(cells.get("result"), Mapping):
        return dict(cells)
    result: dict[str, Any] = {name: cells.get(f"result.{name}") or None for name in _RESULT}
    if isinstance(result["score"], str):
        result["score"] = float(result["score"])
    held = {key: value for key, value in cells.items() if not key.startswith("result.") and value != ""}
    metadata = held.get("metadata")
    if isinstance(metadata, str):
        try:
            held["metadata"] = orjson.loads(metadata.replace("'", '"'))
        except orjson.JSONDecodeError:
            del held["metadata"]
    return held | {"name": cells.get("name") or cells.get("annotation_name"), "result": result}


def _of_annotation(entry: Entry) -> Iterator[LogRow]:
    held = entry.held
    name, result = str(held.get("name")), held.get("result") or {}
    people = held["annotator_kind"] == "HUMAN"
    row = entry.row(name, held.get("span_id"), people=people, explanation=result.get("explanation"))
    if people:
        row = replace(row, rater=as_text(held.get("identifier")) or as_text(held.get("user_id")))
    else:
        row = replace(row, judge=row.judge or _judge(entry, name))
    score, label = result.get("score"), result.get("label")
    if score is not None and label is not None:
        entry.log_facts.untold["annotations have a score and a label: the score counts"] += 1
    value = entry.value(label if score is None else score)
    explanation = str(result.get("explanation") or "")
    if value is None and explanation and loss_of(explanation) == "filtered":
        yield lost(row, "filtered")
    else:
        yield from entry.scored(row, value)


def _judge(entry: Entry, name: str) -> str:
    if entry.held["annotator_kind"] == "CODE":
        return f"{CODE}/{name}"
    return _model(entry.held, _MODELS) or as_text(entry.held.get("identifier")) or entry.unnamed(name)


def _model(held: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """The model that the record's metadata name under one of the keys."""
    metadata = held.get("metadata")
    if not isinstance(metadata, Mapping):
        return None
    return as_text(next((metadata[key] for key in keys if metadata.get(key)), None))


PHOENIX = Tool(
    "phoenix",
    "span annotations of Phoenix, of its API or its client's data frame; HUMAN are people",
    lambda look: "annotator_kind" in look.columns or look.has("annotator_kind", at=("", "data")),
    read_phoenix,
    {
        "story": "the span's id",
        "criterion": "the annotation's name",
        "judge": "metadata.model, else the identifier, of kind LLM; code/NAME of kind CODE; HUMAN are people",
        "story-prompt": "not in annotations: give its path, or join a dataset",
        "repeat": "numbered in the file's order, where one judge annotated a span again",
    },
    "arize-phoenix 20.26.1 (a local server)",
)


_PEOPLE, _CODE, _UNNAMED = "HUMAN", "CODE", (None, "", "default")


# Assessments of MLflow: traces as `Trace.to_json()` writes them, one per line or in a list. Format:
# https://mlflow.org/docs/latest/genai/assessments/feedback. Feedback by LLM_JUDGE and CODE is a judge's; that by
# HUMAN and expectations are people's. An `AssessmentError` is a lost score; an overridden assessment does not count.


def read_mlflow(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of MLflow's traces, one row per assessment."""

    def traces(value: Any) -> list[Any]:
        return value if isinstance(value, list) else list(as_object(value, file, 1).get("traces", [value]))

    for number, trace in records(file, traces):
        if not isinstance(trace.get("info"), dict):
            raise DataError("is no trace of MLflow: it has no 'info'", file=file, row=number)
        entry = Entry(file, number, trace, asked.places, log_facts)
        yield from entry.with_people(_of_trace(entry))


def _of_trace(entry: Entry) -> Iterator[LogRow]:
    untold = entry.log_facts.untold
    for held in entry.held["info"].get("assessments") or []:
        if held.get("valid") is False:
            untold["assessments were overridden by later ones and do not count"] += 1
            continue
        feedback, expected = held.get("feedback"), held.get("expectation")
        kind = (held.get("source") or {}).get("source_type")
        if feedback is None and (expected is None or kind != _PEOPLE):
            untold["assessments that are neither feedback nor a person's expectation were left out"] += 1
            continue
        inner = entry.beside("assessment", held)
        row = _row(inner, held)
        error = (feedback or {}).get("error") or held.get("error")
        if error:
            code = (
                f"{error.get('error_code', '')} {error.get('error_message', '')}" if isinstance(error, dict) else error
            )
            yield lost(row, loss_of(str(code)))
        elif feedback is not None:
            yield from inner.scored(row, inner.value(feedback.get("value")))
        else:
            yield from inner.scored(row, inner.value(expected.get("value", expected.get("serialized_value"))))


def _row(entry: Entry, assessment: Mapping[str, Any]) -> LogRow:
    info, source = entry.held["info"], assessment.get("source") or {}
    name = str(assessment.get("assessment_name") or assessment.get("name") or "feedback")
    kind, who = source.get("source_type"), source.get("source_id")
    source_name = None if who in _UNNAMED else str(who)
    row = entry.row(
        name,
        info.get("trace_id") or info.get("request_id"),
        people=kind == _PEOPLE,
        story_prompt=_span(entry.held, "mlflow.spanInputs"),
        text=_span(entry.held, "mlflow.spanOutputs"),
        explanation=assessment.get("rationale"),
    )
    if row.people:
        return replace(row, rater=source_name)
    if kind == _CODE:
        return replace(row, judge=row.judge or f"{CODE}/{source_name or name}")
    return replace(row, judge=row.judge or source_name or entry.unnamed(name))


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
    lambda look: any(look.has(name, at=("info", "traces.info")) for name in ("trace_id", "request_id", "assessments")),
    read_mlflow,
    {
        "story": "the trace's id; a tag by its path, such as info.tags.story",
        "criterion": "the assessment's name",
        "judge": "the source's id where its type is LLM_JUDGE; code/ID where it is CODE; HUMAN are people",
        "story-prompt": "the first span's inputs, and its outputs are the story",
        "repeat": "numbered in the file's order, where one judge assessed a story again",
    },
    "mlflow-skinny 3.17.2",
)


# Scores of Langfuse: JSON as its API returns it (`GET /api/public/v2/scores`), pages of it, or JSON Lines.

_LANGFUSE_MODELS = ("model", "model_name", "judge")
_LANGFUSE_SOURCES = ("EVAL", "API", "ANNOTATION")
_LANGFUSE_TEXTS = ("TEXT", "CORRECTION")


def is_langfuse(look: Look) -> bool:
    """Whether a file holds scores of Langfuse."""
    firsts = (look.record(), look.record("data"))
    return any({"name", "value"} <= first.keys() and first.get("source") in _LANGFUSE_SOURCES for first in firsts)


def read_langfuse(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one file from Langfuse, whether given to traces or to observations."""
    for number, held in _langfuse_scores(file):
        if "name" not in held or "source" not in held:
            raise DataError("is no score of Langfuse: it has no 'name' and 'source'", file=file, row=number)
        entry = Entry(file, number, held, asked.places, log_facts)
        yield from entry.with_people(_of_score(entry))


def _langfuse_scores(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if starts_lines(file):
        pages: Iterator[Any] = (held for _, held in lines(file))
    else:
        data = whole(file)
        pages = iter(data if isinstance(data, list) else [data])
    number = 0
    for page in pages:
        held = as_object(page, file, number + 1)
        for item in as_list(held["data"], "data", file) if "data" in held else [held]:
            number += 1
            yield number, as_object(item, file, number)


def _of_score(entry: Entry) -> Iterator[LogRow]:
    held = entry.held
    name, kind, people = str(held["name"]), held.get("dataType"), held["source"] == "ANNOTATION"
    if kind in _LANGFUSE_TEXTS:
        entry.log_facts.untold["texts and corrections are no scores and were left out"] += 1
        return
    own = next((held[key] for key in ("observationId", "traceId", "sessionId", "datasetRunId") if held.get(key)), None)
    subject = held.get("subject")
    if own is None and isinstance(subject, Mapping):
        own = subject.get("observationId") or subject.get("traceId") or subject.get("id")
    row = entry.row(name, own, people=people, explanation=held.get("comment"))
    if people:
        row = replace(row, rater=as_text(held.get("authorUserId")))
    else:
        row = replace(row, judge=row.judge or _model(held, _LANGFUSE_MODELS) or entry.unnamed(name))
    yield from entry.scored(row, entry.value(_langfuse_value(held, kind)))


def _langfuse_value(held: Mapping[str, Any], kind: Any) -> Any:
    # True or False, a category's word, or a number.
    value, word = held.get("value"), held.get("stringValue")
    if kind == "BOOLEAN":
        return None if value is None and word is None else (value == 1 if value is not None else word == "True")
    return word if kind == "CATEGORICAL" else value


LANGFUSE = Tool(
    "langfuse",
    "scores of Langfuse's API; EVAL and API are judges, ANNOTATION are people",
    is_langfuse,
    read_langfuse,
    {
        "story": "the observation's id, else the trace's",
        "criterion": "the score's name",
        "judge": "metadata.model of sources EVAL and API, else unnamed/NAME; ANNOTATION are people, by authorUserId",
        "story-prompt": "not in scores: give its path, or join a dataset",
        "repeat": "numbered in the file's order, where one judge scored a story again",
    },
    "langfuse 5.0.4 (its classes; no server of Langfuse was tried)",
)
