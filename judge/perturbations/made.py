"""Which function makes which perturbation. Each is imported when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from judge.errors import SpecError, unknown
from judge.perturbations.perturbation import Change

MADE: dict[str, str] = {
    "lexical-repetition": "judge.perturbations.lexical_repetition:change",
    "negation": "judge.perturbations.negation:change",
    "sentence-shuffle": "judge.perturbations.sentence_shuffle:change",
    "antonym": "judge.perturbations.antonym:change",
    "character": "judge.perturbations.character:change",
    "causal": "judge.perturbations.causal:change",
    "temporal": "judge.perturbations.temporal:change",
    "common-sense": "judge.perturbations.common_sense:change",
    "unrelated-words": "judge.perturbations.unrelated_words:change",
    "unrelated-sentence": "judge.perturbations.unrelated_sentence:change",
    "synonyms": "judge.perturbations.synonyms:change",
    "punctuation": "judge.perturbations.punctuation:change",
    "contractions": "judge.perturbations.contractions:change",
    "typos": "judge.perturbations.typos:change",
    "semantic-repetition": "judge.perturbations.reworded:semantic_repetition",
    "word-shuffle": "judge.perturbations.shuffled_words:word_shuffle",
    "truncate-end": "judge.perturbations.truncated:truncate_end",
    "truncate-half": "judge.perturbations.truncated:truncate_half",
    "wrong-story": "judge.perturbations.replaced:wrong_story",
    "paraphrases": "judge.perturbations.reworded:paraphrases",
    "markdown": "judge.perturbations.dressed:markdown",
    "uppercase": "judge.perturbations.dressed:uppercase",
    "inject-plain": "judge.perturbations.attacks:inject_plain",
    "inject-fake-rating": "judge.perturbations.attacks:inject_fake_rating",
    "inject-role": "judge.perturbations.attacks:inject_role",
    "closing-tags": "judge.perturbations.attacks:closing_tags",
    "authority": "judge.perturbations.attacks:authority",
    "bandwagon": "judge.perturbations.attacks:bandwagon",
    "verbosity": "judge.perturbations.padded:verbosity",
    "prompt-as-story": "judge.perturbations.replaced:prompt_as_story",
    "empty": "judge.perturbations.replaced:empty",
    "one-token": "judge.perturbations.replaced:one_token",
}
"""Name -> module:function. Names of the catalogue that are not here cannot be made yet."""


@cache
def maker(name: str) -> Change:
    """The function that makes a perturbation. SpecError for one that is not known."""
    if name not in MADE:
        raise SpecError(unknown("perturbation", name, MADE))
    module, _, function = MADE[name].partition(":")
    found: Change = getattr(import_module(module), function)
    return found
