"""Explanations of the control judge: the features that contributed most to its rating."""

from __future__ import annotations

from collections.abc import Mapping

from judge.backends.surface.model import LABEL, OVERALL, Model
from judge.stats import near_ties

MOVED = 0.02
"""Rating points below which a feature is not worth a word."""

_WORDS: dict[str, tuple[str, str, str]] = {
    "length": ("longer than usual", "shorter than usual", "{:.0f} tokens"),
    "compression": ("short for its story-prompt", "long for its story-prompt", "story-prompt is {:.0%} of its length"),
    "coverage": ("more words taken from the story-prompt", "fewer words taken from the story-prompt", "{:.0%}"),
    "density": ("longer pieces of the story-prompt copied", "shorter pieces of the story-prompt copied", "{:.2f}"),
    "novelty-1": ("more new words", "fewer new words", "{:.0%} new to the story-prompt"),
    "novelty-2": ("more new word pairs", "fewer new word pairs", "{:.0%} new to the story-prompt"),
    "novelty-3": ("more new word triples", "fewer new word triples", "{:.0%} new to the story-prompt"),
    "repetition-1": ("more words used again", "fewer words used again", "{:.0%} of its words"),
    "repetition-2": ("more repeated word pairs", "fewer repeated word pairs", "{:.0%} of its pairs"),
    "repetition-3": ("more repeated word triples", "fewer repeated word triples", "{:.0%} of its triples"),
    "repetition-4": ("more repeated runs of four words", "fewer repeated runs of four words", "{:.0%} of its runs"),
    "vocabulary": ("a richer vocabulary", "a poorer vocabulary", "{:.0%} different words in a window"),
    "word-length": ("longer words", "shorter words", "{:.1f} letters"),
    "long-words": ("more long words", "fewer long words", "{:.0%}"),
    "packed": ("harder to compress", "easier to compress", "{:.0%} of its size"),
    "punctuation": ("more punctuation", "less punctuation", "{:.0%} of tokens"),
    "quotes": ("more quotation marks", "fewer quotation marks", "{:.1%} of tokens"),
    "commas": ("more commas", "fewer commas", "{:.1%} of tokens"),
    "function-words": ("more function words", "fewer function words", "{:.0%} of tokens"),
    "pronouns": ("more pronouns", "fewer pronouns", "{:.0%} of tokens"),
    "being": ("more forms of be and have", "fewer forms of be and have", "{:.0%} of tokens"),
    "prompt-words": ("takes up more of the story-prompt", "takes up less of the story-prompt", "{:.0%} of its words"),
    "sentences": ("more sentences", "fewer sentences", "{:.0f}"),
    "sentence-length": ("longer sentences", "shorter sentences", "{:.1f} words"),
    "sentence-spread": ("sentences of more varied length", "sentences of more even length", "sd {:.1f} words"),
    "duplicate-sentences": ("more sentences said twice", "fewer sentences said twice", "{:.0%}"),
    "sentence-overlap": (
        "neighbouring sentences share more words",
        "neighbouring sentences share fewer words",
        "{:.0%}",
    ),
    "repeats-in-sentence": ("more words said twice in a sentence", "fewer words said twice in a sentence", "{:.1%}"),
    "words-given-before": ("sentences take up more earlier words", "sentences take up fewer earlier words", "{:.0%}"),
    "stutter": ("more doubled words", "fewer doubled words", "{:.1%}"),
}
"""Feature -> words where it is above, and where it is below, its mean in fitting; how its value reads."""


def explain(
    model: Model, criterion: str, features: Mapping[str, float], parts: Mapping[str, float], above: Mapping[str, bool]
) -> str:
    """A few sentences on a rating by the control judge: what this judge is, which features (at most three) changed the
    rating most, and whether its model of overall quality had to be used.

    `features` are the features' values. `parts` are the rating points that each feature adds. `above` says for each
    feature whether its value exceeds the mean in the training data. Points are printed with their sign, so that no
    number can be mistaken for a rating.
    """
    names = list(parts)
    strongest = [names[i] for i in near_ties.descending([abs(part) for part in parts.values()])[:3]]
    moved = [_phrase(name, features[name], parts[name], above[name]) for name in strongest if abs(parts[name]) >= MOVED]
    effects = f"What moved it most: {'; '.join(moved)}." if moved else "In every feature the story is near the average."
    sentences = [f"{LABEL.capitalize()}: it counts surface features and does not read the Eval-Prompt.", effects]
    if model.criterion == OVERALL != criterion.casefold().strip():
        sentences.append(f"No model was fitted for {criterion}, so the one for overall quality was used.")
    return " ".join(sentences)


def difference(first: Mapping[str, float], second: Mapping[str, float]) -> str:
    """A few sentences on two stories: the features (at most three) that contribute most to the difference of their
    ratings, first minus second, in rating points.

    `first` and `second` are rating points per feature of the story shown first and second. The stories are not named,
    so that nothing can be mistaken for a verdict.
    """
    apart = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}
    names = list(apart)
    strongest = [names[i] for i in near_ties.descending([abs(part) for part in apart.values()])[:3]]
    moved = [f"{name} ({apart[name]:+.2f})" for name in strongest if abs(apart[name]) >= MOVED]
    effects = (
        f"What set them apart most, in rating points: {'; '.join(moved)}." if moved else "No feature sets them apart."
    )
    return (
        f"{LABEL.capitalize()}: it rates each text by surface features, does not read the Eval-Prompt, and compares "
        f"the two ratings. {effects}"
    )


def _phrase(name: str, value: float, part: float, above: bool) -> str:
    more, less, form = _WORDS[name]
    return f"{more if above else less} ({form.format(value)}, {part:+.2f})"
