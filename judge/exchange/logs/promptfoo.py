"""Results of promptfoo: `promptfoo eval -o results.json` or `.jsonl`; a row is one assertion on one output. Format:
https://www.promptfoo.dev/docs/configuration/outputs. The zero that promptfoo writes where a grader failed, or where no
output could be generated, is not a score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.logs.places import (
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


def fits(look: Look) -> bool:
    places = ("", "results", "results.results")
    return look.has("gradingResult", at=places) or look.has("promptIdx", "testIdx", at=places)


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
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
        row = _row(file, number, result, component, kinds, asked, log_facts)
        loss = _loss(result, component)
        value = asked.places.value("rating", {**result, "component": component}, component.get("score"))
        yield from (lost(row, loss),) if loss else scored(row, value, log_facts)


def _criterion(component: Mapping[str, Any]) -> str:
    assertion = component.get("assertion") or {}
    return str(assertion.get("metric") or assertion.get("type") or "score")


def _row(
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
    fits,
    read,
    {
        "story": "PROVIDER/promptIdx/testIdx, each output by itself; a variable by its path, such as vars.id",
        "criterion": "the assertion's metric, else its type (and value, where a type stands twice)",
        "judge": "the grading provider of the assertion or test; code/TYPE of assertions that ask no model",
        "story-prompt": "the prompt as it was sent",
        "repeat": "numbered in the file's order, where one story is rated again",
    },
    "promptfoo 0.123.1",
)
