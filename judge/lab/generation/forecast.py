"""Forecast of the requests, tokens and cost of generating stories."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from judge.asking.execution.preparation import story_prompts_of
from judge.asking.plan import WritingPlan, load_prices, plan_of
from judge.asking.run_definition.writing import AnySpec
from judge.base.errors import SpecError
from judge.base.printing.tables import Column, Table

_CHARACTERS_PER_TOKEN = 4.0
# Usual ratios for English.
_TOKENS_PER_WORD = 1.4

# Guess for a story of which neither max_tokens nor a number of words says how long it may be.
_STORY_TOKENS = 700


def forecast_table(spec: AnySpec, folder: Path, limit: int | None = None) -> Table:
    """Table of one row: expected stories, tokens and dollars when one writer carries out `spec`. `folder` is that of
    the definition; `limit` counts story-prompts. Raises SpecError for a judge's run."""
    plan = plan_of(spec, folder=folder)
    if not isinstance(plan, WritingPlan):
        raise SpecError("this definition is a run's", hint="judge run RUN forecasts it")
    wanted = list(story_prompts_of(plan, folder).read())[:limit]
    lengths = [
        sum(len(message.content) for message in plan.commission(prompt_wanted, prompt).messages)
        for prompt_wanted in wanted
        for prompt in plan.writer_prompts
    ]
    stories = len(lengths) * plan.spec.stories_each
    each = _tokens(plan)
    prompt = round(fmean(lengths) / _CHARACTERS_PER_TOKEN * stories) if lengths else 0
    price = load_prices(spec.judge, spec.base_url, spec.engine)
    cost = None if price is None else price.cost(prompt, each * stories)
    row = {
        "writer": spec.judge,
        "story_prompts": len(wanted),
        "stories": stories,
        "prompt_tokens": prompt,
        "tokens": each * stories,
        "cost": cost,
    }
    columns = [
        Column("writer", "writer"),
        Column("story_prompts", "story-prompts"),
        Column("stories", "stories"),
        Column("prompt_tokens", "prompt tokens"),
        Column("tokens", "tokens of stories"),
        Column("cost", "cost", money=True),
    ]
    notes = ["tokens are estimated: 4 characters each in prompts, and each story as long as it may be, or 700 tokens"]
    return Table("Forecast", columns, [row], f"forecast of {spec.name}, {spec.judge}", notes)


def _tokens(plan: WritingPlan) -> int:
    asked = _STORY_TOKENS if plan.spec.words is None else round(plan.spec.words[1] * _TOKENS_PER_WORD)
    # The maximum: from the requested length, or max_tokens if smaller.
    return min(asked, plan.spec.generation.max_tokens or asked)
