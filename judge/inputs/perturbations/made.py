"""Maps the name of a perturbation to its function, which is imported at its first use."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from judge.base.errors import SpecError, unknown
from judge.inputs.perturbations.perturbation import Change

MADE: dict[str, str] = {
    "lexical-repetition": "judge.inputs.perturbations.aspects.lexical_repetition:change",
    "negation": "judge.inputs.perturbations.aspects.negation:change",
    "sentence-shuffle": "judge.inputs.perturbations.whole_story.sentence_shuffle:change",
    "antonym": "judge.inputs.perturbations.aspects.antonym:change",
    "character": "judge.inputs.perturbations.aspects.character:change",
    "causal": "judge.inputs.perturbations.aspects.causal:change",
    "temporal": "judge.inputs.perturbations.aspects.temporal:change",
    "common-sense": "judge.inputs.perturbations.aspects.common_sense:change",
    "unrelated-words": "judge.inputs.perturbations.aspects.unrelated_words:change",
    "unrelated-sentence": "judge.inputs.perturbations.aspects.unrelated_sentence:change",
    "synonyms": "judge.inputs.perturbations.invariance.synonyms:change",
    "punctuation": "judge.inputs.perturbations.invariance.punctuation:change",
    "contractions": "judge.inputs.perturbations.invariance.contractions:change",
    "typos": "judge.inputs.perturbations.invariance.typos:change",
    "semantic-repetition": "judge.inputs.perturbations.aspects.semantic_repetition:change",
    "word-shuffle": "judge.inputs.perturbations.whole_story.shuffled_words:word_shuffle",
    "truncate-end": "judge.inputs.perturbations.whole_story.truncated:truncate_end",
    "truncate-half": "judge.inputs.perturbations.whole_story.truncated:truncate_half",
    "wrong-story": "judge.inputs.perturbations.whole_story.replaced:wrong_story",
    "paraphrases": "judge.inputs.perturbations.invariance.paraphrases:change",
    "markdown": "judge.inputs.perturbations.invariance.dressed:markdown",
    "uppercase": "judge.inputs.perturbations.invariance.dressed:uppercase",
    "inject-plain": "judge.inputs.perturbations.attacks.written_around:inject_plain",
    "inject-fake-rating": "judge.inputs.perturbations.attacks.written_around:inject_fake_rating",
    "inject-role": "judge.inputs.perturbations.attacks.written_around:inject_role",
    "closing-tags": "judge.inputs.perturbations.attacks.written_around:closing_tags",
    "authority": "judge.inputs.perturbations.attacks.written_around:authority",
    "bandwagon": "judge.inputs.perturbations.attacks.written_around:bandwagon",
    "verbosity": "judge.inputs.perturbations.attacks.padded:verbosity",
    "prompt-as-story": "judge.inputs.perturbations.whole_story.replaced:prompt_as_story",
    "empty": "judge.inputs.perturbations.whole_story.replaced:empty",
    "one-token": "judge.inputs.perturbations.whole_story.replaced:one_token",
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
