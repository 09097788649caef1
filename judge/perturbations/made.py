"""Maps the name of a perturbation to its function, which is imported at its first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from judge.errors import SpecError, unknown
from judge.perturbations.perturbation import Change

MADE: dict[str, str] = {
    "lexical-repetition": "judge.perturbations.aspects.lexical_repetition:change",
    "negation": "judge.perturbations.aspects.negation:change",
    "sentence-shuffle": "judge.perturbations.whole_story.sentence_shuffle:change",
    "antonym": "judge.perturbations.aspects.antonym:change",
    "character": "judge.perturbations.aspects.character:change",
    "causal": "judge.perturbations.aspects.causal:change",
    "temporal": "judge.perturbations.aspects.temporal:change",
    "common-sense": "judge.perturbations.aspects.common_sense:change",
    "unrelated-words": "judge.perturbations.aspects.unrelated_words:change",
    "unrelated-sentence": "judge.perturbations.aspects.unrelated_sentence:change",
    "synonyms": "judge.perturbations.invariance.synonyms:change",
    "punctuation": "judge.perturbations.invariance.punctuation:change",
    "contractions": "judge.perturbations.invariance.contractions:change",
    "typos": "judge.perturbations.invariance.typos:change",
    "semantic-repetition": "judge.perturbations.aspects.semantic_repetition:change",
    "word-shuffle": "judge.perturbations.whole_story.shuffled_words:word_shuffle",
    "truncate-end": "judge.perturbations.whole_story.truncated:truncate_end",
    "truncate-half": "judge.perturbations.whole_story.truncated:truncate_half",
    "wrong-story": "judge.perturbations.whole_story.replaced:wrong_story",
    "paraphrases": "judge.perturbations.invariance.paraphrases:change",
    "markdown": "judge.perturbations.invariance.dressed:markdown",
    "uppercase": "judge.perturbations.invariance.dressed:uppercase",
    "inject-plain": "judge.perturbations.attacks.written_around:inject_plain",
    "inject-fake-rating": "judge.perturbations.attacks.written_around:inject_fake_rating",
    "inject-role": "judge.perturbations.attacks.written_around:inject_role",
    "closing-tags": "judge.perturbations.attacks.written_around:closing_tags",
    "authority": "judge.perturbations.attacks.written_around:authority",
    "bandwagon": "judge.perturbations.attacks.written_around:bandwagon",
    "verbosity": "judge.perturbations.attacks.padded:verbosity",
    "prompt-as-story": "judge.perturbations.whole_story.replaced:prompt_as_story",
    "empty": "judge.perturbations.whole_story.replaced:empty",
    "one-token": "judge.perturbations.whole_story.replaced:one_token",
}
"""Name -> module:function. Names of the catalogue that are not here cannot be made yet."""


@cache
def maker(name: str) -> Change:
    """The function that makes the named perturbation. Raises SpecError for an unknown name."""
    if name not in MADE:
        raise SpecError(unknown("perturbation", name, MADE))
    module, _, function = MADE[name].partition(":")
    change: Change = getattr(import_module(module), function)
    return change
