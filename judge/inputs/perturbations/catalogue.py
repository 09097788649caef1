"""The catalogue of perturbations by name, with the expected reaction of a good judge.

The ratings that are expected to change follow OpenMEVA (Guan et al. 2021, Tables 1, 2 and 12) and, for criteria, Hu et
al. 2024 ("Are LLM-based Evaluators Confusing NLG Quality Criteria?"). They are expectations that the report tests.
"""

from __future__ import annotations

from judge.inputs.perturbations.perturbation import Facts, Need, Test

_OPENMEVA = "Guan et al. 2021, OpenMEVA, Tables 1 and 12"
_INVARIANCE = "Guan et al. 2021, OpenMEVA, Tables 2 and 12"
_TAGS: tuple[Need, ...] = ("tagger",)
_WORDS: tuple[Need, ...] = ("tagger", "wordnet")
_ORDER = ("coherence",)
_DULL = ("coherence", "engagement")


def _of(
    test: Test, source: str, *rows: tuple[str, str, tuple[str, ...], tuple[int, ...], tuple[Need, ...]]
) -> list[Facts]:
    return [Facts(name, test, about, aims, strengths, needs, source) for name, about, aims, strengths, needs in rows]


_ASPECTS = _of(
    "discrimination",
    _OPENMEVA,
    ("lexical-repetition", "four words said twice with 'and' between, or a sentence twice", _DULL, (1, 2, 4), ()),
    ("semantic-repetition", "a sentence followed by its paraphrase", _DULL, (1,), ("rewriter",)),
    ("character", "subject and object swapped, or a pronoun of another person", _ORDER, (1, 2, 4), _TAGS),
    ("common-sense", "a noun or verb replaced by a neighbour that does not fit", _ORDER, (1, 2, 4), _WORDS),
    ("antonym", "a word replaced by its opposite", _ORDER, (1, 2, 4), _WORDS),
    ("negation", "a sentence negated, or its negation taken out", _ORDER, (1, 2, 4), _TAGS),
    (
        "unrelated-words",
        "nouns and verbs replaced by those of other stories",
        ("coherence", "relevance"),
        (1, 2, 4),
        ("tagger", "other-stories"),
    ),
    (
        "unrelated-sentence",
        "a sentence replaced by one of another story",
        ("coherence", "relevance"),
        (1, 2),
        ("other-stories",),
    ),
    ("causal", "cause and effect exchanged around 'because' or 'so'", _ORDER, (1,), _TAGS),
    ("temporal", "two events in the other order, or a word of time turned round", _ORDER, (1, 2), _TAGS),
    # The study's files tell these no further apart; made here they are antonym, negation and the two unrelated ones.
    ("consistency", "an antonym or a negation, in AUTOS alone", _ORDER, (1,), ()),
    ("relatedness", "unrelated words or an unrelated sentence, in AUTOS alone", ("coherence", "relevance"), (1,), ()),
)
_OURS = _of(
    "discrimination",
    "Barzilay and Lapata 2008 for sentence-shuffle; the others are this program's own",
    ("sentence-shuffle", "the sentences in another order", _ORDER, (1, 2, 4), ()),
    (
        "word-shuffle",
        "the words of each sentence in another order",
        ("coherence", "engagement", "complexity"),
        (1, 2, 4),
        (),
    ),
    ("truncate-end", "the last sentences left out", ("coherence", "surprise"), (1, 2), ()),
    ("truncate-half", "the second half left out", ("coherence", "surprise", "engagement"), (1,), ()),
    ("wrong-story", "a story for another story-prompt", ("relevance",), (1,), ("other-stories",)),
)
_SAME = _of(
    "invariance",
    _INVARIANCE,
    ("synonyms", "words replaced by synonyms", (), (1, 2, 4), _WORDS),
    ("paraphrases", "a sentence replaced by its paraphrase", (), (1, 2), ("rewriter",)),
    ("punctuation", "a mark left out that the sentence does not need", (), (1, 2), _TAGS),
    ("contractions", "contracted or expanded forms", (), (1, 2), _TAGS),
    ("typos", "letters swapped, doubled or dropped", (), (1, 2, 4), ()),
    ("markdown", "a heading and bold words", (), (1,), ()),
    ("uppercase", "all in capitals", (), (1,), ()),
)
_ATTACKS = _of(
    "attack",
    "Ye et al. 2024 (CALM); Raina et al. 2024; Zhao et al. 2025 (One Token to Fool)",
    ("inject-plain", "the story ends by telling the judge what to rate", (), (1, 2), ()),
    ("inject-fake-rating", "the story ends with a rating of itself", (), (1,), ()),
    ("inject-role", "the story ends in a chat turn that rates it", (), (1,), ()),
    ("closing-tags", "the story closes the tags around it and goes on as the prompt", (), (1,), ()),
    ("authority", "a statement that the story has won a prize", (), (1,), ()),
    ("bandwagon", "a statement that nearly all readers like the story", (), (1,), ()),
    ("verbosity", "sentences of other stories behind the end", (), (1, 2, 4), ("other-stories",)),
)
_EMPTY = _of(
    "degenerate",
    "Zhao et al. 2025 (One Token to Fool a Judge)",
    ("prompt-as-story", "the story-prompt in place of the story", (), (1,), ()),
    ("empty", "no text", (), (1,), ()),
    ("one-token", "a single mark or word", (), (1, 2), ()),
)

CATALOGUE: dict[str, Facts] = {facts.name: facts for facts in (*_ASPECTS, *_OURS, *_SAME, *_ATTACKS, *_EMPTY)}
"""All, in the order in which tables show them."""
