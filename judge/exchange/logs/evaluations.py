"""Scores from tools that test models on samples: lm-eval, promptfoo and deepeval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.exchange.logs.fields import (
    CODE,
    Entry,
    LogFacts,
    LogOptions,
    LogRow,
    Loss,
    Tool,
    as_text,
    loss_of,
    lost,
    records,
)
from judge.exchange.reader import Look, as_list, as_object, lines, whole

# Results of promptfoo: `promptfoo eval -o results.json` or `.jsonl`; a row is one assertion on one output. Format:
# https://www.promptfoo.dev/docs/configuration/outputs. The zero that promptfoo writes where a grader failed, or where
# no output could be generated, is not a score.

# Assertions that ask a model.
MODEL_GRADED = (
    "llm-rubric",
    "agent-rubric",
    "search-rubric",
    "model-graded-closedqa",
    "model-graded-factuality",
    "factuality",
    "g-eval",
    "answer-relevance",
    "context-faithfulness",
    "context-recall",
    "context-relevance",
    "conversation-relevance",
    "moderation",
    "pi",
    "select-best",
    "similar",
)

_UNREAD = ("Could not extract JSON", "No output", "Could not parse", "invalid JSON", "produced malformed response")
# `failureReason` of an output that could not be made.
_BROKEN = 2


def is_promptfoo(look: Look) -> bool:
    places = ("", "results", "results.results")
    return look.has("gradingResult", at=places) or look.has("promptIdx", "testIdx", at=places)


def read_promptfoo(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one file of promptfoo's results, one row per assertion."""

    def results(value: Any) -> list[Any]:
        log = as_object(value, file, 1)
        log_facts.version = (log.get("metadata") or {}).get("promptfooVersion")
        inner = log.get("results")
        return as_list(inner.get("results") if isinstance(inner, dict) else inner, "results", file)

    for number, result in records(file, results):
        if "gradingResult" not in result and "error" not in result and "response" not in result:
            raise DataError("is no result of promptfoo: it has no 'gradingResult'", file=file, row=number)
        entry = Entry(file, number, result, asked.places, log_facts)
        yield from entry.with_people(_of_result(entry))


def _of_result(entry: Entry) -> Iterator[LogRow]:
    result = entry.held
    graded = result.get("gradingResult") or {}
    components = [component for component in graded.get("componentResults") or [] if isinstance(component, Mapping)]
    if not components and graded and not result.get("error"):
        components = [graded]
    if not components:
        asserted = (result.get("testCase") or {}).get("assert") or [{}]
        components = [{"assertion": assertion} for assertion in asserted if isinstance(assertion, Mapping)]
    kinds = Counter(_criterion(component) for component in components)
    for component in components:
        inner = entry.beside("component", component)
        row = _promptfoo_row(inner, component, kinds)
        loss = _loss(result, component)
        value = inner.value(component.get("score"))
        yield from (lost(row, loss),) if loss else inner.scored(row, value)


