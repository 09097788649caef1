"""Likelihood of a story given its story-prompt, and DeltaScore, its decrease when the story is perturbed."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from functools import partial

from judge.backends import Settings, open_scorer
from judge.backends.protocol import TokenLogprobs
from judge.base.fingerprint import text_key
from judge.base.records import Story
from judge.inputs.perturbations.perturbation import Material, Unfit, applied, maker, rng_of
from judge.lab.measures import Family, Item, Measure, Scored, Tools, Undefined, Value
from judge.lab.measures.encoders import of_scorers

# Likelihood of a story given its story-prompt: mean log-probability, perplexity, and mean of the least likely fifth.

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
LIKELIHOOD_FAMILIES = (
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


# DeltaScore (Xie et al. 2023): the decrease of a story's likelihood when the story is perturbed. The perturbations
# are those of `judge stress`, without a tagger. The random draws depend on the text alone, so equal stories have
# equal values.

PERTURBATIONS = ("typos", "word-shuffle", "sentence-shuffle")
STRENGTH, SEED = 4, 1


def perturbed(item: Item, name: str) -> str | Undefined:
    """The text after the perturbation `name`, or the reason why it cannot be perturbed."""
    story = Story(text_key(item.text), item.story_prompt, "", item.text)
    perturbation = maker(name)(Material(story), STRENGTH, rng_of(SEED, name, story.id))
    if isinstance(perturbation, Unfit):
        return Undefined(f"it cannot be perturbed: {perturbation.reason}")
    return applied(item.text, perturbation)


def _delta(name: str, items: Sequence[Item], tools: Tools) -> list[Scored]:
    texts = [perturbed(item, name) for item in items]
    whole = [(item.story_prompt, item.text) for item in items]
    changed = [(item.story_prompt, t) for item, t in zip(items, texts, strict=True) if not isinstance(t, Undefined)]
    answers = after_prompts([*whole, *changed], tools)
    others = iter(answers[len(whole) :])
    differences = []
    for text, before in zip(texts, answers, strict=False):
        if isinstance(text, Undefined):
            differences.append(Scored({"difference": text}))
            continue
        after = next(others)
        own, other = (values(answer.logprobs)["mean"] for answer in (before, after))
        if isinstance(own, Undefined) or isinstance(other, Undefined):
            differences.append(Scored({"difference": Undefined("no token has a log-probability")}))
            continue
        differences.append(Scored({"difference": own - other}, cut=before.truncated or after.truncated))
    return differences


def _family(name: str) -> Family:
    recipe = (
        f"mean log-probability of the story's tokens minus that of the story after {name} at strength {STRENGTH} "
        "(seed 1, drawn by the text), both given the story-prompt and a blank"
    )
    return Family(
        name=f"deltascore-{name}",
        source="Xie et al. 2023, DeltaScore; own perturbations",
        needs=("story-prompt", "lm"),
        score=partial(_delta, name),
        identity=of_scorers,
        measures=(Measure(f"deltascore-{name}", "difference", 1, recipe),),
    )


DELTA_SCORE_FAMILIES = tuple(_family(name) for name in PERTURBATIONS)

FAMILIES = (*LIKELIHOOD_FAMILIES, *DELTA_SCORE_FAMILIES)
