"""Whatever a model answers, a run goes on and its tables come: generated answers for each of sixteen forms of answer.

There are 320 of them for each form, so 5,120; JUDGE_TEST_ANSWERS asks for another multiple of 160. The report has the
tables of `judge coverage`.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.asking.execution.session import Sitting, sit
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.ratings.preferences_table import read as read_preferences
from judge.ratings.ratings_table import judgments, read
from tests.hardening import odd_answers
from tests.hardening.conftest import Call
from tests.hardening.test_answers import Server, send

ANSWERS = int(os.environ.get("JUDGE_TEST_ANSWERS", "320"))
STORIES = 40
LABELS = """name: mine
criteria:
  - name: Coherence
    abbreviation: CO
    definition: whether it hangs together
    scale: {labels: ["No", Mostly not, "Yes", Strongly yes]}
"""
PATHS = {"json path": "$.score", "pattern": r"Rating: (?P<rating>\S+)", "label path": "$.label"}
THREE = {"set": "hanna", "only": ["Relevance", "Coherence", "Empathy"]}
FORMS: dict[str, dict[str, Any]] = {
    "text": {},
    "json path": {"eval_prompts": ["odd.jinja"]},
    "pattern": {"eval_prompts": ["odd.jinja"]},
    "labels": {"criteria": "labels.yaml"},
    "label path": {"criteria": "labels.yaml", "eval_prompts": ["odd.jinja"]},
    "choice": {"structured": "choice"},
    "choice of labels": {"structured": "choice", "criteria": "labels.yaml"},
    "json": {"structured": "json", "eval_prompts": ["ep2"]},
    "json of labels": {"structured": "json", "criteria": "labels.yaml", "eval_prompts": ["ep2"]},
    "logprobs": {"scoring": "logprobs"},
    "logprobs of labels": {"scoring": "logprobs", "criteria": "labels.yaml"},
    "joint": {"criteria": THREE, "eval_prompts": ["joint1"]},
    "joint json": {"criteria": THREE, "eval_prompts": ["joint1"], "structured": "json"},
    "comparisons": {"eval_prompts": ["pair2"], "pairs": "all"},
    "comparisons json": {"eval_prompts": ["pair2"], "pairs": "all", "structured": "json"},
    "comparisons logprobs": {"eval_prompts": ["pair2"], "pairs": "all", "scoring": "logprobs"},
}
GOOD = {
    "choice": "4",
    "choice of labels": "Yes",
    "json": '{"rating": 4}',
    "json of labels": '{"rating": "Yes"}',
    "joint json": json.dumps(dict.fromkeys(THREE["only"], 4)),
    "comparisons json": '{"verdict": "A"}',
    "logprobs": "Rating: 4",
    "logprobs of labels": "Strongly yes",
    "comparisons logprobs": "A",
}
"""An answer in the form. The run stops, and rightly, where a server's first ten answers are not in the form it was
asked for.
"""


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    form: str = request.param

    def give(number: int, handler: BaseHTTPRequestHandler) -> None:
        draw = random.Random(f"{form} {number}")
        # A server shows first that it keeps to the form; and odd log-probabilities matter beside a rating that is read.
        plain = form in GOOD and (number < 10 or ("logprobs" in form and draw.random() < 0.7))
        text = GOOD[form] if plain else odd_answers.text(draw)
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        if "logprobs" in form:
            choice["logprobs"] = odd_answers.logprobs(draw, text)
        send(handler, {"choices": [choice], "model": "mock"})

    made = Server(give)
    yield made
    made.close()


def _sitting(place: Path, form: str, url: str) -> Sitting:
    lines = [
        {"id": f"s{i}", "story_prompt": f"p{i // 5}", "system": f"m{i % 5}", "text": f"The lamp went out {i} times."}
        | {
            "ratings": [
                {"rater": rater, "criterion": "Overall", "value": 1 + (i + k) % 5} for k, rater in enumerate("ab")
            ]
        }
        for i in range(STORIES)
    ]
    (place / "stories.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    (place / "labels.yaml").write_text(LABELS)
    if form in PATHS:
        (place / "odd.jinja").write_text(f"---\nrating_pattern: '{PATHS[form]}'\n---\nRate {{{{ story }}}}\n")
    queries = 160 if "pairs" in FORMS[form] else STORIES
    data = {"name": "t", "dataset": "stories.jsonl", "judge": "openai/mock", "criteria": "overall"}
    data |= {"eval_prompts": ["ep1"], "base_url": url, "api_key_env": "none", "concurrency": 8, "attempt_timeout": 30.0}
    data |= {"max_attempts": 1, "repeats": ANSWERS // queries, "generation": {"seed": 1}} | FORMS[form]
    return Sitting(parse_run_spec(data, "test"), place, ResultFolder(place / "results"), quiet=True)


@pytest.mark.parametrize(("form", "server"), [(form, form) for form in FORMS], ids=list(FORMS), indirect=["server"])
def test_no_answer_stops_a_run_or_a_table(
    form: str, server: Server, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judgments, "LEAST", 0)  # parse each answer once, and read it in each table
    ended = sit(_sitting(tmp_path, form, server.url))
    assert len(server.asked) - 1 >= ANSWERS
    assert ended.outcomes.stopped is None
    assert ended.outcomes.answered + ended.outcomes.failed == ANSWERS
    assert ended.outcomes.answered > ANSWERS * 0.7
    results = tmp_path / "results"
    if "pairs" in FORMS[form]:
        frame = read_preferences([results]).frame
        shares = frame.filter(regex="probability").to_numpy(dtype=float)
        assert not ((shares < 0) | (shares > 1 + 1e-9)).any()
        tables = ["ratings", "rank", "report"]
    else:
        table = read([results])
        judged = table.frame.query("source == 'judge'")
        scale = table.facts[0].criteria[0].scale
        given = judged["rating"].dropna()
        assert given.between(scale.min, scale.max).all()
        assert judged["rating"].notna().eq(judged["status"] == "ok").all()
        assert np.isfinite(given).all()
        if "logprobs" in form:
            flags = judged["flags"].astype(str)
            assert flags.str.contains("unusable_logprobs").any()
            assert flags[judged["status"] == "ok"].str.contains("outside=").all()
        tables = ["ratings", "report"]
    for command in tables:
        options = ["-o", tmp_path / "report.html"] if command == "report" else []
        options += ["--preferences"] if command == "ratings" and "pairs" in FORMS[form] else []
        code, _, error = call(command, results, *options)
        assert code == 0, error
