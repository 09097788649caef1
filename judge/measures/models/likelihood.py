"""How likely a language model finds a story after its story-prompt: mean log-probability, perplexity, least likely."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from judge.backends import Settings, open_scorer
from judge.measures.measure import Family, Item, Measure, Scored, Tools, Undefined, Value
from judge.measures.models.identity import of_scorers

LEAST = 0.2
BETWEEN = " "
"""Stands between story-prompt and story."""

_AT_ONCE = 64


def _likelihood(items: Sequence[Item], tools: Tools) -> list[Scored]:
    return asyncio.run(_sitting(items, tools))


async def _sitting(items: Sequence[Item], tools: Tools) -> list[Scored]:
    scorer = open_scorer(tools.models["lm"], Settings())
    # Neighbours in length fill batches best; what is done is told after each lot.
    order = sorted(range(len(items)), key=lambda i: len(items[i].text))
    found: dict[int, Scored] = {}
    try:
        for start in range(0, len(order), _AT_ONCE):
            some = order[start : start + _AT_ONCE]
            answers = await scorer.token_logprobs(
                [items[i].text for i in some], prefix=[items[i].story_prompt + BETWEEN for i in some]
            )
            found |= {i: Scored(values(one.logprobs), cut=one.truncated) for i, one in zip(some, answers, strict=True)}
            if tools.progress is not None:
                tools.progress("log-probabilities", len(found), len(items))
    finally:
        await scorer.close()
    return [found[i] for i in range(len(items))]


def values(logprobs: Sequence[float]) -> dict[str, Value]:
    """The three numbers of one text's tokens."""
    known = sorted(one for one in logprobs if not math.isnan(one))
    if not known:
        return dict.fromkeys(("mean", "perplexity", "least"), Undefined("no token has a log-probability"))
    mean = math.fsum(known) / len(known)
    least = known[: max(1, round(LEAST * len(known)))]
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
