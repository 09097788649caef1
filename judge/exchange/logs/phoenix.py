"""Span annotations of Arize Phoenix: JSON of its REST API and client, or the client's data frame as CSV. Format:
https://arize.com/docs/phoenix (REST API, span annotations). Annotator kinds LLM and CODE are judges, HUMAN are people.
An annotation's score is used if it has one, otherwise its label."""

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
from judge.exchange.reader import Look, as_list, as_object, lines, starts_lines, whole
from judge.inputs.datasets.files.source_file import csv_rows

_RESULT = ("label", "score", "explanation")
# Keys of an annotation's metadata that may name the judge.
_MODELS = ("model", "model_name", "llm", "judge")


def fits(look: Look) -> bool:
    return "annotator_kind" in look.columns or look.has("annotator_kind", at=("", "data"))


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
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
    fits,
    read,
    {
        "story": "the span's id",
        "criterion": "the annotation's name",
        "judge": "metadata.model, else the identifier, of kind LLM; code/NAME of kind CODE; HUMAN are people",
        "story-prompt": "not in annotations: give its path, or join a dataset",
        "repeat": "numbered in the file's order, where one judge annotated a span again",
    },
    "arize-phoenix 20.26.1 (a local server)",
)
