"""The gate that rewordings pass, with a real sentence encoder: likeness in meaning, not in words."""

from __future__ import annotations

from judge.lab.stress.rewording import nearness, overlap

SENTENCE = "He was out jogging one morning."
PARAPHRASE = "He went jogging in the morning."
LOOSE = "One morning he went for a run outside."
OTHER_TOPIC = "The bank raised its interest rates again."
SAME_WORDS = "One morning the jogging shop was robbed."


def test_a_paraphrase_passes_and_another_meaning_does_not(minilm: str) -> None:
    """Cosines .92, .76, .11 and .56 by all-MiniLM-L6-v2; .8 is asked for."""
    others = (SENTENCE, PARAPHRASE, LOOSE, OTHER_TOPIC, SAME_WORDS)
    assert nearness([(SENTENCE, other) for other in others], minilm) == [True, True, False, False, False]


def test_the_encoder_refuses_what_words_alone_let_pass(minilm: str) -> None:
    assert overlap(SENTENCE, SAME_WORDS) == 1
    assert nearness([(SENTENCE, SAME_WORDS)], None) == [True]
    assert nearness([(SENTENCE, SAME_WORDS)], minilm) == [False]
    assert nearness([], minilm) == []
