"""Test runs of deepeval (`test_run_DATE.json`, `.deepeval/.latest_run_full.json`).

Format: https://deepeval.com/docs/evaluation-introduction. A row is one metric of one test case. A metric with an error
has no score, even if its record holds a number. `verboseLogs` may be those of the previous case, and are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.exchange.logs.asked import CODE, Asked, Tool, lost, scored, with_people
from judge.exchange.logs.places import as_text
from judge.exchange.logs.row import LogFacts, LogRow, loss_of
from judge.exchange.reader.json_files import as_object, whole
from judge.exchange.reader.look import Look

_CASES = (("testCases", "test_cases"), ("conversationalTestCases", "conversational_test_cases"))
_UNREAD = "invalid JSON"


def fits(look: Look) -> bool:
    """Whether a file is a test run of deepeval."""
    return any(look.has(name, at=("", "testRunData")) for names in _CASES for name in names)


def read(file: Path, asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one log of deepeval (a test run), one row per metric of a test case."""
    run = as_object(whole(file), file, 1)
    inner = run.get("testRunData")
    run = inner if isinstance(inner, dict) else run
    if not any(name in run for names in _CASES for name in names):
        raise DataError("is no test run of deepeval: it has no 'testCases'", file=file)
    log_facts.untold["the points that deepeval's G-Eval divided by are not in the log: scores are of 0 to 1"] = 1
    number = 0
    for names in _CASES:
        for case in _get(run, *names) or []:
            number += 1
            held = as_object(case, file, number)
            yield from with_people(_of_case(file, number, held, asked, log_facts), held, asked.places)


def _of_case(file: Path, number: int, case: Mapping[str, Any], asked: Asked, log_facts: LogFacts) -> Iterator[LogRow]:
    for metric in _get(case, "metricsData", "metrics_data") or []:
        record, places = {**case, "metric": metric}, asked.places
        name = str(metric.get("name"))
        model = _get(metric, "evaluationModel", "evaluation_model")
        row = LogRow(
            number=number,
            story=places.story(record, case.get("name"), file, number),
            criterion=name,
            judge=places.text("judge", record, model or f"{CODE}/{name}"),
            eval_prompt=places.text("eval_prompt", record),
            story_prompt=places.text("story_prompt", record, as_text(case.get("input"))),
            system=places.text("system", record),
            text=places.text("text", record, _text(case)),
            explanation=places.text("explanation", record, metric.get("reason")),
        )
        error = metric.get("error")
        if error:
            yield lost(row, "unparsed" if _UNREAD in str(error) else loss_of(str(error)))
        else:
            yield from scored(row, places.value("rating", record, metric.get("score")), log_facts)


def _text(case: Mapping[str, Any]) -> str | None:
    """The judged text of a deepeval test case: its output, or its conversation with the role before each turn; None
    where there is neither.
    """
    turns = case.get("turns")
    if isinstance(turns, list):
        return "\n".join(f"{turn.get('role')}: {turn.get('content')}" for turn in turns if isinstance(turn, Mapping))
    return as_text(_get(case, "actualOutput", "actual_output"))


def _get(held: Mapping[str, Any], *names: str) -> Any:
    return next((held[name] for name in names if name in held), None)


DEEPEVAL = Tool(
    "deepeval",
    "metrics of deepeval's test runs; a metric with an error has no score",
    fits,
    read,
    {
        "story": "the test case's name",
        "criterion": "the metric's name",
        "judge": "the metric's evaluation model; code/METRIC where there is none",
        "story-prompt": "the test case's input",
        "repeat": "numbered in the file's order, where one story is rated again",
    },
    "deepeval 4.3.1",
)
