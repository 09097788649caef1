"""What each aspect makes of a sentence: grammar, capitals, articles, agreement, in plain texts and tokenized ones."""

from __future__ import annotations

import pytest

from judge.base.records import Story
from judge.inputs.perturbations.parse import Tagger
from judge.inputs.perturbations.perturbation import Material, Unfit, applied, maker, rng_of
from judge.inputs.wordnet import WordNet


def outcomes(name: str, text: str, tagger: Tagger, wordnet: WordNet, seeds: int = 40) -> set[str]:
    """All that the perturbation makes of a text, over seeds."""
    (tokens,) = tagger.tagged([text])
    material = Material(Story("s", "p", "x", text), tokens, wordnet=wordnet)
    made = (maker(name)(material, 1, rng_of(seed, name, "s")) for seed in range(seeds))
    return {applied(text, edits) for edits in made if not isinstance(edits, Unfit)}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("negation", "She likes the old house.", "She does not like the old house."),
        ("negation", "he went home .", "he did not go home ."),
        ("negation", "She was very tired.", "She was not very tired."),
        ("negation", "I don't like any of it.", "I like some of it."),
        ("negation", "he did n't eat anything .", "he ate something ."),
        ("negation", "we ca n't see the road .", "we can see the road ."),
        ("negation", "He never called her.", "He always called her."),
        ("negation", "Do n't touch it .", "Touch it ."),
        ("character", "She loves him.", "He loves her."),
        ("character", "The boy sees the dogs.", "The dogs see the boy."),
        ("character", "[MALE] thanked [FEMALE] .", "[FEMALE] thanked [MALE] ."),
        ("causal", "He stayed at home because it was raining .", "It was raining because he stayed at home ."),
        ("causal", "i was tired . so i went to bed .", "i went to bed . so i was tired ."),
        ("causal", "he ran to catch the bus .", "he caught the bus to run ."),
        ("temporal", "He left before dinner.", "He left after dinner."),
        ("temporal", "we ate dinner . then we went home .", "we went home . then we ate dinner ."),
        ("punctuation", "However , he left early .", "However he left early ."),
        ("punctuation", "He left, and she stayed.", "He left and she stayed."),
        ("contractions", "She did n't know .", "She did not know ."),
        ("contractions", "they are here . it 's late .", "they 're here . it 's late ."),
        ("contractions", "He doesn't know.", "He does not know."),
        ("contractions", "We can't go.", "We can not go."),
        ("contractions", "He is not here.", "He isn't here."),
        ("antonym", "It was an expensive car .", "It was a cheap car ."),
        ("synonyms", "She bought a car.", "She purchased a car."),
        ("synonyms", "Kids were asleep.", "Children were asleep."),
    ],
)
def test_one_change(name: str, text: str, expected: str, tagger: Tagger, wordnet: WordNet) -> None:
    assert expected in outcomes(name, text, tagger, wordnet)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("contractions", "the dog 's bone was in [FEMALE] 's house ."),
        ("contractions", "is that what he is ?"),
        ("negation", "Why did he leave ?"),
        ("causal", "he was so tired ."),
        ("temporal", "[MALE] met [FEMALE] ."),
        ("punctuation", "he has 1,000 dogs , cats , birds !"),
    ],
)
def test_what_stays(name: str, text: str, tagger: Tagger, wordnet: WordNet) -> None:
    assert outcomes(name, text, tagger, wordnet) == set()
