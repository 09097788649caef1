"""Samples of lm-eval (`samples_TASK_DATE.jsonl`, written with `--log_samples`). Format:
https://github.com/EleutherAI/lm-evaluation-harness (`evaluator.py`, `loggers/evaluation_tracker.py`). If the model is
the judge of the text in its prompt, its filtered answer is the rating; otherwise the task's metrics are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.logs.places import CODE, Asked, LogFacts, LogRow, Tool, as_text, lost, scored, with_people
from judge.exchange.reader import Look, lines, whole

# Word that lm-eval's filters write where nothing matched.
INVALID = ("[invalid]", "invalid")

_NAME = re.compile(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl$")
_NONE = "none"


@dataclass(frozen=True, slots=True)
class _Samples:
    file: Path
    task: str
    model: str
    asked: Asked
    log_facts: LogFacts


def fits(look: Look) -> bool:
    return look.has("doc_id", "filtered_resps")


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of lm-eval's samples."""
    name = _NAME.search(file.name)
    task = name["task"] if name else file.stem.removeprefix("samples_")
    samples = _Samples(file, task, _model(file, name["date"] if name else None, log_facts), asked, log_facts)
    for number, sample in lines(file):
        if "filtered_resps" not in sample or "doc_id" not in sample:
            raise DataError("is no sample of lm-eval: it has no 'doc_id' and 'filtered_resps'", file=file, row=number)
        rows = (_answers if asked.judged == "inputs" else _metrics)(samples, number, sample)
        yield from with_people(rows, sample, asked.places)


def _model(file: Path, date: str | None, log_facts: LogFacts) -> str:
    """From the results file next to the samples or, without one, their folder's name."""
    results = file.with_name(f"results_{date}.json")
    if date is not None and results.is_file():
        data = whole(results)
        if isinstance(data, dict):
            log_facts.version = data.get("lm_eval_version") or log_facts.version
            if data.get("model_name"):
                return str(data["model_name"])
    log_facts.untold["files of samples name no model: the folder's name is used"] += 1
    return file.resolve().parent.name


def _answers(samples: _Samples, number: int, sample: Mapping[str, Any]) -> Iterator[LogRow]:
    row = _row(samples, number, sample, samples.task, samples.model, as_text(sample["doc_id"]))
    if "rating" in samples.asked.places:
        yield from scored(row, samples.asked.places.value("rating", sample), samples.log_facts)
        return
    filtered = sample["filtered_resps"]
    if _chances(filtered):
        yield from _chosen(row, sample, filtered, samples.log_facts)
        return
    several = filtered[0] if len(filtered) == 1 and isinstance(filtered[0], list) else filtered
    raw = sample.get("resps") or [[]]
    for repeat, answer in enumerate(several):
        own = replace(row, repeat=repeat if len(several) > 1 else None)
        reply = raw[0][repeat] if raw and repeat < len(raw[0]) else answer
        text = reply if isinstance(reply, str) else None
        own = replace(own, explanation=own.explanation or _reason(text, answer))
        if isinstance(text, str) and not text.strip():
            yield lost(own, "empty")
        elif answer is None or (isinstance(answer, str) and (answer in INVALID or not answer.strip())):
            yield lost(own, "unparsed")
        else:
            yield from scored(own, answer.strip() if isinstance(answer, str) else answer, samples.log_facts)


def _reason(text: str | None, answer: Any) -> str | None:
    """None where the answer is only the rating."""
    return text if text is not None and text.strip() and text.strip() != str(answer).strip() else None


def _chances(filtered: Any) -> bool:
    """Whether they are log-likelihoods of answer choices."""
    return bool(filtered) and all(isinstance(pair, list) and len(pair) == 2 for pair in filtered)


def _chosen(row: LogRow, sample: Mapping[str, Any], filtered: list[Any], log_facts: LogFacts) -> Iterator[LogRow]:
    """Row with the likeliest choice; lost where two are equally likely."""
    arguments = sample.get("arguments") or {}
    shown = [arguments.get(f"gen_args_{n}") for n in range(len(filtered))] if isinstance(arguments, dict) else arguments
    texts = [_continuation(entry) for entry in shown]
    try:
        chances = [float(entry[0]) for entry in filtered]
    except (TypeError, ValueError):
        yield lost(row, "unparsed")
        return
    best = [n for n, chance in enumerate(chances) if chance == max(chances)]
    if len(texts) < len(chances) or len(best) > 1 or texts[best[0]] is None:
        yield lost(row, "unparsed")
        return
    yield from scored(row, texts[best[0]], log_facts)


def _continuation(arguments: Any) -> str | None:
    continuation = arguments.get("arg_1") if isinstance(arguments, Mapping) else None
    if isinstance(arguments, list) and len(arguments) > 1:
        continuation = arguments[1]
    return continuation.strip() if isinstance(continuation, str) else None


def _metrics(samples: _Samples, number: int, sample: Mapping[str, Any]) -> Iterator[LogRow]:
    replies = sample.get("resps") or [[None]]
    text = replies[0][0] if replies and replies[0] and isinstance(replies[0][0], str) else None
    for name in sample.get("metrics") or []:
        own = f"{samples.model}/{samples.task}/{sample['doc_id']}"
        row = _row(samples, number, sample, str(name), f"{CODE}/{name}", own)
        value = samples.asked.places.value("rating", sample, sample.get(name))
        shown = replace(row, system=row.system or samples.model, text=row.text or text)
        yield from scored(shown, value, samples.log_facts)


def _row(
    samples: _Samples, number: int, sample: Mapping[str, Any], criterion: str, judge: str, story: str | None
) -> LogRow:
    places = samples.asked.places
    kept = as_text(sample.get("filter"))
    return LogRow(
        number=number,
        story=places.story(sample, story, samples.file, number),
        criterion=criterion,
        judge=places.text("judge", sample, judge),
        eval_prompt=places.text("eval_prompt", sample, None if kept == _NONE else kept),
        story_prompt=places.text("story_prompt", sample),
        system=places.text("system", sample),
        text=places.text("text", sample),
        explanation=places.text("explanation", sample),
    )


LM_EVAL = Tool(
    "lm-eval",
    "samples of lm-eval: filtered answers as ratings, or with judged=outputs its metrics",
    fits,
    read,
    {
        "story": "doc_id (of outputs MODEL/TASK/doc_id); a field of the document by its path, such as doc.id",
        "criterion": "the task; of outputs the metric",
        "judge": "the model that results_DATE.json names, else the folder; of outputs code/METRIC",
        "rating": "the filtered answer, or the likeliest choice; of outputs the metric",
        "Eval-Prompt": "the filter, where it has a name",
        "repeat": "the place among several answers to one document",
    },
    "lm_eval 0.4.13",
    ("inputs", "outputs"),
)
