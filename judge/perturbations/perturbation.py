"""The types of a perturbation: its facts, its material, and the function that changes one story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Literal, NamedTuple, Protocol

from judge.perturbations.edit import Edit
from judge.records import Story
from judge.wordnet import WordNet

Test = Literal["discrimination", "invariance", "attack", "degenerate"]
"""What a good judge does: rates lower; rates the same; is not moved upwards; gives the lowest point."""

Need = Literal["tagger", "wordnet", "other-stories", "rewriter"]
"""What making it takes beside the story's text."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of a perturbation that hold for all stories.

    `aims` are the criteria (by the names of the shipped ones, in lower case) whose ratings ought to fall; empty where
    none ought to, or all alike. `strengths` go up, and the edits of one are among those of the next; (1,) where there
    is no more or less of it. `source` is the paper or the reason.
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
    """A word or punctuation mark as a tagger sees it, by positions in the text; `head` is an index into the tokens."""

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
    """A noun or verb of another story: its form in the text, its tag, and the story-prompt of that story."""

    text: str
    lemma: str
    tag: str
    story_prompt: str


@dataclass(frozen=True, slots=True)
class Material:
    """The input of a perturbation, except its random generator.

    Attributes
    ----------
    tokens : sequence of Token
        The story's; empty where the perturbation needs no tagger.
    others : sequence of Story
        Stories for other story-prompts, of the same system where there are some; in an order that never changes.
    other_words : sequence of Words
        Nouns and verbs of stories for other story-prompts.
    wordnet : WordNet or None
        Where the perturbation needs it.
    paraphrases : mapping of str
        Other words for sentences of the story, each as `sentences` finds it in the text.
    top : str
        How the highest point of the scale is written that the judge will be asked for.
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
    """The protocol of functions that make one perturbation of one story."""

    def __call__(self, material: Material, strength: int, rng: Random) -> Made:
        """The edits of the story's text.

        The same `rng` state with a higher strength gives the same edits and, as far as there is room, more.
        """
