"""Scores from tools that test models on samples: lm-eval, promptfoo and deepeval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.exchange.logs.fields import (
    CODE,
    Asked,
    LogFacts,
    LogRow,
    Loss,
    Tool,
    as_text,
    loss_of,
    lost,
    scored,
    unnamed,
    with_people,
)
from judge.exchange.reader import Look, as_list, as_object, lines, starts_lines, whole

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


def read_promptfoo(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one file of promptfoo's results, one row per assertion."""
    for number, result in _results(file, log_facts):
        if "gradingResult" not in result and "error" not in result and "response" not in result:
            raise DataError("is no result of promptfoo: it has no 'gradingResult'", file=file, row=number)
        yield from with_people(_of_result(file, number, result, asked, log_facts), result, asked.places)


def _results(file: Path, log_facts: LogFacts) -> Iterator[tuple[int, dict[str, Any]]]:
    if starts_lines(file):
        yield from lines(file)
        return
    log = as_object(whole(file), file, 1)
    log_facts.version = (log.get("metadata") or {}).get("promptfooVersion")
    inner = log.get("results")
    items = as_list(inner.get("results") if isinstance(inner, dict) else inner, "results", file)
    yield from ((number, as_object(item, file, number)) for number, item in enumerate(items, start=1))


def _of_result(
    file: Path, number: int, result: Mapping[str, Any], asked: Asked, log_facts: LogFacts
) -> Iterator[LogRow]:
    graded = result.get("gradingResult") or {}
    results = [entry for entry in graded.get("componentResults") or [] if isinstance(entry, Mapping)]
    if not results and graded and not result.get("error"):
        results = [graded]
    if not results:
        asserted = (result.get("testCase") or {}).get("assert") or [{}]
        results = [{"assertion": entry} for entry in asserted if isinstance(entry, Mapping)]
    kinds = Counter(_criterion(entry) for entry in results)
    for component in results:
        row = _promptfoo_row(file, number, result, component, kinds, asked, log_facts)
        loss = _loss(result, component)
        value = asked.places.value("rating", {**result, "component": component}, component.get("score"))
        yield from (lost(row, loss),) if loss else scored(row, value, log_facts)


def _criterion(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion") or {}
    return str(assertion.get("metric") or assertion.get("type") or "score")


def _promptfoo_row(
    file: Path,
    number: int,
    result: Mapping[str, Any],
    component: Mapping[str, Any],
    kinds: Counter[str],
    asked: Asked,
    log_facts: LogFacts,
) -> LogRow:
    assertion = component.get("assertion") or {}
    criterion = _criterion(component)
    if kinds[criterion] > 1 and not assertion.get("metric"):
        criterion = f"{criterion}: {as_text(assertion.get('value')) or ''}".strip(": ")
    provider = result.get("provider") or {}
    system = as_text(provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider)
    own = f"{system}/{result.get('promptIdx', 0)}/{result.get('testIdx', number - 1)}"
    record, places = {**result, "component": component}, asked.places
    response = result.get("response") or {}
    prompt = result.get("prompt")
    return LogRow(
        number=number,
        story=places.story(record, own, file, number),
        criterion=criterion,
        judge=places.text("judge", record) or _judge(criterion, assertion, result, log_facts),
        eval_prompt=places.text("eval_prompt", record),
        story_prompt=places.text("story_prompt", record, prompt.get("raw") if isinstance(prompt, Mapping) else prompt),
        system=places.text("system", record, system),
        text=places.text("text", record, response.get("output") if isinstance(response, Mapping) else None),
        explanation=places.text("explanation", record, component.get("reason")),
    )


def _judge(criterion: str, assertion: Mapping[str, Any], result: Mapping[str, Any], log_facts: LogFacts) -> str:
    kind = str(assertion.get("type") or "score").removeprefix("not-")
    if kind not in MODEL_GRADED:
        return f"{CODE}/{kind}"
    options = (result.get("testCase") or {}).get("options") or {}
    for provider in (assertion.get("provider"), options.get("provider")):
        name = provider.get("id") if isinstance(provider, Mapping) else provider
        if isinstance(name, str):
            return name
    return unnamed(criterion, log_facts)


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


@dataclass(frozen=True, slots=True)
class _Samples:
    file: Path
    task: str
    model: str
    asked: Asked
    log_facts: LogFacts


def read_lm_eval(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
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
    if filtered and all(isinstance(pair, list) and len(pair) == 2 for pair in filtered):
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


def read_deepeval(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
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
            held = as_object(case, file, number)
            yield from with_people(_of_test_case(file, number, held, asked, log_facts), held, asked.places)


def _of_test_case(
    file: Path, number: int, case: Mapping[str, Any], asked: Asked, log_facts: LogFacts
) -> Iterator[LogRow]:
    for metric in _first_of(case, "metricsData", "metrics_data") or []:
        record, places = {**case, "metric": metric}, asked.places
        name = str(metric.get("name"))
        model = _first_of(metric, "evaluationModel", "evaluation_model")
        row = LogRow(
            number=number,
            story=places.story(record, case.get("name"), file, number),
            criterion=name,
            judge=places.text("judge", record, model or f"{CODE}/{name}"),
            eval_prompt=places.text("eval_prompt", record),
            story_prompt=places.text("story_prompt", record, as_text(case.get("input"))),
            system=places.text("system", record),
            text=places.text("text", record, _case_text(case)),
            explanation=places.text("explanation", record, metric.get("reason")),
        )
        error = metric.get("error")
        if error:
            yield lost(row, "unparsed" if _DEEPEVAL_UNREAD in str(error) else loss_of(str(error)))
        else:
            yield from scored(row, places.value("rating", record, metric.get("score")), log_facts)


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
