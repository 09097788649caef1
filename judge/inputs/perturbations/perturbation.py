"""The types of a perturbation: its description, its input, and the function that changes one story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple, Protocol

from judge.base.records import Story
from judge.inputs.perturbations.edit import Edit
from judge.inputs.wordnet import WordNet

Test = Literal["discrimination", "invariance", "attack", "degenerate"]
"""What a good judge does: rates lower; rates the same; is not moved upwards; gives the lowest point."""

Need = Literal["tagger", "wordnet", "other-stories", "rewriter"]
"""What making it takes beside the story's text."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Description of a perturbation that holds for all stories.

    `test` says what a good judge does: it rates the changed story lower (`discrimination`), equally (`invariance`), not
    higher (`attack`), or at the lowest point (`degenerate`). `about` describes the change in words. `aims` are the
    criteria (names in lower case) whose ratings should fall; empty where no rating or all ratings should fall.
    `strengths` are in ascending order, and the edits of one strength are among those of the next; (1,) where there are
    no degrees. `needs` names what the change requires besides the story's text, such as `tagger` or `other-stories`.
    `source` is the paper or another reason for the perturbation.
    """

    name: str
    test: Test
    about: str
    aims: tuple[str, ...] = ()
    strengths: tuple[int, ...] = (1,)
    needs: tuple[Need, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A word or punctuation mark as analysed by a tagger. `start` and `end` are positions in the text. `pos` and `tag`
    are coarse and fine parts of speech. `head` is the index of the syntactic head among the tokens, `sentence` the
    number of the sentence.
    """

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
    """A noun or verb of another story: its form in the text, its lemma, its tag, and the story-prompt of that story."""

    text: str
    lemma: str
    tag: str
    story_prompt: str


@dataclass(frozen=True, slots=True)
class Material:
    """The input of a perturbation, except its random generator.

    Attributes
    ----------
    story : Story
        The story to change.
    tokens : sequence of Token
        Tokens of the story; empty where the perturbation needs no tagger.
    others : sequence of Story
        Stories for other story-prompts, of the same system if possible; always in the same order.
    other_words : sequence of Words
        Nouns and verbs of stories for other story-prompts.
    wordnet : WordNet or None
        None where the perturbation does not need WordNet.
    paraphrases : mapping of str
        Sentence of the story (as found by `sentences`) -> its paraphrase.
    top : str
        The highest point of the scale on which the judge will rate, as text.
    """

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


Made = Sequence[Edit] | Unfit
"""The edits of a story's text, or why there are none."""


class Change(Protocol):
    """The protocol of functions that make one perturbation of one story. They return the edits of the story's text."""

    def __call__(self, material: Material, strength: int, rng: Random) -> Made:
        """The edits of the story's text that make the perturbation, or the reason why there are none.

        With the same state of `rng`, a higher strength gives the edits of a lower strength and, as far as possible,
        more.
        """
