"""The types of a measure: its facts, its family, and its values.

A family is what is computed in one go (the 24 scores of ROUGE); its measures are the columns of that. Third parties add
a family by entry point `judge.measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from judge.records import Story

Need = Literal["reference", "story-prompt", "corpus", "wordnet", "lm", "encoder", "sentence-encoder", "seq2seq", "mlm"]
"""Inputs of a measure beside the text; `corpus` are all reference stories of the dataset."""

MODELS: Mapping[Need, str] = {
    "lm": "a causal language model",
    "encoder": "an encoder whose tokens have vectors",
    "sentence-encoder": "a sentence-transformers model",
    "seq2seq": "an encoder-decoder",
    "mlm": "a masked language model",
}
"""Needs that a person names a model for, and what it must be."""

Direction = Literal[1, 0, -1]
"""Whether more is said to be better, worse, or nothing is said."""


class Item(NamedTuple):
    """The input of a measure for one story; its author and people's ratings are withheld on purpose."""

    text: str
    reference: str
    story_prompt: str

    @classmethod
    def of(cls, story: Story) -> Item:
        """The measure's input from a story; missing parts are empty."""
        return cls(story.text, story.reference or "", story.story_prompt)


@dataclass(frozen=True, slots=True)
class Undefined:
    """Absence of a number, with its reason."""

    reason: str


Value = float | Undefined


@dataclass(frozen=True, slots=True)
class Scored:
    """One item's values by the family's keys; `cut` where a model read only the beginning of a text."""

    values: Mapping[str, Value]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """Resources that measures use besides the items.

    `references` are the dataset's distinct reference stories, `models` names a model for a need, `cache` is the folder
    of what can be computed again, `wordnet` that of WordNet's files; `progress(what, done, total)` hears of slow work.
    """

    references: Sequence[str] = ()
    models: Mapping[Need, str] = field(default_factory=dict)
    cache: Path | None = None
    wordnet: Path | None = None
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: a column of values.

    Attributes
    ----------
    key : str
        What the family calls it.
    recipe : str
        How it is computed, precisely enough to do it again.
    as_published : bool
        Whether it repeats what a study released, mistakes included: then a story that is its own reference has the
        value that the formula gives, where it is undefined otherwise.
    """

    name: str
    key: str
    direction: Direction
    recipe: str
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that are computed together.

    Attributes
    ----------
    score : callable
        Values of items, in their order; each has all that `needs` names. Items are distinct.
    distributions : tuple of str
        Packages that must be installed; their versions are part of what is cached.
    extra : str
        The extra of this program that brings them.
    version : int
        Raised where values change.
    identity : callable
        What tells the models apart that were named for its needs, for the cache.
    whole : bool
        Whether an item's values depend on the dataset's other references (so they are cached with them).
    """

    name: str
    source: str
    measures: tuple[Measure, ...]
    score: Callable[[Sequence[Item], Tools], list[Scored]]
    needs: tuple[Need, ...] = ()
    distributions: tuple[str, ...] = ()
    extra: str = "measures"
    version: int = 1
    identity: Callable[[Mapping[Need, str]], str] = field(default=lambda models: ", ".join(models.values()))
    whole: bool = False
