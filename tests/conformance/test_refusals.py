"""Documented refusals of many providers: what each means, which setting it refuses, and when to come back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from judge.backends.refusal_kinds import read_refusal

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "refusals.yaml").read_text(encoding="utf-8"))

VALUES: dict[str, Any] = {
    "max_tokens": 256,
    "max_completion_tokens": 256,
    "n": 3,
    "temperature": 0.0,
    "top_p": 0.9,
    "seed": 7,
    "stop": ["###"],
    "logprobs": True,
    "top_logprobs": 20,
    "thinkingConfig": {"thinkingBudget": 0},
    "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "rating", "schema": {"type": "object"}}},
}
"""What a request asks for under each setting."""

STORY = "The lamp on the quay went out, and nobody stopped to light it again: no seed of a doubt in the whole system."
"""A story with words that are names of settings too."""


def sent(case: dict[str, Any]) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": STORY}], **{k: VALUES[k] for k in case["asks"]}}


def named(case: dict[str, Any]) -> str:
    return f"{case['provider']}: {case['case']}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_documented_refusal_is_read_rightly(case: dict[str, Any]) -> None:
    body = case["body"] if isinstance(case["body"], str) else orjson.dumps(case["body"]).decode()
    found = read_refusal(case["status"], case.get("headers", {}), body.encode(), sent(case))
    kinds = case["kind"] if isinstance(case["kind"], list) else [case["kind"]]
    assert found.kind in kinds, found.said.words
    assert sorted(found.settings) == sorted(case.get("settings", []))
    retry = case.get("retry")
    if isinstance(retry, list):
        assert found.retry_after is not None
        assert retry[0] <= found.retry_after <= retry[1]
    elif retry is not None:
        assert found.retry_after == pytest.approx(retry)


@pytest.mark.parametrize("case", [case for case in CASES if case.get("settings")], ids=named)
def test_a_setting_that_was_not_sent_is_never_blamed(case: dict[str, Any]) -> None:
    without = {key: value for key, value in sent(case).items() if key not in case["settings"]}
    found = read_refusal(case["status"], case.get("headers", {}), orjson.dumps(case["body"]), without)
    assert not set(found.settings) & set(case["settings"])


def test_the_collection_is_as_broad_as_it_says() -> None:
    assert len(CASES) >= 40
    assert len({case["provider"] for case in CASES}) >= 15
    assert len(set(map(named, CASES))) == len(CASES)
    kinds = Counter(
        kind for case in CASES for kind in ([case["kind"]] if isinstance(case["kind"], str) else case["kind"])
    )
    assert set(kinds) >= {"rate", "quota", "auth", "model", "api", "context", "filtered", "overload", "truncated"}
    assert kinds["capability"] >= 15
    assert all(case["source"] and case["evidence"] in ("documented", "reported", "imitation") for case in CASES)
    assert all({"provider", "case", "status", "body", "asks", "kind"} <= set(case) for case in CASES)
