"""The types of automatic measures: families, their measures, and values.

A family computes several measures together (such as the 24 scores of ROUGE). Other packages add a family by the entry
point `judge.lab.measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from judge.base.records import Story

# Inputs of a measure beside the text; `corpus` are all reference stories of the dataset.
Need = Literal["reference", "story-prompt", "corpus", "wordnet", "lm", "encoder", "sentence-encoder", "seq2seq", "mlm"]

# Needs that a person names a model for, and what it must be.
MODELS: Mapping[Need, str] = {
    "lm": "a causal language model",
    "encoder": "an encoder whose tokens have vectors",
    "sentence-encoder": "a sentence-transformers model",
    "seq2seq": "an encoder-decoder",
    "mlm": "a masked language model",
}

# Whether more is said to be better, worse, or nothing is said.
Direction = Literal[1, 0, -1]


class Item(NamedTuple):
    """The input of a measure for one story: its text, reference story and story-prompt. The system that wrote the story
    and human ratings are withheld on purpose.
    """

    text: str
    reference: str
    story_prompt: str

    @classmethod
    def of(cls, story: Story) -> Item:
        """The measure's input taken from a story; a missing reference or story-prompt becomes ""."""
        return cls(story.text, story.reference or "", story.story_prompt)


@dataclass(frozen=True, slots=True)
class Undefined:
    """Stands in place of a number that is undefined; `reason` says why."""

    reason: str


Value = float | Undefined


@dataclass(frozen=True, slots=True)
class Scored:
    """Values of one story: key of each measure in its family -> value. `cut` = a model read only the beginning of one
    of the texts.
    """

    values: Mapping[str, Value]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """Resources that measures use besides the texts of each story.

    `references` are the dataset's distinct reference stories. `models` maps a need (such as an encoder) to the name of
    a model. `cache` is the folder for data that can be computed again, `wordnet` the folder of WordNet's files.
    `progress(what, done, total)` is called during slow work.
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
    name : str
        Name by which users select the measure.
    key : str
        Key of the measure in the family's values.
    direction : Direction
        1: larger values are said to be better. -1: smaller values are. 0: neither.
    recipe : str
        How the measure is computed, precisely enough to reproduce it.
    as_published : bool
        Whether the measure repeats what a study released, mistakes included. If so, a story that is its own
        reference has the value that the formula gives; otherwise the measure is undefined for such a story.
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
    name, source : str
        Name of the family, and the publication or program from which it comes.
    measures : tuple of Measure
        The measures of the family.
    score : callable
        Computes the values of distinct items (the texts of one story each), in their order. Every item has all
        parts that `needs` names.
    needs : tuple of Need
        Inputs besides the story's text, such as a reference story, the story-prompt, WordNet, or a kind of model.
    distributions : tuple of str
        Packages that must be installed. The cache keeps separate values for each of their versions.
    extra : str
        The optional dependency group (extra) of this program that installs these packages.
    version : int
        Raised when the family's values change, so that older cached values are not used.
    identity : callable
        Gives a string that identifies the models used for the needs; part of the cache key.
    whole : bool
        Whether an item's values depend on all references of the dataset, which are then part of the cache key.
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