def _criterion(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion") or {}
    return str(assertion.get("metric") or assertion.get("type") or "score")


def _promptfoo_row(entry: Entry, component: Mapping[str, Any], kinds: Counter[str]) -> LogRow:
    result, assertion = entry.held, component.get("assertion") or {}
    criterion = _criterion(component)
    if kinds[criterion] > 1 and not assertion.get("metric"):
        criterion = f"{criterion}: {as_text(assertion.get('value')) or ''}".strip(": ")
    provider = result.get("provider") or {}
    system = as_text(provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider)
    response = result.get("response") or {}
    prompt = result.get("prompt")
    row = entry.row(
        criterion,
        f"{system}/{result.get('promptIdx', 0)}/{result.get('testIdx', entry.number - 1)}",
        story_prompt=prompt.get("raw") if isinstance(prompt, Mapping) else prompt,
        system=system,
        text=response.get("output") if isinstance(response, Mapping) else None,
        explanation=component.get("reason"),
    )
    return replace(row, judge=row.judge or _judge(criterion, assertion, entry))


def _judge(criterion: str, assertion: Mapping[str, Any], entry: Entry) -> str:
    kind = str(assertion.get("type") or "score").removeprefix("not-")
    if kind not in MODEL_GRADED:
        return f"{CODE}/{kind}"
    options = (entry.held.get("testCase") or {}).get("options") or {}
    for provider in (assertion.get("provider"), options.get("provider")):
        name = provider.get("id") if isinstance(provider, Mapping) else provider
        if isinstance(name, str):
            return name
    return entry.unnamed(criterion)


def _loss(result: Mapping[str, Any], component: Mapping[str, Any]) -> Loss | None:
    """None where there is a score. Failures to generate the output are checked first."""
    response = result.get("response") or {}
    if isinstance(response, Mapping):
        stopped = response.get("finishReason") == "content_filter"
        if stopped or (response.get("guardrails") or {}).get("flagged"):
            return "filtered"
    if "score" not in component:
        return loss_of(str(result.get("error") or "")) if result.get("error") else "missing"
    if result.get("failureReason") == _BROKEN:
        return loss_of(str(result.get("error") or ""))
    reason = str(component.get("reason") or "")
    if (component.get("metadata") or {}).get("graderError") or reason.startswith(_UNREAD):
        return "unparsed" if reason.startswith(_UNREAD) else loss_of(reason)
    return None


PROMPTFOO = Tool(
    "promptfoo",
    "assertions of promptfoo's results; a 0 of a grader that failed is no score",
    is_promptfoo,
    read_promptfoo,
    {
        "story": "PROVIDER/promptIdx/testIdx, each output by itself; a variable by its path, such as vars.id",
        "criterion": "the assertion's metric, else its type (and value, where a type stands twice)",
        "judge": "the grading provider of the assertion or test; code/TYPE of assertions that ask no model",
        "story-prompt": "the prompt as it was sent",
        "repeat": "numbered in the file's order, where one story is rated again",
    },
    "promptfoo 0.123.1",
)


# Samples of lm-eval (`samples_TASK_DATE.jsonl`, written with `--log_samples`). Format:
# https://github.com/EleutherAI/lm-evaluation-harness (`evaluator.py`, `loggers/evaluation_tracker.py`). If the model
# is the judge of the text in its prompt, its filtered answer is the rating; otherwise the task's metrics are.

# Word that lm-eval's filters write where nothing matched.
INVALID = ("[invalid]", "invalid")

_NAME = late(r"samples_(?P<task>.+)_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl$")
_NONE = "none"


def read_lm_eval(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Ratings in one file of lm-eval's samples."""
    name = _NAME.search(file.name)
    task = name["task"] if name else file.stem.removeprefix("samples_")
    model = _model(file, name["date"] if name else None, log_facts)
    rows = _answers if asked.judged == "inputs" else _metrics
    for number, sample in lines(file):
        if "filtered_resps" not in sample or "doc_id" not in sample:
            raise DataError("is no sample of lm-eval: it has no 'doc_id' and 'filtered_resps'", file=file, row=number)
        entry = Entry(file, number, sample, asked.places, log_facts)
        yield from entry.with_people(rows(entry, task, model))


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


def _answers(entry: Entry, task: str, model: str) -> Iterator[LogRow]:
    sample = entry.held
    row = _row(entry, task, model, as_text(sample["doc_id"]))
    if "rating" in entry.places.given:
        yield from entry.scored(row, entry.value(None))
        return
    filtered = sample["filtered_resps"]
    if filtered and all(isinstance(pair, list) and len(pair) == 2 for pair in filtered):
        yield from _chosen(row, entry, filtered)
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
            yield from entry.scored(own, answer.strip() if isinstance(answer, str) else answer)


def _reason(text: str | None, answer: Any) -> str | None:
    """None where the answer is only the rating."""
    return text if text is not None and text.strip() and text.strip() != str(answer).strip() else None


def _chosen(row: LogRow, entry: Entry, filtered: list[Any]) -> Iterator[LogRow]:
    """Row with the likeliest choice; lost where two are equally likely."""
    arguments = entry.held.get("arguments") or {}
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
    yield from entry.scored(row, texts[best[0]])


def _continuation(arguments: Any) -> str | None:
    continuation = arguments.get("arg_1") if isinstance(arguments, Mapping) else None
    if isinstance(arguments, list) and len(arguments) > 1:
        continuation = arguments[1]
    return continuation.strip() if isinstance(continuation, str) else None


def _metrics(entry: Entry, task: str, model: str) -> Iterator[LogRow]:
    sample = entry.held
    replies = sample.get("resps") or [[None]]
    text = replies[0][0] if replies and replies[0] and isinstance(replies[0][0], str) else None
    for name in sample.get("metrics") or []:
        row = _row(entry, str(name), f"{CODE}/{name}", f"{model}/{task}/{sample['doc_id']}")
        shown = replace(row, system=row.system or model, text=row.text or text)
        yield from entry.scored(shown, entry.value(sample.get(name)))


def _row(entry: Entry, criterion: str, judge: str, story: str | None) -> LogRow:
    kept = as_text(entry.held.get("filter"))
    return entry.row(criterion, story, judge=judge, eval_prompt=None if kept == _NONE else kept)


LM_EVAL = Tool(
    "lm-eval",
    "samples of lm-eval: filtered answers as ratings, or with judged=outputs its metrics",
    lambda look: look.has("doc_id", "filtered_resps"),
    read_lm_eval,
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


# Test runs of deepeval (`test_run_DATE.json`, `.deepeval/.latest_run_full.json`).

_DEEPEVAL_CASES = (("testCases", "test_cases"), ("conversationalTestCases", "conversational_test_cases"))
_DEEPEVAL_UNREAD = "invalid JSON"


def read_deepeval(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one test run of deepeval, one row per metric of a test case."""
    run = as_object(whole(file), file, 1)
    inner = run.get("testRunData")
    run = inner if isinstance(inner, dict) else run
    if not any(name in run for names in _DEEPEVAL_CASES for name in names):
        raise DataError("is no test run of deepeval: it has no 'testCases'", file=file)
    log_facts.untold["the points that deepeval's G-Eval divided by are not in the log: scores are of 0 to 1"] = 1
    number = 0
    for names in _DEEPEVAL_CASES:
        for case in _first_of(run, *names) or []:
            number += 1
            entry = Entry(file, number, as_object(case, file, number), asked.places, log_facts)
            yield from entry.with_people(_of_test_case(entry))


def _of_test_case(entry: Entry) -> Iterator[LogRow]:
    case = entry.held
    for metric in _first_of(case, "metricsData", "metrics_data") or []:
        inner, name, error = entry.beside("metric", metric), str(metric.get("name")), metric.get("error")
        row = inner.row(
            name,
            case.get("name"),
            judge=_first_of(metric, "evaluationModel", "evaluation_model") or f"{CODE}/{name}",
            story_prompt=case.get("input"),
            text=_case_text(case),
            explanation=metric.get("reason"),
        )
        if error:
            yield lost(row, "unparsed" if _DEEPEVAL_UNREAD in str(error) else loss_of(str(error)))
        else:
            yield from inner.scored(row, inner.value(metric.get("score")))


def _case_text(case: Mapping[str, Any]) -> str | None:
    """Output of a test case, or its conversation with the role before each turn."""
    turns = case.get("turns")
    if isinstance(turns, list):
        return "\n".join(f"{turn.get('role')}: {turn.get('content')}" for turn in turns if isinstance(turn, Mapping))
    return as_text(_first_of(case, "actualOutput", "actual_output"))


def _first_of(held: Mapping[str, Any], *names: str) -> Any:
    return next((held[name] for name in names if name in held), None)


DEEPEVAL = Tool(
    "deepeval",
    "metrics of deepeval's test runs; a metric with an error has no score",
    lambda look: any(look.has(name, at=("", "testRunData")) for names in _DEEPEVAL_CASES for name in names),
    read_deepeval,
    {
        "story": "the test case's name",
        "criterion": "the metric's name",
        "judge": "the metric's evaluation model; code/METRIC where there is none",
        "story-prompt": "the test case's input",
        "repeat": "numbered in the file's order, where one story is rated again",
    },
    "deepeval 4.3.1",
)
