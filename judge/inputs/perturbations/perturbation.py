"""The types of a perturbation: its description, its input, the function that changes one story, and the facts file
beside changed stories."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple, Protocol, TypeVar

import orjson

from judge.base.errors import SpecError, unknown
from judge.base.fingerprint import digest
from judge.base.late_pattern import late
from judge.base.records import Story
from judge.inputs.wordnet import WordNet

# Random generator for each story and perturbation, independent of all other perturbations.


def rng_of(seed: int, perturbation: str, story: str) -> Random:
    """Random generator, the same for all strengths, so that a higher strength includes a lower one's edits."""
    return Random(int.from_bytes(digest(f"{seed}\x00{perturbation}\x00{story}"), "little"))


# Ids of perturbed stories: `ORIGIN@PERTURBATION.STRENGTH`, and `ORIGIN@none` unchanged. They say how a story was
# changed, so a journal needs no other record of it.

UNTOUCHED = "none"
# The perturbation that leaves no text.
EMPTY = "empty"

_FORM = late(r"(?P<origin>.+)@(?:none|(?P<name>[a-z][a-z0-9-]*)\.(?P<strength>[1-9][0-9]{0,2}))", re.DOTALL)


class PerturbedName(NamedTuple):
    """A parsed id: the original story's, its perturbation (None = unchanged) and strength (0 = unchanged)."""

    origin: str
    perturbation: str | None
    strength: int

    @property
    def done(self) -> str:
        """Name of the perturbation, or "untouched", as printed in a table's row."""
        return self.perturbation or "untouched"


def story_name(origin: str, perturbation: str | None = None, strength: int = 1) -> str:
    """Id of a story after a perturbation, or of the unchanged story (None)."""
    return f"{origin}@{UNTOUCHED}" if perturbation is None else f"{origin}@{perturbation}.{strength}"


def read_name(name: str) -> PerturbedName | None:
    """The parts of `ORIGIN@PERTURBATION.STRENGTH`; None for another form. The original's id may contain "@"."""
    match = _FORM.fullmatch(name)
    if match is None:
        return None
    perturbation = match["name"]
    return PerturbedName(match["origin"], perturbation, int(match["strength"]) if perturbation else 0)


def is_emptied(name: str) -> bool:
    """Whether the perturbation `empty` removed the story's text on purpose."""
    read = read_name(name) if f"@{EMPTY}." in name else None
    return read is not None and read.perturbation == EMPTY


# An edit of a text: a span and its replacement. All text outside of edits stays unchanged.


class Edit(NamedTuple):
    """One change: the characters from `start` up to `end` become `replacement`; an insertion where both are equal."""

    start: int
    end: int
    replacement: str


