"""A pilot's forecast against what the whole run is billed, in all the shapes that calls have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.pilot import measure
from judge.asking.execution.preparation import dataset_of, first_stories
from judge.asking.execution.session import Sitting, sit
from judge.asking.plan import Forecast, Price, forecast, make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from tests.server.meter import Meter, metered

STORIES = 30
PILOT = 10


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    """Stories of 30 to 300 words. Those of the pilot are shorter than most."""
    lines = [
        {
            "id": f"s{i:02}",
            "story_prompt": f"Story-prompt {i // 3:02}",
            "system": f"system{i % 3}",
            "text": "The lamp on the quay went out once more. " * (4 + i // 2 + i % 7),
        }
        for i in range(STORIES)
    ]
    path = tmp_path / "stories.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    return path


def sitting(meter: Meter, stories: Path, limit: int | None = None, **changes: Any) -> Sitting:
    data: dict[str, Any] = {
        "name": "t",
        "dataset": str(stories),
        "judge": "openai/mock",
        "criteria": {"set": "hanna", "only": ["Coherence", "Empathy"]},
        "eval_prompts": ["ep1", "ep2"],
        "base_url": meter.url,
        "concurrency": 8,
    }
    spec = parse_run_spec(data | changes, "test")
    return Sitting(spec, stories.parent, ResultFolder(stories.parent / "results"), limit=limit, quiet=True)


def forecast_of(asked: Sitting, price: Price | None = None) -> Forecast:
    plan = make_plan(asked.spec)
    dataset = dataset_of(plan, asked.folder)
    return forecast(
        plan,
        first_stories(dataset, asked.limit),
        asked.limit or STORIES,
        price=price,
        one_call=asked.spec.generation.seed is None,
        measured=measure(asked.result, plan),
    )


@pytest.mark.parametrize(
    ("repeats", "shape"), [(1, "honour"), (5, "honour"), (3, "ignore"), (1, "refuse"), (3, "refuse"), (3, "seed")]
)
def test_a_pilot_forecasts_what_the_whole_run_is_billed(stories: Path, repeats: int, shape: str) -> None:
    changes: dict[str, Any] = {"repeats": repeats}
    if shape == "seed":
        changes["generation"] = {"seed": 1}
    with metered(n="honour" if shape == "seed" else shape) as meter:
        sit(sitting(meter, stories, PILOT, **changes))
        whole = sitting(meter, stories, **changes)
        told = forecast_of(whole, Price(3.0, 9.0))
        assert sit(whole).missing == 0
    with JournalReader(whole.result.journal) as journal:
        used = journal.totals()
    one_call = shape == "honour"
    assert told.answers == STORIES * 4 * repeats
    assert told.calls == pytest.approx(STORIES * 4 * (1 if one_call else repeats), rel=0.01)
    assert used.prompt_tokens is not None
    assert used.completion_tokens is not None
    assert told.prompt_tokens == pytest.approx(used.prompt_tokens, rel=0.01)
    assert told.completion_tokens == pytest.approx(used.completion_tokens, rel=0.01)
    assert told.cost == pytest.approx(Price(3.0, 9.0).cost(used.prompt_tokens, used.completion_tokens), rel=0.01)
    # What the server billed beside the run: its probes.
    assert meter.prompt_tokens == pytest.approx(used.prompt_tokens, rel=0.01)


def test_a_pilot_of_one_answer_follows_the_calls_that_are_planned(stories: Path) -> None:
    with metered() as meter:
        sit(sitting(meter, stories, PILOT))
        grown = forecast_of(sitting(meter, stories, repeats=5))
        seeded = forecast_of(sitting(meter, stories, repeats=5, generation={"seed": 1}))
    assert grown.calls == STORIES * 4
    assert seeded.calls == STORIES * 4 * 5
    assert seeded.prompt_tokens == pytest.approx(5 * grown.prompt_tokens, rel=1e-4)


@pytest.mark.parametrize("pilot", [1, PILOT])
def test_tokens_that_do_not_grow_with_the_prompt_are_not_made_to(stories: Path, pilot: int) -> None:
    with metered(per_prompt=100) as meter:
        sit(sitting(meter, stories, pilot, repeats=5, generation={"seed": 1}))
        told = forecast_of(sitting(meter, stories, repeats=5, generation={"seed": 1}))
    assert told.prompt_tokens == STORIES * 4 * 5 * 100


def test_a_limit_forecasts_the_stories_that_it_asks_about(stories: Path) -> None:
    with metered() as meter:
        sit(sitting(meter, stories, PILOT))
        told = forecast_of(sitting(meter, stories, 2 * PILOT))
        sit(sitting(meter, stories, 2 * PILOT))
    assert told.prompt_tokens == pytest.approx(meter.prompt_tokens, rel=0.01)


def test_cached_tokens_are_forecast_at_the_share_of_the_pilot(stories: Path) -> None:
    def half_cached(prompt: int, completion: int) -> dict[str, Any]:
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": prompt // 2},
        }

    price = Price(2.0, 8.0, cached=0.2)
    with metered(usage=half_cached) as meter:
        sit(sitting(meter, stories, PILOT))
        told = forecast_of(sitting(meter, stories), price)
    expected = price.cost(told.prompt_tokens, told.completion_tokens, told.prompt_tokens / 2)
    assert told.cost == pytest.approx(expected, rel=0.01)


def test_the_cost_that_a_server_names_is_forecast_without_a_price(stories: Path) -> None:
    def named(prompt: int, completion: int) -> dict[str, Any]:
        return {"prompt_tokens": prompt, "completion_tokens": completion, "cost": (prompt + 3 * completion) / 1e6}

    with metered(usage=named) as meter:
        sit(sitting(meter, stories, PILOT, repeats=2))
        told = forecast_of(sitting(meter, stories, repeats=2), Price(99.0, 99.0))
        sit(sitting(meter, stories, repeats=2))
    assert told.cost == pytest.approx((meter.prompt_tokens + 3 * meter.completion_tokens) / 1e6, rel=0.01)


def test_a_server_that_tells_no_tokens_leaves_the_forecast_an_estimate(stories: Path) -> None:
    with metered(usage=lambda _prompt, _completion: {}) as meter:
        sit(sitting(meter, stories, PILOT))
        told = forecast_of(sitting(meter, stories))
    assert "estimated" in told.basis
    assert told.seconds is not None
