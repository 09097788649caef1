"""Scores from tools that trace programs: MLflow, Arize Phoenix and Langfuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import DataError
from judge.exchange.logs.fields import (
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
from judge.exchange.reader import Look, as_list, as_object, lines, starts_lines, whole
from judge.inputs.datasets.files.source_file import csv_rows

# Span annotations of Arize Phoenix: JSON of its REST API and client, or the client's data frame as CSV. Format:
# https://arize.com/docs/phoenix (REST API, span annotations). Annotator kinds LLM and CODE are judges, HUMAN are
# people. An annotation's score is used if it has one, otherwise its label.

_RESULT = ("label", "score", "explanation")
# Keys of an annotation's metadata that may name the judge.
_MODELS = ("model", "model_name", "llm", "judge")


def read_phoenix(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of Arize Phoenix's span annotations."""
    for number, held in _annotations(file):
        if "annotator_kind" not in held:
            raise DataError("is no annotation of Phoenix: it has no 'annotator_kind'", file=file, row=number)
        yield from with_people(_of_annotation(file, number, held, asked, log_facts), held, asked.places)


def _annotations(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if file.suffix.lower() == ".csv":
        for number, cells in csv_rows(file, ("annotator_kind",)):
            yield number, _from_cells(cells)
        return
    if starts_lines(file):
        yield from ((number, _from_cells(held)) for number, held in lines(file))
        return
    data = whole(file)
    several = data if isinstance(data, list) else as_list(as_object(data, file, 1).get("data"), "data", file)
    yield from ((number, as_object(item, file, number)) for number, item in enumerate(several, start=1))


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


def _of_annotation(
    file: Path, number: int, held: Mapping[str, Any], asked: Asked, log_facts: LogFacts
) -> Iterator[LogRow]:
    places, result = asked.places, held.get("result") or {}
    name, who = str(held.get("name")), as_text(held.get("identifier")) or as_text(held.get("user_id"))
    row = LogRow(
        number=number,
        story=places.story(held, held.get("span_id"), file, number),
        criterion=name,
        story_prompt=places.text("story_prompt", held),
        system=places.text("system", held),
        text=places.text("text", held),
    )
    if held["annotator_kind"] == "HUMAN":
        row = replace(row, people=True, rater=who)
    else:
        reason = places.text("explanation", held, result.get("explanation"))
        judge = places.text("judge", held) or _judge(held, name, log_facts)
        row = replace(row, judge=judge, eval_prompt=places.text("eval_prompt", held), explanation=reason)
    score, label = result.get("score"), result.get("label")
    if score is not None and label is not None:
        log_facts.untold["annotations have a score and a label: the score counts"] += 1
    value = places.value("rating", held, label if score is None else score)
    explanation = str(result.get("explanation") or "")
    if value is None and explanation and loss_of(explanation) == "filtered":
        yield lost(row, "filtered")
    else:
        yield from scored(row, value, log_facts)


def _judge(held: Mapping[str, Any], name: str, log_facts: LogFacts) -> str:
    if held["annotator_kind"] == "CODE":
        return f"{CODE}/{name}"
    metadata = held.get("metadata") or {}
    model = next((metadata[key] for key in _MODELS if metadata.get(key)), None) if isinstance(metadata, dict) else None
    return as_text(model) or as_text(held.get("identifier")) or unnamed(name, log_facts)


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


def read_mlflow(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
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
    records = (look.record(), look.record("data"))
    return any({"name", "value"} <= record.keys() and record.get("source") in _LANGFUSE_SOURCES for record in records)


def read_langfuse(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one file from Langfuse, whether given to traces or to observations."""
    for number, held in _langfuse_scores(file):
        if "name" not in held or "source" not in held:
            raise DataError("is no score of Langfuse: it has no 'name' and 'source'", file=file, row=number)
        yield from with_people(_of_score(file, number, held, asked, log_facts), held, asked.places)


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


def _of_score(file: Path, number: int, held: Mapping[str, Any], asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    places, name, kind = asked.places, str(held["name"]), held.get("dataType")
    if kind in _LANGFUSE_TEXTS:
        log_facts.untold["texts and corrections are no scores and were left out"] += 1
        return
    own = next((held[key] for key in ("observationId", "traceId", "sessionId", "datasetRunId") if held.get(key)), None)
    subject = held.get("subject")
    if own is None and isinstance(subject, Mapping):
        own = subject.get("observationId") or subject.get("traceId") or subject.get("id")
    row = LogRow(
        number=number,
        story=places.story(held, own, file, number),
        criterion=name,
        story_prompt=places.text("story_prompt", held),
        system=places.text("system", held),
        text=places.text("text", held),
    )
    if held["source"] == "ANNOTATION":
        row = replace(row, people=True, rater=as_text(held.get("authorUserId")))
    else:
        metadata = held.get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        model = as_text(next((metadata[key] for key in _LANGFUSE_MODELS if metadata.get(key)), None))
        judge = places.text("judge", held) or model or unnamed(name, log_facts)
        reason = places.text("explanation", held, held.get("comment"))
        row = replace(row, judge=judge, eval_prompt=places.text("eval_prompt", held), explanation=reason)
    yield from scored(row, places.value("rating", held, _langfuse_value(held, kind)), log_facts)


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