def in_order(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits sorted by position; insertions at one position stay in the order given."""
    return tuple(sorted(edits, key=itemgetter(0, 1)))


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits, whose positions are of the original. Raises ValueError where two overlap or one is
    outside: an error in the perturbation."""
    parts: list[str] = []
    last = 0
    for edit in in_order(edits):
        if not last <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edit {edit} overlaps another or lies outside a text of {len(text)} characters")
        parts += (text[last : edit.start], edit.replacement)
        last = edit.end
    return "".join([*parts, text[last:]])


# What a good judge does: rates lower; rates the same; is not moved upwards; gives the lowest point.
Test = Literal["discrimination", "invariance", "attack", "degenerate"]

# What making it takes beside the story's text.
Need = Literal["tagger", "wordnet", "other-stories", "rewriter"]


@dataclass(frozen=True, slots=True)
class Facts:
    """Description of a perturbation that holds for all stories.

    `test` says how a good judge rates the changed story: lower (`discrimination`), equally (`invariance`), not higher
    (`attack`), or at the lowest point (`degenerate`). `aims` are criteria (names in lower case) whose ratings should
    fall; empty where none or all should. `strengths` ascend, and the edits of one are among those of the next; (1,)
    without degrees. `needs` is what is required besides the text, such as `tagger`. `source` is the paper or another
    reason."""

    name: str
    test: Test
    about: str
    aims: tuple[str, ...] = ()
    strengths: tuple[int, ...] = (1,)
    needs: tuple[Need, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A tagged word or punctuation mark. `start` and `end` are positions in the text, `pos` and `tag` coarse and fine
    parts of speech. `head` is the syntactic head's index among the tokens, `sentence` a number."""

    start: int
    end: int
    text: str
    lemma: str
    pos: str
    tag: str
    dependency: str
    head: int
    sentence: int


class Words(NamedTuple):
    """A noun or verb of another story: form, lemma, tag, and that story's prompt."""

    text: str
    lemma: str
    tag: str
    story_prompt: str


@dataclass(frozen=True, slots=True)
class Material:
    """The input of a perturbation, except its random generator.

    `tokens` is empty where the perturbation needs no tagger, `wordnet` None where it needs none. `others` are stories
    for other story-prompts, of the same system if possible, always in the same order; `other_words` are nouns and verbs
    of such stories. `paraphrases` maps a sentence of the story (as found by `sentences`) to its paraphrase. `top` is
    the highest point of the scale on which the judge will rate, as text."""

    story: Story
    tokens: Sequence[Token] = ()
    others: Sequence[Story] = ()
    other_words: Sequence[Words] = ()
    wordnet: WordNet | None = None
    paraphrases: Mapping[str, str] = field(default_factory=dict)
    top: str = "5"


@dataclass(frozen=True, slots=True)
class Unfit:
    """Short reason why a perturbation cannot change a story; equal reasons are counted together."""

    reason: str


# The edits of a story's text, or why there are none.
Made = Sequence[Edit] | Unfit


class Change(Protocol):
    """A function that makes one perturbation of one story."""

    def __call__(self, material: Material, strength: int, rng: Random) -> Made:
        """The edits that make the perturbation, or the reason why there are none. With the same state of `rng`, a
        higher strength gives a lower one's edits and, as far as possible, more."""


# The number of edits at each strength of a perturbation, and the random choice of edits.

_T = TypeVar("_T")


def count(strength: int, share: float, size: int) -> int:
    """Number of places to edit: at strength 1, `share` of all `size` places, rounded, at least one; at s, s times as
    many."""
    return strength * max(1, round(share * size))


def first(candidates: Sequence[_T], number: int, rng: Random) -> list[_T]:
    """`number` candidates in random order; with the same `rng`, a higher number gives these and further ones."""
    order = list(candidates)
    rng.shuffle(order)
    return order[:number]


def some_of(groups: Sequence[Sequence[Edit]], strength: int, share: float, size: int, rng: Random) -> list[Edit]:
    """Edits of random groups (one change each), as many as `count` says."""
    return [edit for group in first(groups, count(strength, share, size), rng) for edit in group]


def apart(groups: Sequence[Sequence[Edit]], number: int, rng: Random) -> list[Edit]:
    """Edits of at most `number` groups (one change each), in random order, without groups whose edits touch an earlier
    one's."""
    chosen: list[Edit] = []
    taken = 0
    for group in first(groups, len(groups), rng):
        if taken == number:
            break
        if not any((edit.start <= other.end and other.start <= edit.end) for edit in group for other in chosen):
            chosen += group
            taken += 1
    return chosen


# Maps the name of a perturbation to its function, which is imported at its first use.

# Name -> module:function. Names of the catalogue that are not here cannot be made yet.
MADE: dict[str, str] = {
    "lexical-repetition": "judge.inputs.perturbations.sentence_changes:repetitions",
    "negation": "judge.inputs.perturbations.clause_changes:negations",
    "sentence-shuffle": "judge.inputs.perturbations.sentence_changes:sentence_shuffle",
    "antonym": "judge.inputs.perturbations.word_replacement:antonyms",
    "character": "judge.inputs.perturbations.character:persons_exchanged",
    "causal": "judge.inputs.perturbations.clause_changes:causes_exchanged",
    "temporal": "judge.inputs.perturbations.clause_changes:events_exchanged",
    "common-sense": "judge.inputs.perturbations.word_replacement:sister_terms",
    "unrelated-words": "judge.inputs.perturbations.word_replacement:unrelated_words",
    "unrelated-sentence": "judge.inputs.perturbations.sentence_changes:unrelated_sentences",
    "synonyms": "judge.inputs.perturbations.word_replacement:usual_synonyms",
    "punctuation": "judge.inputs.perturbations.form_changes:fewer_commas",
    "contractions": "judge.inputs.perturbations.form_changes:contractions",
    "typos": "judge.inputs.perturbations.form_changes:typos",
    "semantic-repetition": "judge.inputs.perturbations.sentence_changes:paraphrases_after",
    "word-shuffle": "judge.inputs.perturbations.sentence_changes:word_shuffle",
    "truncate-end": "judge.inputs.perturbations.sentence_changes:truncate_end",
    "truncate-half": "judge.inputs.perturbations.sentence_changes:truncate_half",
    "wrong-story": "judge.inputs.perturbations.sentence_changes:wrong_story",
    "paraphrases": "judge.inputs.perturbations.sentence_changes:paraphrases_instead",
    "markdown": "judge.inputs.perturbations.form_changes:markdown",
    "uppercase": "judge.inputs.perturbations.form_changes:uppercase",
    "inject-plain": "judge.inputs.perturbations.character:inject_plain",
    "inject-fake-rating": "judge.inputs.perturbations.character:inject_fake_rating",
    "inject-role": "judge.inputs.perturbations.character:inject_role",
    "closing-tags": "judge.inputs.perturbations.character:closing_tags",
    "authority": "judge.inputs.perturbations.character:authority",
    "bandwagon": "judge.inputs.perturbations.character:bandwagon",
    "verbosity": "judge.inputs.perturbations.character:verbosity",
    "prompt-as-story": "judge.inputs.perturbations.sentence_changes:prompt_as_story",
    "empty": "judge.inputs.perturbations.sentence_changes:empty",
    "one-token": "judge.inputs.perturbations.sentence_changes:one_token",
}


@cache
def maker(name: str) -> Change:
    """The function that makes the named perturbation. Raises SpecError for an unknown name."""
    if name not in MADE:
        raise SpecError(unknown("perturbation", name, MADE))
    module, _, function = MADE[name].partition(":")
    change: Change = getattr(import_module(module), function)
    return change


# The catalogue of perturbations by name, with the expected reaction of a good judge.

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

# All, in the order in which tables show them.
CATALOGUE: dict[str, Facts] = {facts.name: facts for facts in (*_ASPECTS, *_OURS, *_SAME, *_ATTACKS, *_EMPTY)}


# The facts file beside perturbed stories: how each of them was changed.

# Bytes beyond which a file of facts is not searched while somebody waits.
_MOST = 64 << 20


def facts_path(stories: Path) -> Path:
    return stories.with_suffix(".facts.jsonl")


def edits_of(file: Path, story: str) -> tuple[Edit, ...] | None:
    """The edits of a perturbed story in the facts file; None where it lacks them or cannot be read. The file may be
    untrusted, so the caller must check that the edits turn the original text into the perturbed one."""
    wanted = orjson.dumps(story)
    try:
        if not file.is_file() or file.stat().st_size > _MOST:
            return None
        with file.open("rb") as lines:
            match = next((line for line in lines if wanted in line and orjson.loads(line).get("story") == story), None)
        if match is None:
            return None
        return tuple(Edit(int(start), int(end), str(text)) for start, end, text in orjson.loads(match)["edits"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
