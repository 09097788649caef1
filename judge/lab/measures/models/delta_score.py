"""DeltaScore (Xie et al. 2023): the decrease of a story's likelihood when the story is perturbed. The perturbations are
those of `judge stress`, without a tagger. The random draws depend on the text alone, so equal stories have equal
values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from judge.base.fingerprint import text_key
from judge.base.records import Story
from judge.inputs.perturbations.perturbation import Material, Unfit, applied, maker, rng_of
from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools, Undefined
from judge.lab.measures.models.likelihood import after_prompts, values
from judge.lab.measures.models.sentence_cosine import of_scorers

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


FAMILIES = tuple(_family(name) for name in PERTURBATIONS)
