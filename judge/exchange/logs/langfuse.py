"""Scores of Langfuse: JSON as its API returns it (`GET /api/public/v2/scores`), pages of it, or JSON Lines.

Format: https://api.reference.langfuse.com. Scores of source EVAL and API are by judges, those of ANNOTATION by people.
Booleans (yes and no) and categories are labels; texts and corrections are not scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.logs.asked import Asked, Tool, scored, unnamed, with_people
from judge.exchange.logs.places import as_text
from judge.exchange.logs.row import LogFacts, LogRow
from judge.exchange.reader.json_files import as_list, as_object, lines, starts_lines, whole
from judge.exchange.reader.look import Look

_MODELS = ("model", "model_name", "judge")
_SOURCES = ("EVAL", "API", "ANNOTATION")
_NO_SCORE = ("TEXT", "CORRECTION")


def fits(look: Look) -> bool:
    """Whether a file holds scores of Langfuse."""
    records = (look.record(), look.record("data"))
    return any({"name", "value"} <= record.keys() and record.get("source") in _SOURCES for record in records)


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one file from Langfuse, whether given to traces or to observations."""
    for number, held in _scores(file):
        if "name" not in held or "source" not in held:
            raise DataError("is no score of Langfuse: it has no 'name' and 'source'", file=file, row=number)
        yield from with_people(_of_score(file, number, held, asked, log_facts), held, asked.places)


def _scores(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
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
    if kind in _NO_SCORE:
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
        model = as_text(next((metadata[key] for key in _MODELS if metadata.get(key)), None))
        judge = places.text("judge", held) or model or unnamed(name, log_facts)
        reason = places.text("explanation", held, held.get("comment"))
        row = replace(row, judge=judge, eval_prompt=places.text("eval_prompt", held), explanation=reason)
    yield from scored(row, places.value("rating", held, _value(held, kind)), log_facts)


def _value(held: Mapping[str, Any], kind: Any) -> Any:
    """Value of a score in a Langfuse record: a number, a category's word, or True or False; None where it is
    missing.
    """
    value, word = held.get("value"), held.get("stringValue")
    if kind == "BOOLEAN":
        return None if value is None and word is None else (value == 1 if value is not None else word == "True")
    return word if kind == "CATEGORICAL" else value


LANGFUSE = Tool(
    "langfuse",
    "scores of Langfuse's API; EVAL and API are judges, ANNOTATION are people",
    fits,
    read,
    {
        "story": "the observation's id, else the trace's",
        "criterion": "the score's name",
        "judge": "metadata.model of sources EVAL and API, else unnamed/NAME; ANNOTATION are people, by authorUserId",
        "story-prompt": "not in scores: give its path, or join a dataset",
        "repeat": "numbered in the file's order, where one judge scored a story again",
    },
    "langfuse 5.0.4 (its classes; no server of Langfuse was tried)",
)
