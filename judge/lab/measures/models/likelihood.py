"""Likelihood of a story given its story-prompt: mean log-probability, perplexity, and mean of the least likely
fifth."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from judge.backends import Settings, open_scorer
from judge.backends.protocol import TokenLogprobs
from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools, Undefined, Value
from judge.lab.measures.models.sentence_cosine import of_scorers

LEAST = 0.2
# Stands between story-prompt and story.
BETWEEN = " "

_AT_ONCE = 64


def _likelihood(items: Sequence[Item], tools: Tools) -> list[Scored]:
    answers = after_prompts([(item.story_prompt, item.text) for item in items], tools)
    return [Scored(values(logprobs.logprobs), cut=logprobs.truncated) for logprobs in answers]


def after_prompts(pairs: Sequence[tuple[str, str]], tools: Tools) -> list[TokenLogprobs]:
    """Token log-probabilities of each (story-prompt, text): the text is scored after its story-prompt and a space."""
    return asyncio.run(_sitting(pairs, tools))


async def _sitting(pairs: Sequence[tuple[str, str]], tools: Tools) -> list[TokenLogprobs]:
    scorer = open_scorer(tools.models["lm"], Settings())
    # Neighbours in length fill batches best; what is done is told after each lot.
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][1]))
    by_pair: dict[int, TokenLogprobs] = {}
    try:
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            answers = await scorer.token_logprobs(
                [pairs[i][1] for i in some], prefix=[pairs[i][0] + BETWEEN for i in some]
            )
            by_pair |= dict(zip(some, answers, strict=True))
            if tools.progress is not None:
                tools.progress("log-probabilities", len(by_pair), len(pairs))
    finally:
        await scorer.close()
    return [by_pair[i] for i in range(len(pairs))]


def values(logprobs: Sequence[float]) -> dict[str, Value]:
    """Mean log-probability (`mean`), perplexity (`perplexity`) and mean log-probability of the least likely fifth
    (`least`) of the tokens of one text."""
    finite = sorted(value for value in logprobs if not math.isnan(value))
    if not finite:
        return dict.fromkeys(("mean", "perplexity", "least"), Undefined("no token has a log-probability"))
    mean = math.fsum(finite) / len(finite)
    least = finite[: max(1, round(LEAST * len(finite)))]
    perplexity: Value = math.exp(-mean) if mean > _SMALLEST else Undefined("the perplexity is too large for a number")
    return {"mean": mean, "perplexity": perplexity, "least": math.fsum(least) / len(least)}


_SMALLEST = -700.0
_GIVEN = "of the story's tokens given the story-prompt, a blank and the tokens before"
FAMILIES = (
    Family(
        name="likelihood",
        source="own, by the scorers of judge contamination",
        needs=("story-prompt", "lm"),
        score=_likelihood,
        identity=of_scorers,
        measures=(
            Measure("mean-log-p", "mean", 1, f"mean natural log-probability {_GIVEN}"),
            Measure("perplexity", "perplexity", -1, f"exponential of minus the mean log-probability {_GIVEN}"),
            Measure("least-log-p", "least", 1, f"mean log-probability of the least likely fifth {_GIVEN}"),
        ),
    ),
)
